"""What keeps answers honest: text from documents stays data, and weak evidence is not turned into an answer. Pure."""

from __future__ import annotations

import re
import unicodedata

from appliance.api.schema import Passage
from appliance.engine.pieces import unmarked
from appliance.text import refusals
from appliance.text.instructions import TEMPLATE, instructions
from appliance.text.language import ENGLISH

DOES_NOT_SAY = ENGLISH.does_not_say

# What names a passage in a prompt: letters that no word is made of. Numbers did before, and small
# models still write them.
LABEL_LETTERS = "bcdfghjkmnpqrstvwxz"
LABEL = f"[{LABEL_LETTERS}]{{3}}"
_NAME = rf"(?:\d{{1,2}}|(?-i:{LABEL}))"
NAMES = rf"\[({_NAME}(?:\s*,\s*{_NAME})*)\]"  # a citation's mark

# The engine never obeys these inside content (it tokenises content without special tokens); breaking them keeps a
# small model from imitating them as well.
_BROKEN = str.maketrans("<>[]", "‹›()")
# A line of a document that looks like a part of our own prompt, or like a turn of a chat.
_OURS = re.compile(
    rf"^(\s*)(\[{_NAME}\]|"
    r"#{2,3} ?(?:System|User|Assistant|Human|Instructions?|Response|Input)\b|"
    r"(?:Question|Passages|System|User|Assistant|Human|Answer):)",
    re.MULTILINE | re.IGNORECASE,
)
# Marks of citations inside a text: only ours may look like ours.
_MARK = re.compile(rf"(?<![\w']){NAMES}")
# What no reader sees: joiners, marks that reorder letters, and the letters of Unicode tags.
_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((\w+:[^()\s]*)(?:\s[^()]*)?\)")
_WORD_GAPS = re.compile(r"[_\-+.]+")  # how file names write a space
_NAMELESS = "document"


def neutralise(text: str) -> str:
    """Return document text as the model may read it.

    It cannot end its passage, open another, or pass for a turn of the chat; holds nothing that its readers do not see;
    sentences that address the machine are left out, and pictures and links are no longer live.
    """
    return _plain(_without_instructions(text))


def neutralise_name(name: str) -> str:
    """Return a path or place as the model may read it; one that gives orders is left out whole."""
    if instructions(_seen(name)) or instructions(_WORD_GAPS.sub(" ", _seen(name))):
        return _NAMELESS
    return " ".join(_plain(name).split())


def defused(passage: Passage) -> Passage:
    """Return a passage whose text is what the model may read of it."""
    text = neutralise(passage.text)
    if text == passage.text:
        return passage
    sentence = passage.text[slice(*passage.best)] if passage.best else ""
    at = text.find(sentence) if sentence else -1
    return passage.model_copy(update={"text": text, "best": (at, at + len(sentence)) if at >= 0 else None})


def left_out_note(passage: Passage) -> str:
    """Say in plain words what the model does not read of a passage because it addresses the machine; empty: nothing."""
    n = len(instructions(_seen(passage.text)))
    orders = "1 instruction" if n == 1 else f"{n} instructions"
    return f"{orders} to the machine in passage {passage.number}, {passage.path}" if n else ""


def says_nothing(answer: str) -> bool:
    """Tell whether the model answered that the documents do not say, in its own words or ours."""
    return refusals.says_nothing(answer)


def _seen(text: str) -> str:
    text = unmarked(text)
    return text if text.isascii() else _UNSEEN.sub("", unicodedata.normalize("NFC", text))


def _without_instructions(text: str) -> str:
    seen = _COMMENT.sub(" ", _seen(text)) if "<!--" in text else _seen(text)
    spans = instructions(seen)
    if not spans:
        return seen
    # Nothing stands in their place: a small model would repeat it.
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(seen)]
    kept = "".join(seen[end:start] for end, start in zip(ends, starts, strict=True))
    return re.sub(r"\n{3,}", "\n\n", kept).strip()


def _plain(text: str) -> str:
    text = _PICTURE.sub(r"\1", _seen(text))
    text = _LINK.sub(r"\1 (\2)", text)
    text = TEMPLATE.sub(lambda match: match.group().translate(_BROKEN), text)
    text = _OURS.sub(lambda match: f"{match.group(1)}'{match.group(2)}", text)
    return _MARK.sub(r"(\1)", text)
