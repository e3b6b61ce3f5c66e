"""Reads a GBNF grammar before llama.cpp does, and refuses what would break, drown or hang it. Pure.

llama.cpp's own parser tells its reasons to stderr alone, with the whole text. A repetition like {5,2}, groups some
thousand deep, or rules that begin in each other in many ways overflow its memory, its stack or its patience, and
with it the engine of everybody. What passes here is a subset of its grammars: token references are not in it.
Source: llama.cpp, grammars/README.md and src/llama-grammar.cpp.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple, NoReturn

from appliance.errors import SamplingError

MAX_BYTES = 256 * 1024
MAX_RULES = 4000  # groups included
MAX_DEPTH = 64  # of groups: llama.cpp's parser calls itself for each
MAX_REPEAT = 1999  # llama.cpp refuses 2000 and takes more as "any number"
MAX_ELEMENTS = 200_000  # characters and references after its repetitions are written out; 8 bytes each
MAX_BEGINNINGS = 4000  # ways in which one place can go on; it compares each with each

_ESCAPE = r'\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[trn\\"\[\]-])'
_TOKEN = re.compile(
    rf"""(?P<space>[ \t]+|\#[^\r\n]*)
    |(?P<newline>\r\n?|\n)
    |(?P<literal>"(?:{_ESCAPE}|[^"\\])*")
    |(?P<chars>\[(?:{_ESCAPE}|[^\]\\])+\])
    |(?P<define>::=)
    |(?P<name>[A-Za-z0-9-]+)
    |(?P<repeat>[*+?]|\{{[ \t]*\d+[ \t]*(?:,[ \t]*\d*[ \t]*)?\}})
    |(?P<mark>[|().])""",
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass(slots=True)
class _Item:
    """A part of an alternative: `size` characters, or a rule's name; at least `least` and at most `most` times."""

    size: int
    rule: str = ""
    least: int = 1
    most: int | None = 1

    @property
    def n_elements(self) -> int:
        """What llama.cpp makes of it: copies, and a rule for each that may be left out."""
        n_optional = 1 if self.most is None else self.most - self.least
        return self.size * max(self.least, 1) + n_optional * (self.size + 3)


Rules = dict[str, list[list[_Item]]]  # alternatives of each rule; groups are rules with names of their own


def check(text: str) -> None:
    """Refuse a grammar that llama.cpp cannot follow within bounds.

    Raises:
        SamplingError: names the place, or the rule.
    """
    if (n := len(text.encode(errors="surrogatepass"))) > MAX_BYTES:
        raise SamplingError(f"grammar: {n} bytes, {MAX_BYTES} are the most")
    if re.search("[\0\ud800-\udfff]", text):
        raise SamplingError("grammar: it holds a NUL or half a surrogate pair")
    rules = _Reader(text).read()
    if "root" not in rules:
        raise SamplingError("grammar: there is no rule `root`")
    for name, item in _items(rules):
        if item.rule and item.rule not in rules:
            raise SamplingError(f"grammar: {_said(name)} refers to `{item.rule}`, which is not defined")
    if sum(item.n_elements for _, item in _items(rules)) > MAX_ELEMENTS:
        raise SamplingError(f"grammar: written out, its repetitions are more than {MAX_ELEMENTS} characters")
    _Beginnings(rules).check()


class _Reader:
    """Reads tokens into rules, as llama.cpp's parser does: a line break ends a rule, but not within a group."""

    def __init__(self, text: str) -> None:
        self._tokens = [token for token in _tokens(text) if token.kind != "space"]
        self._at = 0
        self._rules: Rules = {}
        self._names = count()

    def read(self) -> Rules:
        self._skip_newlines()
        while self._peek().kind != "end":
            name = self._take("name").text
            self._take("define")
            self._skip_newlines()
            if name in self._rules:
                raise SamplingError(f"grammar: `{name}` is defined twice")
            self._rules[name] = []  # so that rules stand in the order of the text
            self._rules[name] = self._alternatives(name, 0)
            if self._peek().kind != "end":
                self._take("newline")
            self._skip_newlines()
        return self._rules

    def _alternatives(self, name: str, depth: int) -> list[list[_Item]]:
        alternatives = [self._sequence(name, depth)]
        while self._peek().text == "|":
            self._at += 1
            self._skip_newlines()
            alternatives.append(self._sequence(name, depth))
        return alternatives

    def _sequence(self, name: str, depth: int) -> list[_Item]:
        items: list[_Item] = []
        while True:
            if depth:
                self._skip_newlines()
            token = self._peek()
            match token.kind:
                case "literal" | "chars":
                    items.append(_Item(len(token.text) - 2))
                case "name" if self._peek(1).kind != "define":
                    items.append(_Item(1, token.text))
                case "mark" if token.text == ".":
                    items.append(_Item(1))
                case "mark" if token.text == "(":
                    items.append(_Item(1, self._group(name, depth + 1)))
                case "repeat":
                    self._repeat(items, token)
                case _:
                    return items
            self._at += 1

    def _group(self, name: str, depth: int) -> str:
        """Read a group up to its closing mark, which is left; return its rule's name."""
        if depth > MAX_DEPTH:
            raise SamplingError(f"grammar: groups are nested more than {MAX_DEPTH} deep in `{name}`")
        self._at += 1
        self._skip_newlines()
        group = f"{name} {next(self._names)}"
        self._rules[group] = self._alternatives(name, depth)
        if len(self._rules) > MAX_RULES:
            raise SamplingError(f"grammar: more than {MAX_RULES} rules and groups")
        if self._peek().text != ")":
            self._refuse(self._peek(), "`)` is missing")
        return group

    def _repeat(self, items: list[_Item], token: _Token) -> None:
        least, most = _bounds(token.text)
        if not items or items[-1].size == 0:
            self._refuse(token, f"nothing to repeat before {token.text}")
        if (items[-1].least, items[-1].most) != (1, 1):
            # llama.cpp multiplies what it has written out already.
            self._refuse(token, f"{token.text} repeats a repetition: put it in a group")
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            self._refuse(token, f"{token.text}: from m to n times, n not below m, {MAX_REPEAT} the most")
        items[-1].least, items[-1].most = least, most

    def _peek(self, further: int = 0) -> _Token:
        return self._tokens[min(self._at + further, len(self._tokens) - 1)]

    def _take(self, kind: str) -> _Token:
        token = self._peek()
        if token.kind != kind:
            missing = {"define": "`::=` is missing", "name": "a rule's name is missing"}
            self._refuse(token, missing.get(kind, f"the rule should end here, {token.text!r} follows"))
        self._at += 1
        return token

    def _skip_newlines(self) -> None:
        while self._peek().kind == "newline":
            self._at += 1

    @staticmethod
    def _refuse(token: _Token, reason: str) -> NoReturn:
        raise SamplingError(f"grammar, line {token.line}: {reason}")


