"""The prompt: what the model reads, in which order, within which budget. Pure.

The layout is chosen for the KV cache: [system][history, append-only][newest user turn: passages, question]. Nothing
before the newest turn changes between two questions of a conversation, so a follow-up only pays for its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from appliance.answer.guard import DOES_NOT_SAY, neutralise
from appliance.api.schema import ContextBudget, Passage
from appliance.engine.request import Message

SYSTEM = (
    "You answer questions of staff from the numbered passages of their own documents. Use only what the passages say. "
    "Answer in one or two short, complete sentences, with the exact figures and names, and put the number of the "
    f"passage after each sentence, like [1]. If the passages do not hold the answer, reply only: {DOES_NOT_SAY}"
)
_TURN_OVERHEAD = 16  # tokens that a chat template adds to one message, generously: ChatML needs 5
_HISTORY_SHARE = 0.5  # of what system, question and answer leave over


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier question and answer, exactly as the model saw and wrote them, so that its KV cells are found again."""

    sent: str
    raw_answer: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that fits, and the account of it.

    Attributes:
        sent: the newest user turn as sent, to be kept for later turns.
        passages: the passages that are in it.
    """

    messages: tuple[Message, ...]
    sent: str
    passages: tuple[Passage, ...]
    budget: ContextBudget


@dataclass(frozen=True, slots=True)
class Counted:
    """Token counts of the pieces, by the model's own tokenizer; lists are parallel to the pieces."""

    system: int
    question: int
    passages: Sequence[int]
    history: Sequence[int]


def render_passage(passage: Passage) -> str:
    """Return a passage as the model reads it; its text cannot pass for a delimiter or another passage."""
    place = f"{passage.path}, {passage.locator}" if passage.locator else passage.path
    return f"[{passage.number}] {neutralise(place)}\n{neutralise(passage.text)}\n"


def render_question(question: str) -> str:
    """Return the end of the user turn."""
    return f"Question: {question}"


def render_turn(turn: PastTurn) -> str:
    """Return an earlier turn as one text, for counting."""
    return f"{turn.sent}\n{turn.raw_answer}"


def build(
    question: str,
    passages: Sequence[Passage],
    history: Sequence[PastTurn],
    counted: Counted,
    limits: tuple[int, int],
    left_out: Sequence[str] = (),
) -> Prompt:
    """Put the prompt together within the context; what does not fit is left out whole and named.

    Args:
        passages: best first; the last ones are left out first.
        history: oldest turn first; the oldest are left out first.
        limits: (n_ctx, most tokens of the answer).
        left_out: what was left out before, in plain words.
    Returns:
        A prompt; when not even the question fits, it holds only system and question, and the engine refuses it with
        the numbers.
    """
    n_ctx, max_answer = limits
    room = n_ctx - max_answer - counted.system - counted.question - 2 * _TURN_OVERHEAD
    n_turns, n_history = _fit_newest(counted.history, int(room * _HISTORY_SHARE))
    n_kept, n_passages = _fit_first(counted.passages, room - n_history)
    kept, dropped = passages[:n_kept], passages[n_kept:]
    notes = [*left_out, *(f"passage {p.number}, {p.path}, {p.locator}" for p in dropped)]
    if n_turns < len(history):
        notes.append(f"{len(history) - n_turns} earlier turns of the conversation")
    sent = "Passages:\n" + "\n".join(render_passage(p) for p in kept) + "\n" + render_question(question)
    messages = [Message("system", SYSTEM)]
    for turn in history[len(history) - n_turns :]:
        messages += [Message("user", turn.sent), Message("assistant", turn.raw_answer)]
    budget = ContextBudget(
        n_ctx=n_ctx, n_system=counted.system, n_history=n_history, n_passages=n_passages,
        n_question=counted.question, max_answer=max_answer, left_out=notes,
    )  # fmt: skip
    return Prompt((*messages, Message("user", sent)), sent, tuple(kept), budget)


def _fit_newest(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """How many of the newest turns fit, and their tokens."""
    total = 0
    for n, size in enumerate(reversed(sizes)):
        if total + size + 2 * _TURN_OVERHEAD > room:
            return n, total
        total += size + 2 * _TURN_OVERHEAD
    return len(sizes), total


def _fit_first(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """How many of the best passages fit, and their tokens."""
    total = 0
    for n, size in enumerate(sizes):
        if total + size > room:
            return n, total
        total += size
    return len(sizes), total
