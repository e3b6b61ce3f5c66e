"""The first words of an answer, held while they may become a refusal: nothing that was shown is taken back. Pure."""

from __future__ import annotations

import re

from appliance.text.guard import says_nothing
from appliance.text.language import LANGUAGES

_MAX_HELD_WORDS = 14  # "The passages that you gave me do not say anything about …" is told apart by then
_SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")

_UNFINISHED_WORD = re.compile(r"\w+$")

# How small models begin a refusal: what they were given, "there is no …", "I cannot …", an apology.
_SOURCES = (
    r"documents?|passages?|texts?|information|context|answer|question|provided|given|available|exact|specific"
)
_BEGINNINGS = re.compile(
    rf"^(?:the|this|these|none|neither|no|based|according|from)\b(?:\W+(?:\w+\W+){{0,4}}?(?:{_SOURCES})\b|\W*$)"
    r"|^(?:there|it)\b\W+(?:is|are|was|does)\W+(?:no|not)\b|^(?:there|it)(?:\W+(?:is|are|was|does))?\W*$"
    r"|^(?:i|sorry|unfortunately|unknown|not|n/a)\b",
    re.IGNORECASE,
)
_OURS = tuple(" ".join(language.does_not_say.casefold().split()[:2]) for language in LANGUAGES)


def may_refuse(text: str) -> bool:
    """Tell whether an answer that begins so may still turn out to say nothing."""
    start = _UNFINISHED_WORD.sub("", text).strip().casefold()
    if not start:
        return True
    if len(start.split()) > _MAX_HELD_WORDS:
        return says_nothing(start)
    if any(ours.startswith(start) or start.startswith(ours) for ours in _OURS):
        return True
    return bool(_BEGINNINGS.search(start))


class Opening:
    """Holds the beginning of one answer until it is plain that it is no refusal."""

    def __init__(self) -> None:
        self._held = ""
        self._is_open = False

    def feed(self, text: str) -> str:
        """Return what can be shown now."""
        if self._is_open:
            return text
        self._held += text
        ended = _SENTENCE_END.search(self._held.lstrip())
        if may_refuse(self._held) and (not ended or says_nothing(self._held)):
            return ""
        self._is_open, held, self._held = True, self._held, ""
        return held

    def take(self) -> str:
        """Return what is held at the end of the answer: all of it, where the answer is a refusal or very short."""
        held, self._held = self._held, ""
        return held