class _Beginnings:
    """In how many ways each place of the grammar can go on: what llama.cpp unrolls before every character."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._empty = _nullable(rules)
        self._known: dict[str, int] = {}
        self._open: set[str] = set()

    def check(self) -> None:
        """Refuse rules that begin with themselves, and places that go on in too many ways.

        Raises:
            SamplingError: names the rule.
        """
        try:
            for name in self._rules:
                self._of_rule(name)
        except RecursionError:
            raise SamplingError("grammar: rules begin with one another in too long a chain") from None
        for name, alternatives in self._rules.items():
            if max(map(self._most, alternatives)) > MAX_BEGINNINGS or self._known[name] > MAX_BEGINNINGS:
                raise SamplingError(
                    f"grammar: {_said(name)} goes on in more than {MAX_BEGINNINGS} ways at one place"
                )

    def _of_rule(self, name: str) -> int:
        if name in self._open:
            raise SamplingError(f"grammar: {_said(name)} can begin with itself (left recursion)")
        if name not in self._known:
            self._open.add(name)
            self._known[name] = sum(map(self._of_alternative, self._rules[name]))
            self._open.remove(name)
        return self._known[name]

    def _of_alternative(self, items: list[_Item]) -> int:
        ways = 0
        for item in items:
            if item.rule and item.rule in self._empty and item.most is None:
                raise SamplingError(f"grammar: {_said(item.rule)} is repeated without end and may be empty")
            if item.rule:
                self._of_rule(item.rule)
            ways += self._ways(item)
            if not self._may_be_empty(item):
                return ways
        return ways + 1

    def _most(self, items: list[_Item]) -> int:
        """Return the ways of the widest place of an alternative: from its end, while things may be left out."""
        most = ways = 1
        for item in reversed(items):
            ways = self._ways(item) + (ways if self._may_be_empty(item) else 0)
            most = max(most, ways)
        return most

    def _ways(self, item: _Item) -> int:
        copies = (item.most or 1) if item.rule in self._empty else 1
        return self._known[item.rule] * copies if item.rule else 1

    def _may_be_empty(self, item: _Item) -> bool:
        return item.least == 0 or (item.rule in self._empty if item.rule else item.size == 0)


def _nullable(rules: Rules) -> set[str]:
    """Return the rules that may produce nothing: those with an alternative of nothing but such items."""
    needed: dict[
        int, tuple[str, int]
    ] = {}  # alternative → its rule, its items that are not known to be nullable
    users: dict[str, list[int]] = defaultdict(list)
    found: list[str] = []
    for number, (name, items) in enumerate((name, items) for name, all_ in rules.items() for items in all_):
        solid = [item for item in items if item.least and item.size]
        needed[number] = (name, len(solid))
        for item in solid:
            users[item.rule].append(number)
        if not solid:
            found.append(name)
    empty: set[str] = set()
    while found:
        if (name := found.pop()) in empty:
            continue
        empty.add(name)
        for number in users[name]:
            user, n = needed[number]
            needed[number] = (user, n - 1)
            if n == 1:
                found.append(user)
    return empty


def _tokens(text: str) -> Iterator[_Token]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise SamplingError(f"grammar, line {line}: cannot be read from {text[at : at + 20]!r} on")
        yield _Token(str(found.lastgroup), found[0], line)
        line += found[0].count("\n")
        at = found.end()
    yield _Token("end", "the end", line)


def _bounds(text: str) -> tuple[int, int | None]:
    """Return (least, most) of a repetition; most None: any number."""
    if text in "*+?":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[text]
    least, comma, most = (part.strip() for part in text[1:-1].partition(","))
    if len(least) > 9 or len(most) > 9:
        return MAX_REPEAT + 1, None
    return int(least), int(most) if most else None if comma else int(least)


def _items(rules: Rules) -> Iterator[tuple[str, _Item]]:
    for name, alternatives in rules.items():
        for items in alternatives:
            for item in items:
                yield name, item


def _said(name: str) -> str:
    return f"`{name.partition(' ')[0]}`"
