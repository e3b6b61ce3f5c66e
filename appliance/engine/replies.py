"""Remembers which tokens our recent answers were made of.

Text tokenised again need not give the tokens the model chose; a follow-up that carries an answer back would
then miss the KV cache from the first difference on, and pay for the whole answer again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

MAX_REPLIES = 256  # conversations that are likely still going on


class Replies:
    """Answers by their text, the least recently used forgotten first. Any thread may use it."""

    def __init__(self, max_replies: int = MAX_REPLIES) -> None:
        self._max = max_replies
        self._tokens: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._lock = Lock()

    def remember(self, text: str, tokens: Sequence[int]) -> None:
        """Keep an answer."""
        with self._lock:
            self._tokens[text] = tuple(tokens)
            self._tokens.move_to_end(text)
            if len(self._tokens) > self._max:
                self._tokens.popitem(last=False)

    def tokens(self, text: str) -> Sequence[int] | None:
        """Return the tokens of an answer of exactly this text."""
        with self._lock:
            if text in self._tokens:
                self._tokens.move_to_end(text)
            return self._tokens.get(text)
