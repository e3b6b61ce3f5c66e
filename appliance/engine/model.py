"""What the step loop needs of a model: the seam where `Llama` enters, and in tests a scripted one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from appliance.engine.request import Logprob
from appliance.engine.sampling import Stage


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model to load, and how.

    Attributes:
        n_ctx: KV cells in all, shared by the sequences.
        n_batch: most tokens of one step; `n_ubatch`: of one pass through the layers.
        n_gpu_layers: layers on the GPU, from the last; the output counts as one; -1: all of them.
        devices, tensor_split: which of ggml's devices take them, and how many each; empty: llama.cpp's choice.
        n_cpu_experts: layers from the first whose experts stay in main memory.
        kv_on_gpu: the KV cache of a layer on the GPU is there too.
        kv_type: "f16", "q8_0" or "q4_0".
        flash_attention: "auto", "on" or "off".
        mlock: keep the weights in memory.
        sha256: of the file, by which states are recognised; empty: its path, size and time stand for it.
    """

    path: str
    n_ctx: int
    max_sequences: int
    n_batch: int
    n_threads: int
    n_gpu_layers: int
    n_ubatch: int = 512
    devices: Sequence[int] = ()
    tensor_split: Sequence[float] = ()
    n_cpu_experts: int = 0
    kv_on_gpu: bool = True
    kv_type: str = "f16"
    flash_attention: str = "auto"
    mlock: bool = False
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive tokens of one slot in a step, the first at `position`.

    Attributes:
        wants_logits: of the last token.
        is_drafted: all tokens but the first are drafts: logits of each are wanted.
    """

    slot: int
    position: int
    tokens: Sequence[int]
    wants_logits: bool
    is_drafted: bool = False


class Outcome(Enum):
    """What became of a step that did not kill the engine.

    NO_ROOM: no KV cells were found; nothing changed.
    ABORTED: some of it may be in the cache; read `seq_pos_max`.
    """

    DONE = 0
    NO_ROOM = 1
    ABORTED = 2


class Memory(Protocol):
    """The KV cache: sequences of cells, named by slot. Ranges are [start, end), end -1 is open."""

    def seq_rm(self, slot: int, start: int, end: int) -> bool:
        """Remove a range; False when the model cannot remove a part of a sequence. All can always go."""

    def seq_cp(self, source: int, target: int, end: int, start: int = 0) -> None:
        """Let `target` share the cells [start, end) of `source`."""

    def seq_add(self, slot: int, delta: int) -> None:
        """Move all of a slot by `delta` positions. Its cells must be its own."""

    def seq_pos_max(self, slot: int) -> int:
        """Return the last position held, -1 when there is none."""

    def state(self, slot: int) -> bytes:
        """Return what the cache holds of a slot, for `set_state` of this or a later process."""

    def set_state(self, slot: int, state: bytes | bytearray | memoryview) -> bool:
        """Put a state into an empty slot; False when this cache cannot take it."""


class Sampler(Protocol):
    """Chooses tokens for one sequence and remembers them for its penalties and its grammar."""

    def sample(self, index: int) -> int | None:
        """Return the token after the last step's batch position `index`; None: the grammar accepts none."""

    def close(self) -> None:
        """Give its memory back."""


class Model(Memory, Protocol):
    """A loaded model.

    Attributes:
        n_ctx: KV cells in all.
        max_context: most positions of one sequence: what the model was trained for, or all cells if fewer.
        n_slots: sequences that the cache can hold.
        can_trim: a part of a sequence can be removed and copied (not so in recurrent and hybrid models).
        can_shift: cells can be moved to other positions (not so without RoPE, nor with sliding windows).
        chat_template: Jinja source; None when the file has none.
        bos: beginning-of-text token that every prompt must start with; None: the model wants none.
        control: text of every control token, by token; these end turns and are never read from contents.
        eog: tokens that end an answer.
        state_key: whatever a state depends on; states of another one must not be put in.
        device: for people.
    """

    n_ctx: int
    max_context: int
    n_slots: int
    can_trim: bool
    can_shift: bool
    chat_template: str | None
    bos: int | None
    bos_text: str
    eos_text: str
    control: Mapping[int, str]
    eog: frozenset[int]
    state_key: str
    device: str

    def tokenise(self, text: str, special: bool) -> list[int]:
        """Return a text's tokens; control tokens are recognised only if `special`. Any thread may call it."""

    def piece(self, token: int) -> bytes:
        """Return a token's bytes, maybe a part of a character; empty for control tokens."""

    def sampler(self, stages: Sequence[Stage], grammar: str = "") -> Sampler:
        """Return a sampler of these stages, within a grammar (GBNF, checked). Any thread may call it.

        Raises:
            SamplingError: the grammar cannot be followed; a biased token does not exist.
        """

    def logprob(self, index: int, token: int, n_top: int) -> Logprob:
        """Return how probable `token` was after the last step's batch position `index`, and the best `n_top`."""

    def grammar_of(self, schema: dict[str, Any]) -> str:
        """Return a plain JSON schema (see `schema.py`) as GBNF. Any thread may call it.

        Raises:
            SamplingError: it is nested too deeply.
        """

    def decode(self, chunks: Sequence[Chunk]) -> Outcome:
        """Compute one step.

        Raises:
            FatalDecodeError: the model's state is lost; end the process.
        """

    def abort(self) -> None:
        """Make the running step return early. Any thread may call it."""

    def clear_abort(self) -> None:
        """Take `abort` back, before a step."""


class ModelLoadError(Exception):
    """The model could not be loaded; the message says what was tried."""


class FatalDecodeError(Exception):
    """llama.cpp could not compute a step; its state is undefined."""
