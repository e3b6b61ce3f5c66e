"""Which sentences of a document address the machine that reads it, to be kept from it. Pure.

People see them, with a warning; the model does not, so that there is nothing to follow. The rules are those of
`ingest.flags`. A sentence that no rule knows is read: what it can do is get a false sentence into an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from appliance.text.words import sentence_spans
from ingest.flags import is_instruction_like

_N_JOINED = 4  # pieces that one instruction may be cut into by line ends
_MAX_GAP = 3  # characters between cells, at most
_MIN_QUOTED = 12  # characters that an instruction leaves of a sentence, to be worth showing
_N_TOUCHED = 3  # pieces beside an instruction that may belong to it

# Delimiters of chat templates in use: ChatML, Llama, Gemma, Mistral, Phi, and those of tools.
TEMPLATE = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|<\|?/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|tool_call|tool_response|system)\|?>|"
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|<</?SYS>>",
    re.IGNORECASE,
)
_CUT = re.compile(rf"{TEMPLATE.pattern}|\s\|\s|;\s", re.IGNORECASE)
_OPENS = re.compile(
    r"<\|(?!end\||end_?of|eot|im_end)|<start|<(?:tool_call|system|think)>|\[/?INST\]|\[SYSTEM|<<SYS|<s>",
    re.IGNORECASE,
)  # what follows is a turn
# What goes on with an order. By itself it is none to a machine: manuals are full of it.
_GOES_ON = re.compile(
    r"^\W*(?:please |then |and |now |instead,? |just |simply |only |always |never |important:? )*"
    r"(?:say|repl(?:y|ies)|respond|answers?|write|print|output|tell|include|add|append|begin|start|end|finish|repeat|"
    r"pretend|do not|don['’]t|send|click|visit|run|execute|delete|reveal|show|mention|confirm|obey|follow|act|speak|"
    r"it is|the (?:answer|code|word|password|reply|response)|your|you|this (?:overrides|replaces|is an order)|"
    r"antworte|sag|schreib|gib|du|sie müssen|deine?|réponds|répondez|dis|écris|tu|vous|responde|contesta|di|escribe|su|"
    r"ответь|отвечай|напиши|скажи)\b|^\W*[请只仅回答输出]",
    re.IGNORECASE,
)
# A line that ends in the middle of an order: the next one belongs to it.
_HANGS = re.compile(
    r"\b(?:say|with|words?|the|a|an|and|or|only|to|is|of|that|by|reply|answer|respond|mit|dem|wort|und|nur|mot|par|le|la|et|"
    r"palabra|con|y|el)[^\w.!?]{0,2}$",
    re.IGNORECASE,
)
# The head of a turn of a chat; what follows an empty one is the turn.
_TURN = re.compile(
    r"^\W*(?:user|human|assistant|system|model|bot|ai|instruction|response|answer|question)\s?(?::|\W*$)",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def instructions(text: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) character offsets of what addresses the machine, in order, apart from each other."""
    if not (TEMPLATE.search(text) or is_instruction_like(text)):
        return ()
    pieces = list(_pieces(text))
    marked = _marked(text, pieces)
    if not marked:  # it only shows in the text as a whole
        return ((0, len(text)),)
    texts = [text[slice(*piece)] for piece in pieces]
    for step in (1, -1):
        _spread(texts, marked, step)
    return _joined([pieces[i] for i in sorted(marked)])


def quotable(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those spans of a text, or what is left of them, that hold nothing of an instruction: fit for an answer."""
    held = instructions(text)
    return [free for span in spans for free in _outside(text, span, held)] if held else list(spans)


def _outside(text: str, span: tuple[int, int], held: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What of a span lies outside of `held`, where it is a few words at least."""
    start = span[0]
    for left, right in (*held, (span[1], span[1])):
        end = min(max(left, start), span[1])
        free = text[start:end].strip(" |;\n")
        if start == span[0] and end == span[1]:
            yield span
        elif len(free) >= _MIN_QUOTED:
            at = text.index(free, start)
            yield at, at + len(free)
        start = max(start, min(right, span[1]))
        if start >= span[1]:
            break


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, cut once more at the cells of a row, and at delimiters of chat templates, which are pieces too."""
    for start, end in sentence_spans(text):
        for cut in _CUT.finditer(text, start, end):
            if text[start : cut.start()].strip():
                yield start, cut.start()
            if TEMPLATE.match(cut.group()):
                yield cut.span()
            start = cut.end()
        if text[start:end].strip():
            yield start, end


def _marked(text: str, pieces: Sequence[tuple[int, int]]) -> set[int]:
    """Pieces that are instructions, alone or with as few as possible of those after them."""
    marked = {i for i, piece in enumerate(pieces) if TEMPLATE.match(text[slice(*piece)])}
    for n in range(1, _N_JOINED + 1):
        for first in range(len(pieces) - n + 1):
            window = range(first, first + n)
            if marked.isdisjoint(window) and is_instruction_like(
                text[pieces[first][0] : pieces[window[-1]][1]]
            ):
                marked.update(window)
    return marked


def _spread(texts: Sequence[str], marked: set[int], step: int) -> None:
    """Take in the pieces beside an instruction that go on with it, and the words of a forged turn."""
    for start in sorted(marked):
        for i in range(start + step, start + step * (_N_TOUCHED + 1), step):
            if not 0 <= i < len(texts):
                break
            goes_on = step > 0 and (
                _GOES_ON.match(texts[i]) or _opens_turn(texts[i - 1]) or _hangs(texts[i - 1], texts[i])
            )
            if i not in marked and not goes_on and not _TURN.match(texts[i]):
                break
            marked.add(i)


def _hangs(text: str, following: str) -> bool:
    return following[:1].islower() or _HANGS.search(text) is not None


def _opens_turn(text: str) -> bool:
    if TEMPLATE.match(text):
        return _OPENS.match(text) is not None
    return _TURN.match(text) is not None and text.strip(" :*#").isalpha()


def _joined(pieces: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pieces, those that at most a line end or the rule between cells parts made one."""
    joined: list[tuple[int, int]] = []
    for start, end in pieces:
        if joined and start - joined[-1][1] <= _MAX_GAP:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)
