"""The prompt: what the model reads, in which order, within which budget. Pure.

The layout is chosen for the KV cache: [system][history, append-only][newest user turn: passages, question]. Nothing
before the newest turn changes between two questions of a conversation, so a follow-up only pays for its own words.
A passage is the same text in every prompt, whatever its place among the others, and is marked as a block, so that it
can be read before anyone asks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from appliance.api.schema import ContextBudget, Passage
from appliance.engine.pieces import block, pieces, unmarked
from appliance.engine.request import Message
from appliance.text.guard import LABEL, LABEL_LETTERS, neutralise, neutralise_name
from appliance.text.language import ENGLISH, Language

# Short, since every model reads it and the smallest loses the thread of a long one. What to do with this question
# stands behind it, next to where the answer begins: there a small model still knows it.
SYSTEM = (
    "You answer questions from passages of the user's own documents. Use only what the passages say, with their exact "
    "names and figures."
)
TURN_OVERHEAD = 16  # tokens that a chat template adds to one message, generously: ChatML needs 5
HEAD = "Passages:\n"  # what a turn that holds passages begins with
_HISTORY_SHARE = 0.5  # of what system, question and answer leave over
_LABELLED = re.compile(rf"\[({LABEL})\]")


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier question and answer, exactly as the model saw and wrote them, so that its KV cells are found again.

    Attributes:
        question: as it was asked; what is left of `sent` where there is no room for its passages.
    """

    sent: str
    raw_answer: str
    question: str = ""

    @property
    def folded(self) -> PastTurn:
        """The turn without its passages."""
        return PastTurn(_asked(self.question) if self.question else self.sent, self.raw_answer)


@dataclass(frozen=True, slots=True)
class Newest:
    """The turn to be answered.

    Attributes:
        question: its end, by `render_question`.
        passages: best first.
        left_out: what was left out before, in plain words.
        best_last: the best passage stands next to the question. Where passages were computed apart, the nearest ones
            draw too much attention: with the best one first the 1.5 B lost 9 answers of 150, so only 5 (2026-11-30).
    """

    question: str
    passages: Sequence[Passage] = ()
    left_out: Sequence[str] = ()
    best_last: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that fits, and the account of it.

    Attributes:
        sent: the newest user turn as sent, to be kept for later turns.
        passages: the passages that are in it.
        labels: what the model may mark a passage with → its number; 0: an earlier turn's, or more than one's.
    """

    messages: tuple[Message, ...]
    sent: str
    passages: tuple[Passage, ...]
    labels: dict[str, int]
    budget: ContextBudget


@dataclass(frozen=True, slots=True)
class Counted:
    """Token counts of the pieces, by the model's own tokenizer; lists are parallel to the pieces.

    Attributes:
        folded: of the earlier turns without their passages.
    """

    system: int
    question: int
    passages: Sequence[int]
    history: Sequence[int]
    folded: Sequence[int]


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens of the context window, and those of them that the answer may take."""

    n_ctx: int
    max_answer: int


def label(passage: Passage) -> str:
    """Return three letters that name a passage in every prompt, by its text and version.

    Numbers would not do: they are its place among others.
    """
    return _label(passage.version, neutralise(passage.text))


def _label(version: str, text: str) -> str:
    rest = int.from_bytes(blake2b(f"{version}\n{text}".encode(), digest_size=8).digest())
    letters = ""
    for _ in range(3):
        rest, at = divmod(rest, len(LABEL_LETTERS))
        letters += LABEL_LETTERS[at]
    return letters


def render_passage(passage: Passage) -> str:
    """Return a passage as the model reads it, with what sets it off from the next.

    It is the same in every prompt; its text cannot pass for a delimiter or another passage.
    """
    place = f"{passage.path}, {passage.locator}" if passage.locator else passage.path
    text = neutralise(passage.text)
    return f"[{_label(passage.version, text)}] {neutralise_name(place)}\n{text}\n\n"


def passage_block(passage: Passage) -> str:
    """Return a passage as it stands in a turn: as a block of its document's version, as plain text without one.

    Args:
        passage: as `defused` returns it, so that it is the same whoever makes the block.
    """
    return _block(passage, render_passage(passage))


def _block(passage: Passage, rendered: str) -> str:
    return block(passage.version[:32], rendered) if passage.version else rendered


def render_question(question: str, *, language: Language = ENGLISH, may_refuse: bool = True) -> str:
    """Return the end of the user turn: the question, and what its answer should look like.

    Args:
        may_refuse: whether the model is offered to say that the passages do not say it. Where the evidence is clear it
            is not: small models take the offer in one of seven questions that the passages answer.
    """
    wanted = "Answer in one short, complete sentence" + (
        "." if language is ENGLISH else f", in {language.name}."
    )
    if may_refuse:
        wanted += f" If the passages do not say it, reply only: {language.does_not_say}"
    return f"{_asked(question)}\n{wanted}"


