from __future__ import annotations

import pytest

from appliance.engine.request import Sampling
from appliance.engine.sampling import DRY_WINDOW, RANDOM_SEED, Stage, chain


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(), [("greedy", ())]),
        (Sampling(repeat_penalty=1.1), [("penalties", (64, 1.1, 0.0, 0.0)), ("greedy", ())]),
        (
            Sampling(
                frequency_penalty=0.5,
                presence_penalty=-1.0,
                dry_multiplier=0.8,
                logit_bias=((7, -100.0), (9, 2.5)),
            ),
            [
                ("logit_bias", (7, -100.0, 9, 2.5)),
                ("penalties", (64, 1.0, 0.5, -1.0)),
                ("dry", (0.8, 1.75, 2, DRY_WINDOW)),
                ("greedy", ()),
            ],
        ),
        (
            Sampling(temperature=0.7, seed=42),
            [("top_k", (40,)), ("top_p", (0.95, 1)), ("min_p", (0.05, 1)), ("temp", (0.7,)), ("dist", (42,))],
        ),
        (
            Sampling(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
            [("temp", (1.0,)), ("dist", (RANDOM_SEED,))],
        ),
        (
            Sampling(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=-1),
            [("temp", (1.0,)), ("dist", (RANDOM_SEED - 1,))],
        ),
    ],
)
def test_chain_holds_the_stages_that_do_something(sampling: Sampling, expected: list[Stage]) -> None:
    assert list(chain(sampling)) == expected
