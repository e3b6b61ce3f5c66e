"""The headings above the place being read: a stack that every format with headings keeps."""

from __future__ import annotations

MAX_DEPTH = 9
MAX_CHARS = 200  # of one heading in a path; longer "headings" are styled paragraphs


class Headings:
    """The path of headings; entering one of level n leaves all of level n and deeper."""

    def __init__(self) -> None:
        self._stack: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Put a heading below those of a smaller level; levels count from 1 and may skip."""
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        if len(self._stack) < MAX_DEPTH:
            self._stack.append((level, title[:MAX_CHARS]))

    @property
    def path(self) -> tuple[str, ...]:
        """The headings in force, outermost first."""
        return tuple(title for _, title in self._stack)
