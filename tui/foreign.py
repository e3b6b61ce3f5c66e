"""Text from elsewhere (questions, file names, passages, answers) made safe to put on a terminal.

Content markup is a separate danger, met where widgets are made: foreign text only ever goes into `Content`,
`rich.text.Text` or a widget with `markup=False`.
"""

from __future__ import annotations

# Pictures of the C0 controls, so that an escape sequence is seen instead of obeyed (Unicode block 2400).
_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
_SPACES = dict.fromkeys((0x09, 0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x85, 0x2028, 0x2029), 0x20)
# C1 controls, and marks that reorder what stands beside them (CVE-2021-42574).
_REPLACED = dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_TABLE = _PICTURES | _REPLACED | _SURROGATES | _SPACES | {0x0A: 0x0A}


def readable(text: str) -> str:
    """Return `text` without anything a terminal would act on; same length, so that offsets stay right."""
    return text.translate(_TABLE)


def one_line(text: str) -> str:
    """Return `text` on one line, runs of white space joined."""
    return " ".join(readable(text).split())
