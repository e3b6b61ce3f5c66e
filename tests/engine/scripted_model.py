"""A model of scripted tokens with an honest KV cache: it enters where production passes `Llama`.

Tokens are bytes and two control tokens. What it answers depends on every token that its cache holds for the
sequence, so an answer comes out right only if the cache was kept right.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

from appliance.engine.model import Chunk, Outcome
from appliance.engine.request import Logprob
from appliance.engine.sampling import Stage

START, END = 256, 257
CONTROL = {START: "<|im_start|>", END: "<|im_end|>"}


def letters(tokens: Sequence[int]) -> int:
    """Answer with a letter that depends on all tokens before it; never ends."""
    return ord("a") + zlib.crc32(repr(list(tokens)).encode()) % 26


def saying(text: str) -> Callable[[Sequence[int]], int]:
    """Answer with a fixed text, then end the turn; the text starts after the prompt's last newline."""
    script = [*text.encode(), END]

    def answer(tokens: Sequence[int]) -> int:
        newline = max(at for at, token in enumerate(tokens) if token == ord("\n"))
        return script[len(tokens) - newline - 1]

    return answer


class ScriptedSampler:
    def __init__(self, model: ScriptedModel) -> None:
        self._model = model
        model.n_open_samplers += 1

    def sample(self, index: int) -> int:
        return self._model.answer(self._model.outputs[index])

    def close(self) -> None:
        self._model.n_open_samplers -= 1


class ScriptedModel:
    """See the module.

    Attributes:
        lanes: slot → its cells, in order; a cell is (identity, token), shared by copies.
        firsts: slot → position of its first cell.
        moves: by how much cells were moved, move by move.
        steps: the chunks of every step computed.
        gate: a step waits here before it computes, unless it is aborted.
        outcomes: outcomes to return instead of computing, first first.
        step_s: what a step takes.
    """

    can_trim = True
    can_shift = True
    chat_template = None
    bos = None
    bos_text = eos_text = ""
    control = CONTROL
    eog = frozenset({END})
    device = "scripted"
    state_key = "scripted"

    def __init__(
        self, answer: Callable[[Sequence[int]], int] = letters, n_ctx: int = 1000, n_slots: int = 8
    ) -> None:
        self.answer = answer
        self.n_ctx = self.max_context = n_ctx
        self.n_slots = n_slots
        self.lanes: dict[int, list[tuple[int, int]]] = {slot: [] for slot in range(n_slots)}
        self.firsts = dict.fromkeys(range(n_slots), 0)
        self.moves: list[int] = []
        self.steps: list[list[Chunk]] = []
        self.outputs: dict[int, list[int]] = {}
        self.outcomes: list[Outcome] = []
        self.n_open_samplers = 0
        self.step_s = 0.0
        self.gate = Event()
        self.gate.set()
        self.entered = Event()
        self._aborted = False
        self._n_cells = 0

    @property
    def n_used(self) -> int:
        return len({cell for lane in self.lanes.values() for cell in lane})

    def tokenise(self, text: str, special: bool) -> list[int]:
        tokens = list(text.encode())
        for token, name in CONTROL.items() if special else ():
            spelled = list(name.encode())
            for at in range(len(tokens) - len(spelled), -1, -1):
                if tokens[at : at + len(spelled)] == spelled:
                    tokens[at : at + len(spelled)] = [token]
        return tokens

    def piece(self, token: int) -> bytes:
        return b"" if token in CONTROL else bytes([token])

    def sampler(self, stages: Sequence[Stage], grammar: str = "") -> ScriptedSampler:
        return ScriptedSampler(self)

    def logprob(self, index: int, token: int, n_top: int) -> Logprob:
        top = tuple(Logprob(bytes([ord("a") + at]), -1.0 - at) for at in range(n_top))
        return Logprob(self.piece(token), -0.5, top)

    def grammar_of(self, schema: dict[str, Any]) -> str:
        return 'root ::= "{}"'

    def decode(self, chunks: Sequence[Chunk]) -> Outcome:
        self.entered.set()
        while not self.gate.wait(0.01):
            if self._aborted:
                return Outcome.ABORTED
        time.sleep(self.step_s)
        if self.outcomes:
            return self.outcomes.pop(0)
        if self.n_used + sum(len(chunk.tokens) for chunk in chunks) > self.n_ctx:
            return Outcome.NO_ROOM
        self.steps.append(list(chunks))
        self.outputs = {}
        index = -1
        for chunk in chunks:
            lane = self.lanes[chunk.slot]
            assert chunk.position == len(lane), (
                f"slot {chunk.slot}: {chunk.position} after {len(lane)} tokens"
            )
            assert not self.firsts[chunk.slot], "a sequence without its beginning"
            for token in chunk.tokens:
                lane.append((self._n_cells, token))
                self._n_cells += 1
            tokens = [token for _, token in lane]
            for n_after in range(len(chunk.tokens)) if chunk.is_drafted else (0,) * chunk.wants_logits:
                self.outputs[index + len(chunk.tokens) - n_after] = tokens[: len(tokens) - n_after]
            index += len(chunk.tokens)
        return Outcome.DONE

    def seq_rm(self, slot: int, start: int, end: int) -> bool:
        first = self.firsts[slot]
        if start > 0 and not self.can_trim:
            return False
        if end == -1:
            del self.lanes[slot][max(start - first, 0) :]
        else:
            assert start == first, (
                "a gap: llama.cpp would allow it, and what is computed behind it would be wrong"
            )
            del self.lanes[slot][: end - first]
            self.firsts[slot] = end
        if not self.lanes[slot]:
            self.firsts[slot] = 0
        return True

    def seq_cp(self, source: int, target: int, end: int, start: int = 0) -> None:
        first = self.firsts[source]
        assert first <= start < end <= first + len(self.lanes[source]), "nothing there to share"
        if not self.lanes[target]:
            self.firsts[target] = start
        assert self.seq_pos_max(target) == start - 1 or not self.lanes[target], "llama.cpp would mix the two"
        self.lanes[target] = self.lanes[target] + self.lanes[source][start - first : end - first]

    def seq_add(self, slot: int, delta: int) -> None:
        shared = {cell for other, lane in self.lanes.items() if other != slot for cell in lane}
        assert not shared.intersection(self.lanes[slot]), (
            "llama.cpp would move other sequences' cells as well"
        )
        self.firsts[slot] += delta
        self.moves.append(delta)

    def state(self, slot: int) -> bytes:
        tokens = [token for _, token in self.lanes[slot]]
        return bytes(json.dumps({"first": self.firsts[slot], "tokens": tokens}), "ascii")

    def set_state(self, slot: int, state: bytes | bytearray | memoryview) -> bool:
        assert not self.lanes[slot], "llama.cpp would leave the old cells to the slot"
        saved = json.loads(bytes(state))
        if self.n_used + len(saved["tokens"]) > self.n_ctx:
            return False
        self.lanes[slot] = [(self._n_cells + at, token) for at, token in enumerate(saved["tokens"])]
        self.firsts[slot] = saved["first"]
        self._n_cells += len(saved["tokens"])
        return True

    def seq_pos_max(self, slot: int) -> int:
        return self.firsts[slot] + len(self.lanes[slot]) - 1 if self.lanes[slot] else -1

    def abort(self) -> None:
        self._aborted = True

    def clear_abort(self) -> None:
        self._aborted = False
