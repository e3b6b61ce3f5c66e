"""The answer's text as it grows: bytes of tokens in, whole characters out, stop strings kept back."""

from __future__ import annotations

import codecs
from collections.abc import Sequence


class TextStream:
    """Turns tokens' bytes into text that may be shown.

    Characters cut by a token's border wait for their rest; text that may become a stop string waits until it
    cannot. Nothing of a stop string, nor anything after it, ever comes out.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = [text for text in stop if text]
        self._held = ""
        self.text = ""
        self.stopped = False

    @property
    def n_read(self) -> int:
        """Characters read so far, those held back included."""
        return len(self.text) + len(self._held)

    def push(self, piece: bytes) -> str:
        """Take a token's bytes; return the text that is safe to show now."""
        return self._take(self._decoder.decode(piece))

    def finish(self) -> str:
        """Return what was held back; half a character comes out as U+FFFD."""
        last = self._take(self._decoder.decode(b"", final=True))
        if self.stopped:
            return last
        return last + self._show(len(self._held))

    def _take(self, new: str) -> str:
        if self.stopped:
            return ""
        self._held += new
        found = [at for stop in self._stop if (at := self._held.find(stop)) >= 0]
        if found:
            self.stopped = True
            return self._show(min(found))
        return self._show(len(self._held) - self._n_doubtful())

    def _n_doubtful(self) -> int:
        """Return the length of the longest end of the held text that begins a stop string."""
        longest = max(map(len, self._stop), default=1) - 1
        for n in range(min(longest, len(self._held)), 0, -1):
            end = self._held[-n:]
            if any(stop.startswith(end) for stop in self._stop):
                return n
        return 0

    def _show(self, n: int) -> str:
        shown, self._held = self._held[:n], self._held[n:]
        self.text += shown
        return shown
