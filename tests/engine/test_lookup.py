from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from appliance.engine.lookup import LONG_MATCH, MAX_DRAFT, Lookup, can_verify
from appliance.engine.request import Sampling

# What a step takes with 0 to 7 drafted tokens, ms: docs/measurements.md, Steps.
COSTS_135M = (10, 14, 17, 20, 23, 26, 30, 33)
COSTS_0_5B = (23, 34, 38, 43, 50, 58, 65, 73)
COSTS_1_5B = (40, 57, 76, 96, 122, 149, 175, 202)


def lookup(text: str, reply: str = "") -> Lookup:
    found = Lookup([*text.encode()])
    for token in reply.encode():
        found.push(token)
    return found


def drafted(found: Lookup, n: int = MAX_DRAFT) -> str:
    return bytes(found.draft(n)).decode()


@pytest.mark.parametrize(
    ("prompt", "reply", "expected"),
    [
        ("", "", ""),
        ("abc", "abc", ""),  # too short to say anything
        ("the quick brown fox", "the ", "quick b"),
        ("the quick brown fox", "a quick", " brown "),
        ("the quick brown fox. the ", "", "quick b"),  # the prompt's own end counts
        ("one two three, one two four: ", "one two ", "four: o"),  # the last place said so wins
        ("nothing of it", "abcdefg-abcd", "efg-abc"),  # the answer may repeat itself
        ("the quick brown fox", "the quite", ""),
        ("the fox", "the fo", "xthe fo"),  # a draft may run on into the answer
    ],
)
def test_draft_is_what_followed_the_last_time(prompt: str, reply: str, expected: str) -> None:
    assert drafted(lookup(prompt, reply)) == expected


def test_match_is_followed_to_its_end_though_a_later_place_fits_as_well() -> None:
    found = lookup("red green blue yellow. green black. ", "red green ")
    assert drafted(found) == "blue ye"


@pytest.mark.parametrize("costs", [COSTS_135M, COSTS_0_5B, COSTS_1_5B])
def test_gate_opens_within_a_few_tokens_of_a_quotation_and_closes_soon_after(costs: tuple[int, ...]) -> None:
    quote = "".join(map(chr, range(60, 120)))
    found = lookup(quote, quote[5 : 5 + LONG_MATCH + 2])
    assert found.n_draft(costs) > 0
    for token in quote[5 + LONG_MATCH + 2 : 40].encode():
        found.push(token)
    assert found.n_draft(costs) >= 3
    for wrong in range(6):  # matches of four tokens that lead astray
        for token in [*quote[wrong : wrong + 4].encode(), 1]:
            found.push(token)
    for token in quote[:4].encode():
        found.push(token)
    assert found.draft(1)
    assert found.n_draft(costs) == 0


def test_draft_that_costs_as_much_as_its_tokens_is_not_made() -> None:
    found = lookup("abcdefghijklmnopqrstuvwxyz", "abcdefghijklm")
    assert found.n_draft([1.0 + n for n in range(8)]) == 0
    assert found.n_draft([1.0] * 8) == MAX_DRAFT
    assert found.n_draft([1.0] * 8, most=2) == 2
    assert found.n_draft([1.0] * 3) == 2


def test_promises_rise_with_each_token_by_less() -> None:
    found = lookup("abcdefghijklmnopqrstuvwxyz", "abcdefghijklm")
    promises = found.promises(5)
    gains = [b - a for a, b in zip([0.0, *promises], promises, strict=False)]
    assert len(promises) == 5
    assert all(0 < later <= earlier <= 1 for earlier, later in pairwise(gains))


def play(prompt: list[int], answer: list[int], costs: tuple[int, ...]) -> float:
    """Return how many times faster an answer is made than without drafts."""
    found, at, spent = Lookup(prompt), 0, 0.0
    while at < len(answer):
        n = found.n_draft(costs, most=len(answer) - at - 1)
        draft = found.draft(n)
        spent += costs[n]
        n_right = next((i for i in range(n) if draft[i] != answer[at + i]), n)
        for token in answer[at : at + n_right + 1]:
            found.push(token)
        at += n_right + 1
    return len(answer) * costs[0] / spent


@pytest.mark.parametrize("costs", [COSTS_135M, COSTS_0_5B, COSTS_1_5B])
@pytest.mark.parametrize("seed", range(5))
def test_answer_that_quotes_gains_and_free_text_loses_next_to_nothing(
    costs: tuple[int, ...], seed: int
) -> None:
    chance = random.Random(seed)
    phrases = [[chance.randrange(3000) for _ in range(chance.randint(4, 7))] for _ in range(30)]
    prompt = [chance.randrange(3000) for _ in range(1000)]
    for phrase in phrases:
        at = chance.randrange(900)
        prompt[at : at + len(phrase)] = phrase
    quoting: list[int] = []
    while len(quoting) < 200:
        start = chance.randrange(900)
        quoting += [*(chance.randrange(3000) for _ in range(12)), *prompt[start : start + 40]]
    free: list[int] = []
    while len(free) < 200:  # phrases that the prompt has as well, each going on in another way
        free += [*chance.choice(phrases), *(chance.randrange(3000) for _ in range(chance.randint(3, 12)))]
    assert play(prompt, quoting, costs) > 1.2
    assert play(prompt, free, costs) > 0.97


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(), True),
        (Sampling(top_k=1, top_p=0.5, min_p=0.0, seed=3, stop=("x",)), True),
        (Sampling(temperature=0.1), False),
        (Sampling(repeat_penalty=1.1), False),
        (Sampling(presence_penalty=0.5), False),
        (Sampling(grammar="root ::= [a-z]+"), False),
        (replace(Sampling(), logprobs=2), False),
    ],
)
def test_only_plain_greedy_answers_may_be_drafted(sampling: Sampling, expected: bool) -> None:
    assert can_verify(sampling) is expected
