"""llama.cpp through its C interface. The only importer of llama_cpp; no scheduling, no text of people."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import llama_cpp
import llama_cpp.llama_cpp as C
import numpy as np
from llama_cpp.llama_grammar import PRIMITIVE_RULES, RESERVED_NAMES, BuiltinRule, SchemaConverter

from appliance.engine import ggml
from appliance.engine.llama_sampler import LlamaSampler, Vocabulary
from appliance.engine.lookup import MAX_DRAFT, MAX_DRAFTING
from appliance.engine.model import Chunk, FatalDecodeError, ModelLoadError, ModelSpec, Outcome
from appliance.engine.request import Logprob
from appliance.engine.sampling import Stage
from appliance.errors import SamplingError

SLOTS_A_SEQUENCE = (
    4  # idle slots keep prefixes for those who are not running; on a unified cache they cost nothing
)
MAX_DRAFTED = MAX_DRAFT * MAX_DRAFTING
KV_TYPES = {"f16": C.GGML_TYPE_F16, "q8_0": C.GGML_TYPE_Q8_0, "q4_0": C.GGML_TYPE_Q4_0}
FLASH_ATTENTION = {
    "auto": C.LLAMA_FLASH_ATTN_TYPE_AUTO,
    "on": C.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    "off": C.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}
GGML_LOG_WARN, GGML_LOG_ERROR = (
    3,
    4,
)  # as libllama 0.5.0 sends them; the comment in llama_cpp/_logger.py is older


IMPOSSIBLE = -9999.0  # OpenAI's own word for a logarithm of nothing, which JSON has no number for


_JSON_CHAR = BuiltinRule(r'[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})')


class _SchemaConverter(SchemaConverter):
    """The binding's converter, where it goes wrong: quotes in texts, line breaks in strings, and lengths.

    It writes a length as groups within groups, of which a thousand are more than llama.cpp's parser has stack for.
    """

    def _format_literal(self, literal: str) -> str:
        text = json.dumps(json.loads(literal), ensure_ascii=False)  # it escapes all but ASCII
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    def _add_primitive(self, name: str, rule: BuiltinRule) -> str:
        return str(super()._add_primitive(name, _JSON_CHAR if name == "char" else rule))

    def visit(self, schema: dict[str, Any], name: str) -> str:
        if schema.get("type") == "array" and "items" in schema:
            item = self.visit(schema["items"], f"{name}{'-' if name else ''}item")
            rule = f'"[" space {_listed(item, schema["minItems"], schema["maxItems"])} "]" space'
        elif schema.get("type") == "string" and "minLength" in schema:
            char = self._add_primitive("char", PRIMITIVE_RULES["char"])
            most = schema["maxLength"]
            rule = f'"\\"" {char}{{{schema["minLength"]},{"" if most is None else most}}} "\\"" space'
        else:
            return str(super().visit(schema, name))  # type: ignore[no-untyped-call]
        name = f"{name}-" if name in RESERVED_NAMES else name or "root"
        return str(self._add_rule(name, rule))  # type: ignore[no-untyped-call]


def _listed(item: str, least: int, most: int | None) -> str:
    if most == 0:
        return ""
    further = f'("," space {item}){{{max(least - 1, 0)},{"" if most is None else most - 1}}}'
    return f"{item} {further}" if least else f"({item} {further})?"


class _Batch:
    """One llama_batch that every step reuses; its arrays are Python's, filled by slices."""

    def __init__(self, n_tokens: int, n_slots: int) -> None:
        self._tokens = (C.llama_token * n_tokens)()
        self._positions = (C.llama_pos * n_tokens)()
        self._n_seq_ids = (ctypes.c_int32 * n_tokens)(*[1] * n_tokens)
        pointer = ctypes.POINTER(C.llama_seq_id)
        self._seq_ids = (pointer * n_tokens)()
        self._logits = (ctypes.c_int8 * n_tokens)()
        self._names = [(C.llama_seq_id * 1)(slot) for slot in range(n_slots)]
        self._pointers = [ctypes.cast(name, pointer) for name in self._names]
        self.struct = C.llama_batch(
            n_tokens=0,
            token=self._tokens,
            embd=None,
            pos=self._positions,
            n_seq_id=self._n_seq_ids,
            seq_id=self._seq_ids,
            logits=self._logits,
        )

    def fill(self, chunks: Sequence[Chunk]) -> None:
        start = 0
        for chunk in chunks:
            n = len(chunk.tokens)
            end = start + n
            self._tokens[start:end] = list(chunk.tokens)
            self._positions[start:end] = list(range(chunk.position, chunk.position + n))
            self._seq_ids[start:end] = [self._pointers[chunk.slot]] * n
            self._logits[start:end] = [chunk.is_drafted] * n
            self._logits[end - 1] = chunk.wants_logits
            start = end
        self.struct.n_tokens = start


