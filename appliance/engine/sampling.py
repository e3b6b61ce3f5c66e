"""How the next token is chosen: the stages of the sampler chain, in order. They run in C (`llama_sampler.py`)."""

from __future__ import annotations

from typing import NamedTuple

from appliance.engine.request import Sampling

RANDOM_SEED = 0xFFFFFFFF  # LLAMA_DEFAULT_SEED: llama.cpp then draws one itself
PENALTY_WINDOW = 64  # tokens looked back on; llama.cpp's own default
DRY_WINDOW = 4096  # tokens of the answer in which a phrase counts as said before: all of most answers


class Stage(NamedTuple):
    """One stage of the chain: the name llama.cpp gives it, and its arguments."""

    name: str
    arguments: tuple[float, ...] = ()


def chain(sampling: Sampling) -> tuple[Stage, ...]:
    """Return the stages for a request, in llama.cpp's own order: biases, penalties, cuts, temperature, choice."""
    stages = _corrections(sampling)
    if sampling.temperature <= 0:
        return (*stages, Stage("greedy"))
    if sampling.top_k > 0:
        stages.append(Stage("top_k", (sampling.top_k,)))
    if sampling.top_p < 1:
        stages.append(Stage("top_p", (sampling.top_p, 1)))
    if sampling.min_p > 0:
        stages.append(Stage("min_p", (sampling.min_p, 1)))
    seed = RANDOM_SEED if sampling.seed is None else sampling.seed % RANDOM_SEED
    return (*stages, Stage("temp", (sampling.temperature,)), Stage("dist", (seed,)))


def _corrections(sampling: Sampling) -> list[Stage]:
    stages: list[Stage] = []
    if sampling.logit_bias:
        stages.append(Stage("logit_bias", tuple(n for pair in sampling.logit_bias for n in pair)))
    penalties = (sampling.repeat_penalty, sampling.frequency_penalty, sampling.presence_penalty)
    if penalties != (1.0, 0.0, 0.0):
        stages.append(Stage("penalties", (PENALTY_WINDOW, *penalties)))
    if sampling.dry_multiplier > 0:
        dry = (sampling.dry_multiplier, sampling.dry_base, sampling.dry_allowed_length, DRY_WINDOW)
        stages.append(Stage("dry", dry))
    return stages
