"""A chain of llama.cpp's samplers for one sequence, within a grammar if there is one.

Everything runs over the vocabulary in C. llama.py hands the binding over: this file does not import it.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.engine.sampling import Stage
from appliance.errors import SamplingError

DRY_BREAKERS = (b"\n", b":", b'"', b"*")  # a repeated phrase ends there; llama.cpp's own default
# A grammar that can be read in many ways may take for ever over one long token, in C, where nothing can stop it but the
# end of the process (SIGPROF's own way): the parent starts another. CPU time of the process, so waiting does not count.
MAX_CPU_S = 5.0
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])  # struct llama_token_data


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What samplers need of a loaded model.

    Attributes:
        binding: llama_cpp's module of C functions.
        vocab, context: its pointers.
        eog: tokens that end an answer.
        silent: control tokens that end none: they have a text for grammars, and none for people.
    """

    binding: Any
    vocab: int
    context: int
    n_vocab: int
    eog: frozenset[int]
    silent: frozenset[int]

    def logits(self, index: int) -> npt.NDArray[np.float32]:
        """Return the logits after batch position `index`: float32, [n_vocab], valid until the next step."""
        row = self.binding.llama_get_logits_ith(self.context, index)
        return np.ctypeslib.as_array(row, (self.n_vocab,))


class LlamaSampler:
    """See `Sampler`.

    Raises:
        SamplingError: llama.cpp cannot follow the grammar; a biased token does not exist.
    """

    def __init__(self, vocabulary: Vocabulary, stages: Sequence[Stage], grammar: str = "") -> None:
        self._vocabulary = vocabulary
        self._binding = binding = vocabulary.binding
        self._grammar: _Grammar | None = None
        self._chain = binding.llama_sampler_chain_init(binding.llama_sampler_chain_default_params())
        try:
            for stage in stages:
                link = _STAGES[stage.name](vocabulary, *stage.arguments)
                binding.llama_sampler_chain_add(self._chain, link)
            self._grammar = _Grammar(vocabulary, grammar) if grammar else None
        except SamplingError:
            self.close()
            raise

    def sample(self, index: int) -> int | None:
        """Return the token after batch position `index`; None: the grammar accepts none any more."""
        if self._grammar is None:
            return int(self._binding.llama_sampler_sample(self._chain, self._vocabulary.context, index))
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
        try:
            return self._sample_within(self._grammar, index)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _sample_within(self, grammar: _Grammar, index: int) -> int | None:
        token = self._choose(candidates := _Candidates(self._vocabulary, index))
        if not grammar.accepts(token):
            # The grammar looks at the whole vocabulary only when the model's own choice is none of its.
            candidates = _Candidates(self._vocabulary, index)
            if not grammar.narrow(candidates):
                return None
            token = self._choose(candidates)
        self._binding.llama_sampler_accept(self._chain, token)
        grammar.follow(token)
        return token

    def close(self) -> None:
        """Free the chain and the grammar."""
        self._binding.llama_sampler_free(self._chain)
        if self._grammar is not None:
            self._grammar.close()

    def _choose(self, candidates: _Candidates) -> int:
        self._binding.llama_sampler_apply(self._chain, ctypes.byref(candidates.struct))
        return int(candidates.struct.data[candidates.struct.selected].id)


class _Candidates:
    """Tokens and their logits, as samplers take them: all of the vocabulary after a batch position."""

    def __init__(self, vocabulary: Vocabulary, index: int) -> None:
        self.array = np.empty(vocabulary.n_vocab, _CANDIDATE)
        self.array["id"] = np.arange(vocabulary.n_vocab, dtype=np.int32)
        self.array["logit"] = vocabulary.logits(index)
        self.array["p"] = 0
        self.struct = _struct(vocabulary.binding, self.array)


class _Grammar:
    """llama.cpp's grammar sampler, fed so that it never meets what it answers by ending the process.

    It throws, through C, at a token that it would have refused, and aborts at an end that came too early.
    """

    def __init__(self, vocabulary: Vocabulary, text: str) -> None:
        self._vocabulary = vocabulary
        self._binding = vocabulary.binding
        self._silent = np.array(sorted(vocabulary.silent), np.int32)
        self._sampler = self._binding.llama_sampler_init_grammar(vocabulary.vocab, text.encode(), b"root")
        if not self._sampler:
            raise SamplingError("grammar: llama.cpp cannot follow it; the daemon's log has its reason")

    def accepts(self, token: int) -> bool:
        if token in self._vocabulary.silent:
            return False
        one = np.zeros(1, _CANDIDATE)
        one["id"] = token
        self._apply(one)
        return bool(np.isfinite(one["logit"][0]))

    def narrow(self, candidates: _Candidates) -> bool:
        """Take out what the grammar does not accept; return whether anything is left."""
        candidates.array["logit"][self._silent] = -np.inf
        self._apply(candidates.array)
        return bool(np.isfinite(candidates.array["logit"]).any())

    def follow(self, token: int) -> None:
        if token not in self._vocabulary.eog:
            self._binding.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        self._binding.llama_sampler_free(self._sampler)

    def _apply(self, array: npt.NDArray[np.void]) -> None:
        self._binding.llama_sampler_apply(self._sampler, ctypes.byref(_struct(self._binding, array)))


def _struct(binding: Any, array: npt.NDArray[np.void]) -> Any:
    data = ctypes.cast(array.ctypes.data, binding.llama_token_data_p)
    return binding.llama_token_data_array(data=data, size=len(array), selected=-1, sorted=False)


def _logit_bias(vocabulary: Vocabulary, *pairs: float) -> Any:
    binding = vocabulary.binding
    biases = (binding.llama_logit_bias * (len(pairs) // 2))()
    for at, (token, bias) in enumerate(zip(pairs[::2], pairs[1::2], strict=True)):
        if not 0 <= token < vocabulary.n_vocab:
            raise SamplingError(f"logit_bias: token {token:.0f}, the model has 0 to {vocabulary.n_vocab - 1}")
        biases[at].token, biases[at].bias = int(token), bias
    return binding.llama_sampler_init_logit_bias(vocabulary.n_vocab, len(biases), biases)


def _dry(vocabulary: Vocabulary, multiplier: float, base: float, allowed: float, last_n: float) -> Any:
    breakers = (ctypes.c_char_p * len(DRY_BREAKERS))(*DRY_BREAKERS)
    return vocabulary.binding.llama_sampler_init_dry(
        vocabulary.vocab, multiplier, base, int(allowed), int(last_n), breakers, len(breakers)
    )


_STAGES: Mapping[str, Callable[..., Any]] = {
    "logit_bias": _logit_bias,
    "penalties": lambda v, n, *rates: v.binding.llama_sampler_init_penalties(v.n_vocab, int(n), *rates),
    "dry": _dry,
    "greedy": lambda v: v.binding.llama_sampler_init_greedy(),
    "top_k": lambda v, k: v.binding.llama_sampler_init_top_k(int(k)),
    "top_p": lambda v, p, keep: v.binding.llama_sampler_init_top_p(p, int(keep)),
    "min_p": lambda v, p, keep: v.binding.llama_sampler_init_min_p(p, int(keep)),
    "temp": lambda v, temperature: v.binding.llama_sampler_init_temp(temperature),
    "dist": lambda v, seed: v.binding.llama_sampler_init_dist(int(seed)),
}