def _asked(question: str) -> str:
    return f"Question: {unmarked(question)}"


def render_turn(turn: PastTurn) -> str:
    """Return an earlier turn as one text, for counting."""
    return f"{turn.sent}\n{turn.raw_answer}"


def build(newest: Newest, history: Sequence[PastTurn], counted: Counted, room: Room) -> Prompt:
    """Put the prompt together within the context; what does not fit is left out whole and named.

    Earlier turns lose their passages first, the oldest before the others, then go altogether; of the newest turn's
    passages the last go first.

    Args:
        history: oldest turn first.
    Returns:
        A prompt; when not even the question fits, it holds only system and question, and the engine refuses it with
        the numbers.
    """
    left = room.n_ctx - room.max_answer - counted.system - counted.question - 2 * TURN_OVERHEAD
    fit = _fit_history(counted.history, counted.folded, int(left * _HISTORY_SHARE))
    n_kept, n_passages = _fit_first(counted.passages, left - fit.n_tokens)
    kept = newest.passages[:n_kept]
    gone = [f"passage {p.number}, {p.path}, {p.locator}" for p in newest.passages[n_kept:]]
    rendered = [render_passage(p) for p in kept]
    blocks = list(map(_block, kept, rendered))
    sent = HEAD + "".join(reversed(blocks) if newest.best_last else blocks) + newest.question
    messages = [Message("system", SYSTEM)]
    turns = fit.turns(history)
    for turn in turns:
        messages += [Message("user", turn.sent), Message("assistant", unmarked(turn.raw_answer))]
    budget = ContextBudget(
        n_ctx=room.n_ctx, n_system=counted.system, n_history=fit.n_tokens, n_passages=n_passages,
        n_question=counted.question, max_answer=room.max_answer,
        left_out=[*newest.left_out, *gone, *fit.left_out(len(history))],
    )  # fmt: skip
    numbers = [(text[1:4], p.number) for p, text in zip(kept, rendered, strict=True)]
    labels = _labels(turns, numbers)
    return Prompt((*messages, Message("user", sent)), sent, tuple(kept), labels, budget)


def _labels(turns: Sequence[PastTurn], newest: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return what the model may mark passages with; see `Prompt`."""
    labels = dict.fromkeys((name for turn in turns for name in _labels_of(turn)), 0)
    labels |= dict(newest)
    count = Counter(name for name, _ in newest)
    return {name: number if count[name] < 2 else 0 for name, number in labels.items()}


def _labels_of(turn: PastTurn) -> Iterator[str]:
    for piece in pieces(turn.sent):
        if piece.owner and (labelled := _LABELLED.match(piece.text)):
            yield labelled[1]


def ahead(passages: Sequence[Passage]) -> tuple[Message, ...]:
    """Return a first turn with these passages and no question yet, to be read before anyone asks."""
    # The question's beginning stands behind them since some templates strip what a message ends with.
    sent = HEAD + "".join(map(passage_block, passages)) + _asked("")
    return Message("system", SYSTEM), Message("user", sent)


@dataclass(frozen=True, slots=True)
class _Fit:
    """How many of the newest turns stay whole, how many before them are folded, and their tokens."""

    n_whole: int
    n_folded: int
    n_tokens: int

    def turns(self, history: Sequence[PastTurn]) -> list[PastTurn]:
        n_kept = self.n_whole + self.n_folded
        kept = history[len(history) - n_kept :]
        return [turn.folded for turn in kept[: self.n_folded]] + list(kept[self.n_folded :])

    def left_out(self, n_turns: int) -> list[str]:
        n_gone = n_turns - self.n_whole - self.n_folded
        notes = [earlier_turns(n_gone)] if n_gone else []
        return notes + ([f"passages of {earlier_turns(self.n_folded)}"] if self.n_folded else [])


def earlier_turns(n: int) -> str:
    """Return how many turns, in words."""
    return "1 earlier turn" if n == 1 else f"{n} earlier turns"


def _fit_history(whole: Sequence[int], folded: Sequence[int], room: int) -> _Fit:
    n_whole, n_tokens = _fit_newest(whole, room)
    older = folded[: len(folded) - n_whole]
    n_folded, n_more = _fit_newest(older, room - n_tokens)
    return _Fit(n_whole, n_folded, n_tokens + n_more)


def _fit_newest(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """How many of the newest turns fit, and their tokens."""
    total = 0
    for n, size in enumerate(reversed(sizes)):
        if total + size + 2 * TURN_OVERHEAD > room:
            return n, total
        total += size + 2 * TURN_OVERHEAD
    return len(sizes), total


def _fit_first(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """How many of the best passages fit, and their tokens."""
    total = 0
    for n, size in enumerate(sizes):
        if total + size > room:
            return n, total
        total += size
    return len(sizes), total
