"""What the bench found: as JSON, as a table for a terminal, as a table for docs/benchmarks.md. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from appliance.ops.figures import FIGURES, Figure, Measured, Target
from appliance.ops.machine import Machine


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """What the bare loop does on so many threads; tokens per second."""

    n_threads: int
    prefill_tps: float
    decode_tps: float


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the bench.

    Attributes:
        date: of the start, ISO 8601.
        settings: the engine's, as measured.
        results: by figure; only those that were asked for.
        threads: empty where the table was not asked for.
        n_runs: of which each figure is the median.
        took_s: of the whole bench.
        figures: what this bench can measure, in the order in which it is shown.
    """

    machine: Machine
    model: str
    date: str
    settings: Mapping[str, Any]
    results: Mapping[str, Measured]
    threads: Sequence[ThreadRow]
    n_runs: int
    took_s: float
    figures: Sequence[Figure] = FIGURES

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "model": self.model,
            "date": self.date,
            "n_runs": self.n_runs,
            "took_s": round(self.took_s, 1),
            "machine": asdict(self.machine),
            "settings": dict(self.settings),
            "figures": {figure.name: self._figure(figure, result) for figure, result in self._measured()},
            "threads": [_rounded(asdict(row)) for row in self.threads],
        }

    def table(self) -> str:
        """Return the report for a terminal."""
        machine = self.machine
        lines = [
            f"{self.model}, {self.date}, median of {self.n_runs}, {self.took_s:.0f} s",
            f"{machine.cpu}, {machine.n_cores} cores ({' '.join(machine.features)}), {machine.memory_gib} GiB, "
            f"load before {machine.load_before:.2f}",
            "",
        ]
        for figure, result in self._measured():
            mark, target = self._verdict(figure, result)
            lines.append(
                f"{figure.name:<14} {_shown(figure, result):>15}  {target:<9} {mark:<6} {figure.meaning}"
            )
            lines += [
                f"{'':<14} {line}" for line in ([result.reason] if result.reason else _parts(result.parts))
            ]
        if self.threads:
            lines += [*([""] if self.results else []), "threads   prefill tokens/s   decode tokens/s"]
            lines += [f"{t.n_threads:>7} {t.prefill_tps:>18.1f} {t.decode_tps:>17.1f}" for t in self.threads]
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the report as a section of docs/benchmarks.md."""
        machine = self.machine
        lines = [
            f"### {self.model}",
            "",
            f"{self.date}; {machine.cpu}, {machine.n_cores} cores ({', '.join(machine.features)}), "
            f"{machine.memory_gib} GiB; {machine.system}; llama-cpp-python {machine.llama_cpp_python}; load before the "
            f"start {machine.load_before:.2f}; median of {self.n_runs} runs; {self.took_s:.0f} s in all.",
            "",
            "| figure | value | target | made of |",
            "|---|---|---|---|",
        ]
        for figure, result in self._measured():
            mark, target = self._verdict(figure, result)
            made_of = result.reason or "; ".join(_parts(result.parts))
            shown = _shown(figure, result) + (" (missed)" if mark == "missed" else "")
            lines.append(f"| `{figure.name}` | {shown} | {target or 'reported'} | {made_of} |")
        if self.threads:
            lines += ["", "| threads | prefill tokens/s | decode tokens/s |", "|---|---|---|"]
            lines += [f"| {t.n_threads} | {t.prefill_tps:.1f} | {t.decode_tps:.1f} |" for t in self.threads]
        return "\n".join(lines)

    def _measured(self) -> Iterator[tuple[Figure, Measured]]:
        return ((figure, self.results[figure.name]) for figure in self.figures if figure.name in self.results)

    def _target(self, figure: Figure) -> Target | None:
        return figure.target(self.model, float(self.settings.get("step_target_ms", 1)))

    def _verdict(self, figure: Figure, result: Measured) -> tuple[str, str]:
        target = self._target(figure)
        if target is None or result.value is None:
            return "", str(target or "")
        return ("met" if target.met(result.value) else "missed"), str(target)

    def _figure(self, figure: Figure, result: Measured) -> dict[str, Any]:
        target, value = self._target(figure), result.value
        return {
            "value": None if value is None else round(value, 4),
            "unit": figure.unit,
            "meaning": figure.meaning,
            "target": None
            if target is None
            else {"at_least" if target.at_least else "at_most": target.bound},
            "met": None if target is None or value is None else target.met(value),
            "runs": [round(run, 4) for run in result.runs],
            "parts": {name: [round(value, 4) for value in values] for name, values in result.parts.items()},
            "not_available": result.reason or None,
        }


def _shown(figure: Figure, result: Measured) -> str:
    if result.value is None:
        return "not available"
    match figure.unit:
        case "ms" | "MB" | "chunks/s":
            return f"{result.value:.0f} {figure.unit}"
        case "s":
            return f"{result.value:.2f} s"
        case _:
            return f"{result.value:.3f}"


def _parts(parts: Mapping[str, Sequence[float]]) -> list[str]:
    """Return each part as its name and the median of its runs."""
    medians = {name: Measured(values).value for name, values in parts.items()}
    shown = [f"{name} {value:.4g}" for name, value in medians.items() if value is not None]
    return [", ".join(shown)] if shown else []


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 1) if isinstance(value, float) else value for name, value in row.items()}
