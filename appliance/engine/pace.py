"""How many prompt tokens fit into a step: speeds learned while running, against the step's target time."""

from __future__ import annotations

# Start values until the first steps are measured: 0.5 B, 2 cores (docs/measurements.md, Steps).
START_PROMPT_MS = 4.5
START_DECODE_MS = 23.0
WEIGHT = 0.2  # of the newest step: one slow step halves nothing, ten do
MIN_CHUNK = 8  # prompt tokens a step takes even when decoding alone breaks the target: newcomers must get on
MIN_MEASURED = 4  # prompt tokens below which a step says little about their price


class Pace:
    """Learns milliseconds per prompt token and per decoded token."""

    def __init__(self, target_ms: float) -> None:
        self._target_ms = target_ms
        self.prompt_ms = START_PROMPT_MS
        self.decode_ms = START_DECODE_MS
        self._measured: set[str] = set()

    def n_prompt(self, n_decoding: int) -> int:
        """Return how many prompt tokens fit beside `n_decoding` decoded ones within the target."""
        left_ms = self._target_ms - n_decoding * self.decode_ms
        return max(MIN_CHUNK, int(left_ms / self.prompt_ms))

    def record(self, n_decoding: int, n_prompt: int, ms: float) -> None:
        """Learn from a step that took `ms`."""
        if n_prompt == 0 and n_decoding > 0:
            self.decode_ms = self._mean("decode", self.decode_ms, ms / n_decoding)
        elif n_prompt >= MIN_MEASURED:
            prompt_ms = max(0.01, (ms - n_decoding * self.decode_ms) / n_prompt)
            self.prompt_ms = self._mean("prompt", self.prompt_ms, prompt_ms)

    def _mean(self, name: str, old: float, new: float) -> float:
        weight = WEIGHT if name in self._measured else 1.0
        self._measured.add(name)
        return old + weight * (new - old)
