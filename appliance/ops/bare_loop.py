"""The bare loop: `python -m appliance.ops.bare_loop`. One sequence, llama_decode, greedy sampler, nothing else.

A child process that the engine's own speed is compared with. It says what devices it sees, hears what to load as the
engine does, and then takes orders: lines of JSON, in on stdin, out on stdout. It ends with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from time import perf_counter
from typing import Any

from appliance.engine import ggml
from appliance.engine.llama import Llama
from appliance.engine.model import Chunk, ModelSpec, Sampler
from appliance.engine.request import Sampling
from appliance.engine.sampling import chain


class BareLoop:
    """A loaded model that decodes one sequence at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self._n_batch = spec.n_batch
        self._llama = Llama(spec)

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out one order."""
        match order["do"]:
            case "cut":
                return {"text": self.cut(order["text"], order["n_tokens"])}
            case "loop":
                prefill_s, decode_s = self.loop(order["n_prompt"], order["n_decode"])
                return {"prefill_s": prefill_s, "decode_s": decode_s}
            case what:
                raise ValueError(f"no order {what!r}")

    def cut(self, text: str, n_tokens: int) -> str:
        """Return the longest beginning of a text, in whole words, that has at most `n_tokens` tokens."""
        words = text.split(" ")
        low, high = 0, len(words)
        while low < high:
            middle = (low + high + 1) // 2
            if len(self._llama.tokenise(" ".join(words[:middle]), False)) <= n_tokens:
                low = middle
            else:
                high = middle - 1
        return " ".join(words[:low])

    def loop(self, n_prompt: int, n_decode: int) -> tuple[float, float]:
        """Compute a prompt, then token after token; return the seconds of each."""
        llama = self._llama
        llama.seq_rm(0, -1, -1)
        prompt = (llama.tokenise("The quick brown fox jumps over the lazy dog. " * n_prompt, False))[
            :n_prompt
        ]
        sampler = llama.sampler(chain(Sampling()))
        started = perf_counter()
        for start in range(0, n_prompt, self._n_batch):
            part = prompt[start : start + self._n_batch]
            llama.decode([Chunk(0, start, part, start + len(part) == n_prompt)])
        token = _sample(sampler, len(part) - 1)
        first = perf_counter()
        for position in range(n_prompt, n_prompt + n_decode):
            llama.decode([Chunk(0, position, [token], True)])
            token = _sample(sampler, 0)
        ended = perf_counter()
        sampler.close()
        return first - started, ended - first


def _sample(sampler: Sampler, index: int) -> int:
    token = sampler.sample(index)
    assert token is not None, "there is no grammar that could refuse"
    return token


def main() -> None:
    """Load, then answer orders until stdin ends."""
    _say({"devices": [asdict(device) for device in ggml.devices()]})
    if spec := sys.stdin.readline():
        loop = BareLoop(ModelSpec(**json.loads(spec)))
        _say({"ready": True})
        for line in sys.stdin:
            _say(loop.answer(json.loads(line)))
    sys.stdout.flush()
    os._exit(0)  # as the engine's worker: llama.cpp's own teardown may crash


def _say(reply: dict[str, Any]) -> None:
    print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
