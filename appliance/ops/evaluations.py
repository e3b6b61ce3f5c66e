"""What earlier evaluations found, kept in the home: a run after a change is compared with the one before."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

FOLDER = "evaluations"  # in the home's state
MAX_KEPT = 50


class Evaluations:
    """The evaluations of one home."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def last(self, kind: str, questions: str) -> dict[str, Any] | None:
        """Return the newest evaluation of a kind with the same questions, or None; one that cannot be read is none."""
        for file in sorted(self._folder.glob(f"{kind}-{questions}-*.json"), reverse=True):
            try:
                found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            return found
        return None

    def keep(self, kind: str, questions: str, result: dict[str, Any]) -> Path:
        """Write an evaluation down; the oldest of many go."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{kind}-{questions}-{time.time_ns()}.json"
        part = file.with_suffix(".part")
        part.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
        os.replace(part, file)
        for old in sorted(self._folder.glob("*.json"), key=lambda each: each.stat().st_mtime)[:-MAX_KEPT]:
            old.unlink(missing_ok=True)
        return file


def key_of(questions: list[str]) -> str:
    """Return a short name of a set of questions: other questions are not compared."""
    return hashlib.sha256("\n".join(questions).encode()).hexdigest()[:12]


def table(figures: dict[str, float], before: dict[str, float] | None) -> str:
    """Return the figures a line each, and how each differs from the run before."""
    width = max(map(len, figures))
    lines = []
    for name, value in figures.items():
        change = ""
        if before and name in before and before[name] != value:
            change = f"  ({value - before[name]:+.4g} since the last run)"
        lines.append(f"{name:<{width}}  {value:>9.4g}{change}")
    return "\n".join(lines)
