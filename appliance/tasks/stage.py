"""A row of steps of one kind: how far it is, and how long it will take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from appliance.api.schema_tasks import ProgressEvent
from appliance.tasks.steps import Written


@dataclass(slots=True)
class Stage:
    """What is known of a stage of `m` steps."""

    stage: Literal["map", "reduce", "translate", "extract"]
    m: int
    _n: int = 0
    _n_cached: int = 0
    _n_made: int = 0
    _made_s: float = 0.0
    _began: float = 0.0

    def begin(self, place: str) -> ProgressEvent:
        """Return the event that the next step begins, on the text of a place."""
        self._began = time.monotonic()
        return self._progress(place)

    def end(self, written: Written) -> None:
        """Take what came of the step."""
        self._n += 1
        if written.cached:
            self._n_cached += 1
        else:
            self._n_made += 1
            self._made_s += time.monotonic() - self._began

    def finish(self) -> ProgressEvent:
        """Return the event that all steps are done."""
        return self._progress("")

    def _progress(self, place: str) -> ProgressEvent:
        eta_s = self._made_s / self._n_made * (self.m - self._n) if self._n_made else None
        return ProgressEvent(
            stage=self.stage, n=self._n, m=self.m, place=place, n_cached=self._n_cached, eta_s=eta_s
        )
