"""What `appliance bench blocks` found: as JSON, as tables for a terminal, as tables for docs/benchmarks.md. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from appliance.ops.block_modes import Comparison, Mode
from appliance.ops.report import Report

# Column → the figure of a mode that it shows, and how.
_COLUMNS = (
    ("contained", "contained", "{:.3f}"), ("won", "won", "{:.0f}"), ("lost", "lost", "{:.0f}"),
    ("F1", "f1", "{:.3f}"), ("citations", "citation_precision", "{:.3f}"),
    ("TTFT p50", "ttft_p50_s", "{:.2f} s"), ("p95", "ttft_p95_s", "{:.2f} s"), ("÷ exact", "ttft_ratio", "{:.3f}"),
    ("reading p50", "read_p50_s", "{:.2f} s"), ("p95", "read_p95_s", "{:.2f} s"), ("reused", "reused", "{:.0%}"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlocksReport:
    """One run.

    Attributes:
        report: machine, model and the figures with targets.
    """

    report: Report
    comparison: Comparison

    @property
    def picked(self) -> Mode:
        """The mode that `engine.blocks: auto` should take."""
        return self.comparison.picked

    def values(self) -> dict[str, float]:
        """Return the figures with targets by name."""
        found = {name: measured.value for name, measured in self.report.results.items()}
        return {name: round(value, 4) for name, value in found.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        plain = self.report.to_json()
        for name in ("threads", "n_runs"):
            del plain[name]
        return plain | self.values() | {
            "n_questions": self.report.n_runs,
            "picked": {"name": self.picked.name, **asdict(self.picked.reuse)},
            "bytes_per_token": round(self.comparison.bytes_per_token, 1),
            "modes": {mode.name: self.comparison.row(mode) for mode in self.comparison.replies},
            "asked": [
                {"mode": mode.name, **asdict(reply)}
                for mode, replies in self.comparison.replies.items()
                for reply in replies
            ],
        }  # fmt: skip

    def table(self) -> str:
        """Return the report for a terminal."""
        rows = list(self._rows())
        widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        return "\n".join([self.report.table(), "", *lines, "", self._verdict()])

    def markdown(self) -> str:
        """Return the report as a section of docs/benchmarks.md."""
        head, *rows = (f"| {' | '.join(row)} |" for row in self._rows())
        line = "|---" * (len(_COLUMNS) + 1) + "|"
        return "\n".join([self.report.markdown(), "", head, line, *rows, "", self._verdict()])

    def _rows(self) -> Iterator[list[str]]:
        yield ["mode", *(title for title, _, _ in _COLUMNS)]
        for mode in self.comparison.replies:
            row = self.comparison.row(mode)
            yield [mode.name, *(shown.format(row[name]) for _, name, shown in _COLUMNS)]

    def _verdict(self) -> str:
        size = self.comparison.bytes_per_token
        kept = (
            f"{size:,.0f} bytes a token of a kept passage"
            if size
            else "no passage was kept, as with a model that cannot"
        )
        return f"{self.report.n_runs} questions; picked: {self.picked.reuse}; {kept}."
