"""`appliance tune blocks`: what `bench blocks` measured, as the choice that `engine.blocks: auto` takes. Pure."""

from __future__ import annotations

from appliance.ops.block_modes import EXACT, MAX_LOST, WORTH
from appliance.ops.block_report import BlocksReport
from appliance.tuned_blocks import TunedBlocks
from models.registry import InstalledModel


def tuned(report: BlocksReport, model: InstalledModel) -> TunedBlocks:
    """Return what is written for a model."""
    reuse, row = report.picked.reuse, report.comparison.row(report.picked)
    kept = {name: row[name] for name in ("contained", "f1", "citation_precision", "ttft_p50_s")}
    return TunedBlocks(
        model=model.name, sha256=model.sha256, mode=reuse.mode, n_fresh=reuse.n_fresh,
        figures=report.values() | kept | {"questions": report.report.n_runs},
        measured=report.report.date.partition("T")[0],
    )  # fmt: skip


def verdict(report: BlocksReport) -> str:
    """Return the outcome in words."""
    if report.picked == EXACT:
        return (
            f"exact: no other mode is within {MAX_LOST:.0%} of its answers and under {WORTH:.0%} of its time"
        )
    values = report.values()
    return (
        f"{report.picked.reuse}: the first word comes after {values['warm_ttft_ratio']:.0%} of the time; "
        f"{values['quality_delta']:+.1%} right answers"
    )
