"""A short soak on a real engine process; `make soak` walks on for 5,000 requests through the same code."""

from __future__ import annotations

import os
from pathlib import Path

from appliance.ops.soak import N_CTX, soak

N_REQUESTS = int(os.environ.get("SOAK_REQUESTS", "120"))  # 20 to 30 s on two cores that others use as well
MIB = 1 << 20
# Flat, as far as allocators go: one request that kept its sampler, or its text, would be past this after some hundred.
MAX_GROWTH = 32 * MIB


async def test_nothing_is_left_behind_by_cancels_deadlines_overflows_and_disconnects(
    models_folder: Path,
) -> None:
    [model] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    report = await soak(model, N_REQUESTS, seed=7, say=print)
    assert report.leaks == []
    assert report.n_restarts == 0
    assert 0 < report.held["n_cells"] <= N_CTX  # what idle slots keep for the next one is no leak
    for before, after in (report.child, report.parent):
        assert after.rss - before.rss < MAX_GROWTH
    assert sum(report.outcomes.values()) == N_REQUESTS
    walked = {name for name in report.outcomes if report.outcomes[name]}
    assert {"length", "deadline", "disconnected", "hung up", "refused: too long", "refused: busy"} <= walked
    assert {"prepared", "order dropped"} <= walked
