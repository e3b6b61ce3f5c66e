"""`appliance bench ingest`: measures ingest through its real parts. Runs the trials in order and reports.

What a trial needs is in `ingest_rig`, how each figure is measured in `ingest_trials`, what it means in
`ingest_figures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from appliance.config import Config
from appliance.errors import ConfigError
from appliance.ops import bench, ingest_trials, machine
from appliance.ops.bench import Group, Say
from appliance.ops.ingest_figures import FIGURES, NAMES, SMALL, Sizes
from appliance.ops.ingest_rig import IngestRig
from appliance.ops.report import Report
from ingest.folder import scan
from models.registry import Registry

# In the order in which they run.
GROUPS: tuple[Group[IngestRig], ...] = (
    Group(("stages",), ingest_trials.stages, is_slow=True),
    Group(("pipeline_ratio",), ingest_trials.pipeline_ratio, is_slow=True),
    Group(("unchanged_s",), ingest_trials.unchanged),
    Group(("chat_decode", "chat_ttft"), ingest_trials.chat_share),
    Group(("memory_ratio", "peak_mb_1000", "peak_mb_10000"), ingest_trials.peak_memory),
    Group(("index_100k",), ingest_trials.large_index),
)


def run(config: Config, source: Path | None, only: Sequence[str], sizes: Sizes, say: Say) -> Report:
    """Measure, and leave neither process nor file behind, whatever ends it.

    Args:
        config: whose models and settings are measured; its home is not touched.
        source: folder of documents, which are copied; None: made ones.
        only: names of figures; empty: all.
        say: is told what is being done.
    Raises:
        ConfigError: no embedder is installed, or there are no documents in `source`.
    """
    chosen = Registry(config.models).chosen("embed", config.settings.embed.model)
    if chosen is None:
        raise ConfigError("no embedder is installed: run `appliance model pull --default --compile-apart`")
    if source is not None and not scan(source).files:
        raise ConfigError(f"{source}: there is no document in this folder")
    return bench.run(_run(IngestRig(config, source, sizes, say), chosen.name, only or NAMES))


async def _run(rig: IngestRig, embedder: str, wanted: Sequence[str]) -> Report:
    found, started, date = machine.describe(), perf_counter(), datetime.now(UTC)
    if found.is_busy:
        rig.say(found.warning)
    async with rig:
        results = await bench.measure(GROUPS, rig, wanted, rig.sizes.n_runs)
    return Report(
        machine=found, model=f"{embedder}{', small sizes' if rig.sizes == SMALL else ''}",
        date=date.strftime("%Y-%m-%dT%H:%M:%SZ"), settings=_settings(rig), results=results, threads=(),
        n_runs=rig.sizes.n_runs, took_s=perf_counter() - started, figures=FIGURES,
    )  # fmt: skip


def _settings(rig: IngestRig) -> dict[str, Any]:
    settings = rig.config.settings
    chat = Registry(rig.config.models).active("chat")
    return {
        "chat_model": chat and chat.name, "chunk_tokens": settings.ingest.chunk_tokens,
        "embed": settings.embed.model_dump(), "sizes": asdict(rig.sizes),
    }  # fmt: skip
