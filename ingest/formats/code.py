"""Source code, settings and YAML: blocks of lines under the definition, section or key that encloses them.

Any language: a definition is told by its keyword or its shape, what it encloses by indentation. Nothing is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ingest.formats.encoding import decode
from ingest.formats.reading import Reading
from ingest.formats.tidy import visible, without_terminal_codes
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind

MAX_LINES = 12  # of one unit, so that a citation of lines stays exact
MIN_LINES = 4  # a longer block may end at an empty line
MAX_LINE = 300  # characters; a longer line (minified, data) defines nothing
MAX_HEADING = 100
TAB = 4

Heading = Callable[[str], str]  # a line → the name of what it opens, or ""

KEYWORD = re.compile(
    r"\b(class|struct|interface|enum|trait|impl|namespace|module|package|protocol|object|record|def|fn|func|function|sub|"
    r"procedure|resource|table|view|trigger)\s+(?:if\s+not\s+exists\s+)?([\w.:$`\"\[\]-]{1,80})",
    re.IGNORECASE,
)
MODIFIERS = frozenset(
    "export default public private protected internal static final abstract sealed async pub pub(crate) unsafe extern"
    " const virtual override inline partial data case open local declare global create or replace temporary temp alter"
    " materialized typedef readonly suspend".split()
)
SIGNATURE = re.compile(r"^\s*(?:[\w<>\[\],:*&~?.]{1,60}\s+){0,6}([\w:~.$-]{1,80})\s*\(")
NO_NAME = frozenset(
    "if for while switch catch return else elif new throw case do with when foreach until and or not".split()
)
COMMENT = ("#", "//", "/*", "*", "--", ";", "'", '"', "%", "@", "<!--")
SECTION = re.compile(r"^\s*\[{1,2}\s*([^\[\]]{1,100}?)\s*\]{1,2}\s*(?:[#;].*)?$")
KEY = re.compile(
    r"""^\s*(?:-\s+)*(["']?[\w.$/ -]{1,80}["']?)\s*:\s*(?:[|>][+-]?\d?|&\S{1,40}|!\S{1,40})?\s*(?:\s#.*)?$"""
)


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read source code in any language."""
    return Reading(units(_text(data, limits)))


def read_config(data: bytes, limits: ParseLimits) -> Reading:
    """Read settings with `[sections]`: INI, TOML, .conf."""
    return Reading(units(_text(data, limits), _section))


def read_yaml(data: bytes, limits: ParseLimits) -> Reading:
    """Read YAML as its lines: what they mean is left to the reader, so no alias or tag can do harm."""
    return Reading(units(_text(data, limits), _key))


def _text(data: bytes, limits: ParseLimits) -> str:
    return visible(without_terminal_codes(decode(data, limits.legacy_encoding)))


def units(text: str, heading: Heading | None = None) -> list[Unit]:
    """Return the lines as units of kind code, indentation kept; `heading` names what a line opens."""
    return list(_units(text.split("\n"), heading or _definition))


def _units(lines: list[str], heading: Heading) -> Iterator[Unit]:
    stack: list[tuple[int, str]] = []  # what encloses the line being read: (indentation, name)
    block: list[str] = []
    path: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        if line.strip():
            opened = heading(line) if len(line) <= MAX_LINE else ""
            n_kept = _n_enclosing(stack, line, opened)
            if block and ((opened and not n_kept) or len(block) >= MAX_LINES):
                n_above = _n_above(block) if opened else 0
                yield from _block(block[: len(block) - n_above], number - 1 - n_above, path)
                block = block[len(block) - n_above :]
            del stack[n_kept:]
            if opened:
                stack.append((_indent(line), opened[:MAX_HEADING]))
            if not block or (opened and not n_kept):
                path = tuple(name for _, name in stack[:6])
        elif len(block) >= MIN_LINES:
            yield from _block(block, number - 1, path)
            block = []
        if block or line.strip():
            block.append(line.rstrip())
    yield from _block(block, len(lines), path)


def _n_above(block: list[str]) -> int:
    """Count the decorators and comments right above a definition: they belong to it."""
    n = 0
    while n < len(block) and block[-1 - n].lstrip().startswith(COMMENT):
        n += 1
    return n


def _block(block: list[str], last: int, path: tuple[str, ...]) -> Iterator[Unit]:
    first = last - len(block) + 1
    while block and not block[-1]:
        block.pop()
    if block:
        span = (first, first + len(block) - 1)
        yield Unit("\n".join(block), Locator(heading=path, lines=span), UnitKind.CODE)


def _n_enclosing(stack: list[tuple[int, str]], line: str, opened: str) -> int:
    """Count what still encloses a line: all that is indented less; a lone bracket closes, and belongs to, its block."""
    closing = not opened and line.strip()[0] in ")}]"
    indent = _indent(line)
    return sum(1 for at, _ in stack if at < indent or (at == indent and (closing or line.strip() == "{")))


def _indent(line: str) -> int:
    wide = line.expandtabs(TAB)
    return len(wide) - len(wide.lstrip())


def _definition(line: str) -> str:
    start = line.lstrip()
    if start.startswith(COMMENT):
        return ""
    found = KEYWORD.search(line)
    if found and MODIFIERS.issuperset(line[: found.start()].lower().split()):
        return f"{found[1].lower()} {found[2].strip(':')}"
    if not line.rstrip().endswith("{") or ";" in line or "=" in line:
        return ""
    shaped = SIGNATURE.match(line)
    return shaped[1] if shaped and not NO_NAME.intersection(start.replace("(", " ").split()[:3]) else ""


def _section(line: str) -> str:
    found = SECTION.match(line)
    return found[1] if found else ""


def _key(line: str) -> str:
    found = KEY.match(line)
    return found[1].strip("\"' ") if found else ""
