"""From what was found to a prompt that fits and is read in time: counts with the model's tokenizer, shortens, builds.

A slow box is given fewer tokens to read, not fewer passages: each keeps the sentences nearest to the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from appliance.answer import prompt
from appliance.answer.prompt import Counted, Newest, PastTurn, Prompt, Room
from appliance.answer.trim import allot, shorten
from appliance.api.schema import Passage
from appliance.engine.request import Done, EngineStatus, Reuse
from appliance.text.guard import defused, left_out_note
from appliance.text.language import detect
from appliance.text.words import Words

_MIN_LEARNED = 64  # tokens read, for a rate that means something
MIN_PASSAGE_TOKENS = 250  # that all passages together keep, however slow the box: a paragraph or two


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt is made from.

    Attributes:
        history: oldest turn first.
        may_refuse: see `appliance.answer.prompt.render_question`.
        left_out: what was left out before, in plain words.
        reuse: of passages' cells; None: as the engine is set.
    """

    question: str
    passages: Sequence[Passage]
    history: Sequence[PastTurn]
    max_answer: int
    may_refuse: bool
    left_out: Sequence[str] = ()
    reuse: Reuse | None = None


class TokenCounter(Protocol):
    """What a prompter asks of an engine; see `appliance.engine.interface.Engine`."""

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""

    def status(self) -> EngineStatus:
        """Say where the engine stands."""


class Prompter:
    """Makes prompts for one engine.

    Args:
        ttft_target_s: seconds within which passages and question should be read; 0: any time.
    """

    def __init__(self, engine: TokenCounter, words: Words, ttft_target_s: float) -> None:
        self._engine = engine
        self._words = words
        self._ttft_target_s = ttft_target_s
        self._tokens_per_s = 0.0

    def learn(self, done: Done) -> None:
        """Take how fast the last prompt was read; one that was mostly in the KV cache tells nothing."""
        if done.n_prompt - done.n_reused >= _MIN_LEARNED:
            self._tokens_per_s = done.prefill_tps

    async def build(self, asked: Asked) -> Prompt:
        """Return the prompt of a question; what was shortened or left out stands in its budget.

        Raises:
            EngineError: the model cannot be asked.
        """
        question = prompt.render_question(
            asked.question, language=detect(asked.question), may_refuse=asked.may_refuse
        )
        orders = [note for note in map(left_out_note, asked.passages) if note]
        asked = replace(asked, passages=[defused(passage) for passage in asked.passages])
        counted = await self._count(question, asked)
        passages, notes = self._shortened(asked, counted)
        if notes:
            sizes = await self._engine.count_tokens([prompt.render_passage(p) for p in passages])
            counted = replace(counted, passages=sizes)
        left_out = (*asked.left_out, *orders, *notes)
        newest = Newest(question, passages, left_out, best_last=self._joins(asked))
        room = Room(self._engine.status().n_ctx, asked.max_answer)
        return prompt.build(newest, asked.history, counted, room)

    async def _count(self, question: str, asked: Asked) -> Counted:
        groups = (
            [prompt.SYSTEM, question],
            [prompt.render_passage(passage) for passage in asked.passages],
            [prompt.render_turn(turn) for turn in asked.history],
            [prompt.render_turn(turn.folded) for turn in asked.history],
        )
        counts = iter(await self._engine.count_tokens([text for group in groups for text in group]))
        (system, newest), passages, history, folded = ([next(counts) for _ in group] for group in groups)
        return Counted(system, newest, passages, history, folded)

    def _shortened(self, asked: Asked, counted: Counted) -> tuple[Sequence[Passage], list[str]]:
        if self._joins(asked):
            return asked.passages, []  # their cells are joined; a part of one would have to be read
        room = self._readable_in_time() - counted.question
        if sum(counted.passages) <= max(room, MIN_PASSAGE_TOKENS):
            return asked.passages, []
        words = self._words.of(asked.question)
        wanted = set(words.content(asked.question))
        given = allot(counted.passages, max(room, MIN_PASSAGE_TOKENS))
        passages = [
            shorten(passage, size, tokens, wanted, words)
            for passage, size, tokens in zip(asked.passages, counted.passages, given, strict=True)
        ]
        n_short = sum(new.text != old.text for new, old in zip(passages, asked.passages, strict=True))
        what = "1 passage" if n_short == 1 else f"{n_short} passages"
        return passages, [f"sentences of {what}, to be read within {self._ttft_target_s:g} s"]

    def _joins(self, asked: Asked) -> bool:
        """Whether passages' cells are joined."""
        return (asked.reuse or self._engine.status().reuse).joins

    def _readable_in_time(self) -> int:
        """Tokens that the model reads within the target, going by the last answer; unlimited until there was one."""
        if not self._ttft_target_s or not self._tokens_per_s:
            return 2**31
        return int(self._ttft_target_s * self._tokens_per_s)