class _AbortFlag:
    """Stops a running step, through llama.cpp's abort callback.

    llama.cpp asks before every node of the graph, about a thousand times a token. A Python callback would
    take the GIL each time; strlen() on two bytes of ours answers in C: 0 for "", 1 once a byte is set.
    """

    def __init__(self) -> None:
        self._bytes = ctypes.create_string_buffer(2)
        self.callback = ctypes.cast(ctypes.CDLL(None).strlen, C.ggml_abort_callback)
        self.data = ctypes.cast(self._bytes, ctypes.c_void_p)

    @property
    def is_set(self) -> bool:
        return self._bytes[0] == b"\x01"

    def set(self, on: bool) -> None:
        self._bytes[0] = b"\x01" if on else b"\x00"


class Llama:
    """A loaded model with its KV cache; see `Model`. One thread decodes and touches the cache.

    Raises:
        ModelLoadError: the file is no model that this build can run, or memory is short.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._abort = _AbortFlag()
        self._log = C.llama_log_callback(self._hear)
        C.llama_log_set(self._log, None)
        C.llama_backend_init()
        self._model = _load(spec)
        self._vocab = C.llama_model_get_vocab(self._model)
        self.can_trim = not (C.llama_model_is_recurrent(self._model) or C.llama_model_is_hybrid(self._model))
        self.n_slots = self._n_slots(spec.max_sequences)
        self._context = self._open(spec)
        self._memory = C.llama_get_memory(self._context)
        has_windows = C.llama_model_n_swa(self._model) > 0
        self.can_shift = self.can_trim and not has_windows and bool(C.llama_memory_can_shift(self._memory))
        self._batch = _Batch(max(spec.n_batch, spec.max_sequences), self.n_slots)
        self._pieces: dict[int, bytes] = {}
        self.n_ctx = int(C.llama_n_ctx(self._context))
        self.max_context = min(self.n_ctx, int(C.llama_model_n_ctx_train(self._model)) or self.n_ctx)
        self.device = self._device(spec)
        self.state_key = self._state_key(spec)
        self._read_vocabulary()
        self._warm_up()

    # --- tokens ---

    def tokenise(self, text: str, special: bool) -> list[int]:
        """Return a text's tokens; control tokens are recognised only if `special`."""
        data = text.encode("utf-8", "replace")
        room = (C.llama_token * (len(data) + 8))()
        n = C.llama_tokenize(self._vocab, data, len(data), room, len(room), False, special)
        assert n >= 0, f"{len(data)} bytes gave more tokens than bytes"
        return room[:n]

    def piece(self, token: int) -> bytes:
        """Return a token's bytes; empty for control tokens."""
        if token not in self._pieces:
            room = ctypes.create_string_buffer(512)
            n = C.llama_token_to_piece(self._vocab, token, room, len(room), 0, False)
            self._pieces[token] = room.raw[: max(0, n)]
        return self._pieces[token]

    def sampler(self, stages: Sequence[Stage], grammar: str = "") -> LlamaSampler:
        """Return a sampler of these stages; see `Model`."""
        return LlamaSampler(self._vocabulary, stages, grammar)

    def logprob(self, index: int, token: int, n_top: int) -> Logprob:
        """Return how probable a token was; see `Model`."""
        logits = self._vocabulary.logits(index).astype(np.float64)
        logprobs = logits - logits.max()
        logprobs -= np.log(np.exp(logprobs).sum())
        best = np.argpartition(-logprobs, n_top)[:n_top]
        best = best[np.argsort(-logprobs[best], kind="stable")]
        top = tuple(self._logprob(int(each), logprobs[each]) for each in best)
        return replace(self._logprob(token, logprobs[token]), top=top)

    def _logprob(self, token: int, logprob: float) -> Logprob:
        piece = self.piece(token) or self.control.get(token, "").encode()
        return Logprob(piece, max(float(logprob), IMPOSSIBLE))

    @staticmethod
    def grammar_of(schema: dict[str, Any]) -> str:
        """Return a plain JSON schema as GBNF; see `Model`."""
        untyped: Any = _SchemaConverter
        converter = untyped(prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False)
        try:
            converter.visit(converter.resolve_refs(schema, ""), "")
        except RecursionError:
            raise SamplingError("schema: nested too deeply, or too many optional properties") from None
        return str(converter.format_grammar())

    # --- steps ---

    def decode(self, chunks: Sequence[Chunk]) -> Outcome:
        """Compute one step.

        Raises:
            FatalDecodeError: llama.cpp gave up; what is in the cache is undefined.
        """
        self._batch.fill(chunks)
        code = C.llama_decode(self._context, self._batch.struct)
        if code < 0:
            raise FatalDecodeError(
                f"llama_decode of {self._batch.struct.n_tokens} tokens failed with code {code}"
            )
        return Outcome(code)

    def abort(self) -> None:
        """Make the running step return early (on CPUs; llama.cpp asks nothing while a GPU computes)."""
        self._abort.set(True)

    def clear_abort(self) -> None:
        """Take `abort` back."""
        self._abort.set(False)

    # --- cache ---

    def seq_rm(self, slot: int, start: int, end: int) -> bool:
        """Remove positions [start, end) of a slot; -1 leaves a side open."""
        return bool(C.llama_memory_seq_rm(self._memory, slot, start, end))

    def seq_cp(self, source: int, target: int, end: int, start: int = 0) -> None:
        """Share positions [start, end) of `source` with `target`."""
        C.llama_memory_seq_cp(self._memory, source, target, start, end)

    def seq_add(self, slot: int, delta: int) -> None:
        """Move all of a slot by `delta` positions; its keys are turned before the next step computes."""
        C.llama_memory_seq_add(self._memory, slot, -1, -1, delta)

    def seq_pos_max(self, slot: int) -> int:
        """Return the last position that a slot holds, -1 when it is empty."""
        return int(C.llama_memory_seq_pos_max(self._memory, slot))

    def state(self, slot: int) -> bytes:
        """Return what the cache holds of a slot."""
        size = int(C.llama_state_seq_get_size(self._context, slot))
        room = (ctypes.c_uint8 * size)()
        n = int(C.llama_state_seq_get_data(self._context, room, size, slot))
        return bytes(memoryview(room)[:n])

    def set_state(self, slot: int, state: bytes | bytearray | memoryview) -> bool:
        """Put a state into an empty slot, read where it lies; False when it does not fit."""
        data = np.frombuffer(state, np.uint8)
        room = data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        return int(C.llama_state_seq_set_data(self._context, room, data.size, slot)) > 0

    # --- loading ---

    def _hear(self, level: int, text: bytes, _: object) -> None:
        """Pass on warnings and errors of llama.cpp; the rest is chatter, and so is what it says of an abort."""
        if level in (GGML_LOG_WARN, GGML_LOG_ERROR) and not self._abort.is_set:
            sys.stderr.write(text.decode("utf-8", "replace"))
            sys.stderr.flush()

    def _n_slots(self, max_sequences: int) -> int:
        wanted = max_sequences * SLOTS_A_SEQUENCE if self.can_trim else max_sequences
        return min(wanted, int(C.llama_max_parallel_sequences()))

    def _open(self, spec: ModelSpec) -> int:
        params = C.llama_context_default_params()
        params.n_ctx = spec.n_ctx
        params.n_batch = max(spec.n_batch, spec.max_sequences)
        params.n_ubatch = min(params.n_batch, spec.n_ubatch)
        params.n_seq_max = self.n_slots
        # A row of logits for each slot (fewer and it asserts) and each draft; the default is one for each token
        # of a batch, 98 MiB with the 135M and three times that with Qwen's vocabulary.
        params.n_outputs_max = self.n_slots + MAX_DRAFTED
        params.n_threads = params.n_threads_batch = spec.n_threads
        params.kv_unified = True
        params.no_perf = True
        params.type_k = params.type_v = KV_TYPES[spec.kv_type]
        params.flash_attn_type = FLASH_ATTENTION[spec.flash_attention]
        params.op_offload = spec.n_gpu_layers != 0
        params.offload_kqv = spec.n_gpu_layers != 0 and spec.kv_on_gpu
        params.abort_callback = self._abort.callback
        params.abort_callback_data = self._abort.data
        context = C.llama_init_from_model(self._model, params)
        if not context:
            raise ModelLoadError(f"no memory for a context of {spec.n_ctx} tokens: lower engine.n_ctx")
        return int(context)

    def _state_key(self, spec: ModelSpec) -> str:
        about = os.stat(spec.path)
        file = spec.sha256 or (os.path.realpath(spec.path), about.st_size, about.st_mtime_ns)
        engine = (C.llama_version().decode(), llama_cpp.__version__, spec.kv_type, spec.flash_attention)
        return repr((file, *engine))

    def _device(self, spec: ModelSpec) -> str:
        if spec.n_gpu_layers == 0 or not supports_gpu():
            return f"CPU, {spec.n_threads} thread{'s' if spec.n_threads > 1 else ''}"
        n_layers = int(C.llama_model_n_layer(self._model)) + 1  # the output layer counts as one
        n = n_layers if spec.n_gpu_layers < 0 else min(spec.n_gpu_layers, n_layers)
        experts = f", experts of {spec.n_cpu_experts} on the CPU" if spec.n_cpu_experts else ""
        return f"GPU, {n}/{n_layers} layers{experts}"

    def _read_vocabulary(self) -> None:
        vocab = self._vocab
        self._n_vocab = int(C.llama_vocab_n_tokens(vocab))
        self.eog = frozenset(token for token in range(self._n_vocab) if C.llama_vocab_is_eog(vocab, token))
        control = {token for token in range(self._n_vocab) if C.llama_vocab_is_control(vocab, token)}
        self.control: Mapping[int, str] = {t: self._text(t) for t in sorted(control | self.eog)}
        silent = frozenset(control - self.eog)
        self._vocabulary = Vocabulary(C, vocab, self._context, self._n_vocab, self.eog, silent)
        bos, eos = C.llama_vocab_bos(vocab), C.llama_vocab_eos(vocab)
        self.bos: int | None = bos if bos >= 0 and C.llama_vocab_get_add_bos(vocab) else None
        self.bos_text = self._text(bos) if bos >= 0 else ""
        self.eos_text = self._text(eos) if eos >= 0 else ""
        template = C.llama_model_chat_template(self._model, None)
        self.chat_template = template.decode("utf-8", "replace") if template else None

    def _text(self, token: int) -> str:
        return (C.llama_vocab_get_text(self._vocab, token) or b"").decode("utf-8", "replace")

    def _warm_up(self) -> None:
        """Compute one token before anyone waits: reads the weights in; a build that crashes crashes now."""
        self.decode([Chunk(0, 0, [max(0, C.llama_vocab_bos(self._vocab))], True)])
        C.llama_memory_clear(self._memory, True)


def supports_gpu() -> bool:
    """Return whether this build of llama.cpp can use a GPU that it sees."""
    return bool(C.llama_supports_gpu_offload())


def _load(spec: ModelSpec) -> int:
    params = C.llama_model_default_params()
    params.n_gpu_layers = spec.n_gpu_layers
    params.load_mode = C.LLAMA_LOAD_MODE_MMAP_MLOCK if spec.mlock else C.LLAMA_LOAD_MODE_MMAP
    # The arrays below are read while the model loads, no longer.
    if spec.devices:
        devices = ggml.handles(spec.devices)
        params.devices = ctypes.cast(devices, ctypes.c_void_p)
    if spec.tensor_split:
        n_most = int(C.llama_max_devices())
        split = (ctypes.c_float * n_most)(*spec.tensor_split[:n_most])
        params.tensor_split = ctypes.cast(split, ctypes.POINTER(ctypes.c_float))
    if spec.n_cpu_experts:
        overrides = ggml.experts_to_cpu(spec.n_cpu_experts)
        params.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)
    model = C.llama_model_load_from_file(spec.path.encode(errors="surrogateescape"), params)
    if not model:
        raise ModelLoadError(f"llama.cpp cannot load {spec.path}")
    return int(model)
