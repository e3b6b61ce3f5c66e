"""Documents with known facts and questions about them, the same on every machine: for sites without questions.

Prose about machines, contracts, wards and ships that are alike, in paragraphs of the length of a passage. No model and
no record: `bench_blocks` reads them as any other folder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from appliance.ops.golden import GoldenQuestion
from appliance.ops.made_facts_texts import (
    DAYS,
    FAMILIES,
    KINDS,
    MONTHS,
    PEOPLE,
    PLACES,
    TRADES,
    Draw,
    Kind,
)

PARAGRAPH_WORDS = (120, 175)  # before the last sentence
_SEED = 7


def write_facts(folder: Path) -> list[GoldenQuestion]:
    """Fill a folder with 24 documents of four paragraphs each; return a question about each paragraph.

    Two questions that follow each other are about different documents.
    """
    random = Random(_SEED)
    draws = _Draws(random)
    found: list[list[GoldenQuestion]] = []
    for kind in KINDS:
        (folder / kind.folder).mkdir(parents=True)
        for name in kind.names:
            document = f"{kind.folder}/{name.lower().replace(' ', '-')}.md"
            text, questions = _document(kind, name, document, random, draws)
            (folder / document).write_text(text, encoding="utf-8")
            found.append(questions)
    return [question for of_each in zip(*found, strict=True) for question in of_each]


class _Draws:
    """Answers: each is drawn once, so that none is right about two things."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._drawn: set[str] = set()

    def of(self, what: Draw) -> str:
        """Return a new answer of a kind."""
        make: Callable[[], str] = getattr(self, f"_{what}")
        while (drawn := make()) in self._drawn:
            pass
        if what not in ("count", "place"):  # there are few of these
            self._drawn.add(drawn)
        return drawn

    def _person(self) -> str:
        return f"{self._random.choice(PEOPLE)} {self._random.choice(FAMILIES)}"

    def _company(self) -> str:
        return f"{self._random.choice(FAMILIES)} {self._random.choice(TRADES)}"

    def _place(self) -> str:
        return self._random.choice(PLACES)

    def _money(self) -> str:
        return f"{self._random.randrange(12, 900)},{self._random.randrange(0, 1000, 50):03} euros"

    def _date(self) -> str:
        day, year = self._random.randrange(1, 29), self._random.randrange(1968, 2019)
        return f"{day} {self._random.choice(MONTHS)} {year}"

    def _weight(self) -> str:
        return f"{self._random.randrange(2, 98)}.{self._random.randrange(1, 10)} tonnes"

    def _hours(self) -> str:
        return f"{self._random.randrange(3, 400)} hours"

    def _count(self) -> str:
        return f"{self._random.choice(('three', 'four', 'five', 'six', 'seven', 'eight', 'nine'))} times"

    def _percent(self) -> str:
        return f"{self._random.randrange(1, 30)}.{self._random.randrange(1, 10)} percent"


def _document(
    kind: Kind, name: str, document: str, random: Random, draws: _Draws
) -> tuple[str, list[GoldenQuestion]]:
    parts, questions = [f"# {kind.title.format(name=name)}"], []
    for number, (heading, facts) in enumerate(kind.sections, 1):
        answers = [draws.of(fact.draw) for fact in facts]
        pairs = zip(facts, answers, strict=True)
        said = [fact.said.format(name=name, answer=answer) for fact, answer in pairs]
        parts += [f"## {heading}", _paragraph(said, kind, random)]
        n = random.randrange(len(facts))
        asked, right = facts[n].asked.format(name=name), _ways_to_say(facts[n].draw, answers[n])
        questions.append(GoldenQuestion(f"{document}-{number}", asked, right, document, said[n]))
    return "\n\n".join(parts) + "\n", questions


def _ways_to_say(what: Draw, answer: str) -> tuple[str, ...]:
    """Return an answer, and its bare figure where that can be said with a sign."""
    return (answer, answer.partition(" ")[0]) if what in ("money", "percent") else (answer,)


def _paragraph(said: list[str], kind: Kind, random: Random) -> str:
    """Return the facts at places of their own among the talk."""
    n_words, talk = random.randint(*PARAGRAPH_WORDS), random.sample(kind.talk, len(kind.talk))
    sentences = list(said)
    while sum(len(sentence.split()) for sentence in sentences) < n_words:
        # By first names only: no full name in the talk is right by chance.
        drawn = {"person": random.choice(PEOPLE), "day": random.choice(DAYS), "n": random.randrange(2, 30)}
        sentences.insert(random.randrange(len(sentences) + 1), talk.pop().format(**drawn))
    return " ".join(sentences)
