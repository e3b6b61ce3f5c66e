"""Which names in the folder are left out: unfinished files, clutter, and what `.applianceignore` lists say.

Git's syntax, read by us: the library for it turns a line into a backtracking expression, and one line of five
stars met by one long name stopped the whole process for 90 s. Here matching takes time linear in the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import translate

RULES_NAME = ".applianceignore"
MAX_RULES_BYTES = 64 * 1024  # of one list; a longer one is not written by hand

# Names that programs use while a file is not finished, and locks beside open ones.
TEMPORARY = (
    "~$*",
    ".~lock*",
    "*~",
    "*.part",
    "*.partial",
    "*.crdownload",
    "*.download",
    "*.tmp",
    "*.temp",
    "*.swp",
    "*.swx",
)
# Names that desktops and file systems leave in every folder.
CLUTTER = ("thumbs.db", "desktop.ini", "lost+found", "$recycle.bin", "system volume information")
_LEFT_OUT = re.compile("|".join(map(translate, (".*", *CLUTTER, *TEMPORARY))), re.IGNORECASE)


def is_ignored(name: str) -> bool:
    """Tell whether a name is a dotfile's, a temporary or lock file's, or clutter."""
    return _LEFT_OUT.match(name) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a list.

    Attributes:
        keeps: the line begins with "!": what it matches is not left out.
        segments: what each name of a path must match; None is "**", any number of names.
    """

    keeps: bool
    folders_only: bool
    segments: tuple[re.Pattern[str] | None, ...]

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Tell whether the line speaks of this path, given name by name from the list's own folder."""
        if self.folders_only and not is_folder:
            return False
        if len(self.segments) == 2 and self.segments[0] is None and self.segments[1] is not None:
            return self.segments[1].fullmatch(names[-1]) is not None  # a plain name, at any depth
        at = self._skip({0})
        for name in names:
            at = self._skip({after for place in at for after in self._step(place, name)})
        return len(self.segments) in at

    def _step(self, place: int, name: str) -> Iterator[int]:
        if place < len(self.segments):
            segment = self.segments[place]
            if segment is None:
                yield place
            elif segment.fullmatch(name):
                yield place + 1

    def _skip(self, places: set[int]) -> set[int]:
        """Add the places behind each "**", which also stands for no name at all."""
        for place in sorted(places):
            while place < len(self.segments) and self.segments[place] is None:
                place += 1
                places.add(place)
        return places


@dataclass(frozen=True, slots=True)
class Rules:
    """The lists that hold in one folder: its own, and those of the folders above.

    Attributes:
        lists: (how many names of a path stand above the list, its lines), the nearest list first.
    """

    lists: tuple[tuple[int, tuple[Rule, ...]], ...] = ()

    def below(self, folder: str, rules: Sequence[Rule]) -> Rules:
        """Return what holds in a folder with a list of its own; `folder` is relative to the top, "" at it."""
        depth = folder.count("/") + 1 if folder else 0
        return Rules(((depth, tuple(rules)), *self.lists))

    def leave_out(self, path: str, is_folder: bool) -> bool:
        """Tell whether a path, relative to the top, is left out: the nearest list's last line decides."""
        names = path.split("/") if self.lists else []
        for depth, rules in self.lists:
            for rule in reversed(rules):
                if rule.matches(names[depth:], is_folder):
                    return not rule.keeps
        return False


def parse(text: bytes) -> tuple[list[Rule], list[str]]:
    """Return a list's rules, and in plain words which lines are not understood; those are left out."""
    rules, broken = [], []
    if len(text) > MAX_RULES_BYTES:
        return [], [f"it is longer than {MAX_RULES_BYTES // 1024} KB and is not used: shorten it"]
    # As file names are decoded, so that a list may name any of them.
    lines = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            if (rule := _rule(line.removesuffix("\r"))) is not None:
                rules.append(rule)
        except ValueError as error:
            broken.append(f"line {number} is not understood and is not used: {error}")
    return rules, broken


def _rule(line: str) -> Rule | None:
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith("#"):
        return None
    keeps, pattern = pattern.startswith("!"), pattern.removeprefix("!")
    folders_only, pattern = pattern.endswith("/"), pattern.removesuffix("/")
    if not pattern:
        raise ValueError("it names nothing")
    names = pattern.removeprefix("/").split("/")
    if "/" not in pattern:
        names.insert(0, "**")
    if names[-1] == "**":
        names.append("*")  # what is in a folder, not the folder itself
    return Rule(keeps, folders_only, tuple(None if name == "**" else _glob(name) for name in names))


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    escaped = (len(stripped) - len(stripped.rstrip("\\"))) % 2
    return stripped + " " * min(escaped, len(line) - len(stripped))


def _glob(text: str) -> re.Pattern[str]:
    """Compile one name's pattern. Never backtracks: what follows a star is found at its first place, for good."""
    parts, place = [""], 0
    while place < len(text):
        character, place = text[place], place + 1
        if character == "*":
            parts.append("")
        else:
            one, place = _ONE.get(character, _literal)(text, place)
            parts[-1] += one
    first, *rest = parts
    if rest:
        first += "".join(f"(?>.*?{part})" for part in rest[:-1] if part) + ".*" + rest[-1]
    try:
        return re.compile(first, re.DOTALL)
    except re.error as error:
        raise ValueError(f"the range in {text!r} is not one") from error


def _literal(text: str, place: int) -> tuple[str, int]:
    return re.escape(text[place - 1]), place


def _escaped(text: str, place: int) -> tuple[str, int]:
    if place == len(text):
        raise ValueError("a backslash at the end")
    return re.escape(text[place]), place + 1


def _any(text: str, place: int) -> tuple[str, int]:
    return ".", place


def _choice(text: str, place: int) -> tuple[str, int]:
    """Read "[abc]", "[a-z]", "[!a]"; a "]" that comes first is one of the characters."""
    negated = text[place : place + 1] in ("!", "^")
    begin = place + negated
    end = text.find("]", begin + 1)
    if end < 0:
        raise ValueError("[ without its ]")
    body = text[begin:end]
    if any(unknown in body for unknown in ("[:", "\\", "--")):
        raise ValueError("in [ ] only characters and ranges such as a-z are known")
    escaped = "".join(c if c.isalnum() or (c == "-" and 0 < i < len(body) - 1) else re.escape(c)
                      for i, c in enumerate(body))  # fmt: skip
    return f"[{'^' * negated}{escaped}]", end + 1


_ONE: dict[str, Callable[[str, int], tuple[str, int]]] = {"?": _any, "[": _choice, "\\": _escaped}
