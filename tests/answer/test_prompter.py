"""Prompts that fit and are read in time, with an engine that counts a word as a token."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from appliance.answer.prompt import PastTurn, label
from appliance.answer.prompter import MIN_PASSAGE_TOKENS, Asked, Prompter
from appliance.api.schema import Passage
from appliance.engine.request import Done, EngineStatus, Reuse
from appliance.text.words import Words

EXACT, BLOCKS, BLEND = Reuse(), Reuse("blocks"), Reuse("blend", 32)

LONG = " ".join(f"Sentence number {n} speaks of the pump and of nothing else at all." for n in range(60))


class WordCounter:
    """An engine that only counts."""

    def __init__(self, n_ctx: int, reuse: Reuse = EXACT) -> None:
        self._n_ctx = n_ctx
        self._reuse = reuse

    def status(self) -> EngineStatus:
        return EngineStatus("ready", "words", n_ctx=self._n_ctx, reuse=self._reuse)

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def passage(number: int, text: str = LONG) -> Passage:
    best = (text.index("Sentence number 30"), text.index(" Sentence number 31"))
    return Passage(
        number=number, chunk_id=number, document_id=1, path="a.txt", title="", locator="", place={}, text=text,
        best=best, score=1.0,
    )  # fmt: skip


def read_at(tokens_per_s: float, n_prompt: int = 1000, n_reused: int = 0) -> Done:
    return Done("stop", n_prompt, n_reused, 10, 0.1, tokens_per_s, 20.0)


async def sent(
    prompter: Prompter, question: str = "How hot is the pump?", reuse: Reuse | None = None
) -> tuple[str, list[str]]:
    asked = Asked(
        question,
        [passage(1), passage(2)],
        [PastTurn("earlier", "answer")],
        100,
        may_refuse=False,
        reuse=reuse,
    )
    built = await prompter.build(asked)
    return built.sent, built.budget.left_out


async def test_passages_are_whole_until_it_is_known_how_fast_the_box_reads() -> None:
    text, left_out = await sent(Prompter(WordCounter(8192), Words(), ttft_target_s=1.0))
    assert text.count("Sentence number") == 120
    assert left_out == []


async def test_a_slow_box_reads_the_sentences_that_matter_of_each_passage_and_says_so() -> None:
    prompter = Prompter(WordCounter(8192), Words(), ttft_target_s=4.0)
    prompter.learn(read_at(100.0))
    text, left_out = await sent(prompter)
    assert MIN_PASSAGE_TOKENS < len(text.split()) <= 400
    assert text.count("Sentence number 30 ") == 2
    assert left_out == ["sentences of 2 passages, to be read within 4 s"]


@pytest.mark.parametrize(
    ("engines", "asked", "n_sentences"),
    [
        (BLOCKS, None, 120),
        (BLEND, None, 120),
        (EXACT, BLOCKS, 120),
        (BLOCKS, EXACT, None),
        (EXACT, None, None),
    ],
)
async def test_passages_whose_cells_are_joined_stay_whole_however_slow_the_box(
    engines: Reuse, asked: Reuse | None, n_sentences: int | None
) -> None:
    prompter = Prompter(WordCounter(8192, engines), Words(), ttft_target_s=1.0)
    prompter.learn(read_at(5.0))
    text, left_out = await sent(prompter, reuse=asked)
    assert bool(left_out) is (n_sentences is None)
    assert n_sentences in (None, text.count("Sentence number"))


async def test_however_slow_the_box_a_paragraph_or_two_stay() -> None:
    prompter = Prompter(WordCounter(8192), Words(), ttft_target_s=1.0)
    prompter.learn(read_at(5.0))
    assert len((await sent(prompter))[0].split()) > MIN_PASSAGE_TOKENS - 40


async def test_a_prompt_that_was_mostly_in_the_cache_tells_nothing_of_the_speed() -> None:
    prompter = Prompter(WordCounter(8192), Words(), ttft_target_s=1.0)
    prompter.learn(read_at(5.0, n_prompt=1000, n_reused=990))
    assert (await sent(prompter))[1] == []


async def test_no_target_means_whole_passages_and_a_fast_box_reads_them_whole() -> None:
    for ttft_target_s, tokens_per_s in ((0.0, 5.0), (6.0, 400.0)):
        prompter = Prompter(WordCounter(8192), Words(), ttft_target_s)
        prompter.learn(read_at(tokens_per_s))
        assert (await sent(prompter))[1] == []


async def test_the_answer_is_asked_for_in_the_language_of_the_question() -> None:
    text, _ = await sent(Prompter(WordCounter(8192), Words(), 0.0), "Wie heiß läuft die Pumpe im Keller?")
    assert text.endswith("in German.")


@pytest.mark.parametrize(("reuse", "order"), [(EXACT, ["1.txt", "2.txt"]), (BLOCKS, ["2.txt", "1.txt"])])
async def test_the_best_passage_stands_next_to_the_question_where_cells_are_joined(
    reuse: Reuse, order: list[str]
) -> None:
    passages = [passage(n, f"{LONG} {n}").model_copy(update={"path": f"{n}.txt"}) for n in (1, 2)]
    asked = Asked("How hot?", passages, (), 100, may_refuse=False, reuse=reuse)
    built = await Prompter(WordCounter(8192), Words(), ttft_target_s=0).build(asked)
    assert sorted(order, key=built.sent.index) == order
    assert [each.number for each in built.passages] == [1, 2]
    assert [built.labels[label(each)] for each in built.passages] == [1, 2]
