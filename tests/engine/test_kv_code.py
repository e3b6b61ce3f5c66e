"""The coding of states: made ones of every layout, and those of the real model."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from appliance.engine.kv_code import decode, encode
from appliance.engine.llama import Llama
from appliance.engine.model import Chunk, ModelSpec

F16, Q4_0, Q8_0, F32 = 1, 2, 8, 0
N_CELLS, WIDTH = 5, 64
TEXT = "The keeper of the lighthouse climbed the stairs, lit the lamp and wrote the hour into his book. " * 8

Rows = npt.NDArray[np.float16]


def rows(seed: int, n_cells: int = N_CELLS, width: int = WIDTH) -> Rows:
    return np.random.default_rng(seed).standard_normal((n_cells, width)).astype(np.float16)


def section(kind: int, data: Rows | bytes, n_cells: int = N_CELLS) -> bytes:
    packed = data if isinstance(data, bytes) else data.tobytes()
    return struct.pack("<iQ", kind, len(packed) // n_cells) + packed


def cache(*sections: bytes, n_cells: int = N_CELLS, v_trans: int = 0, n_streams: int = 1) -> bytes:
    cells = b"".join(struct.pack("<iIi", position, 1, 0) for position in range(n_cells))
    layers = struct.pack("<II", v_trans, len(sections) // 2)
    return struct.pack("<II", n_streams, n_cells) + cells + layers + b"".join(sections)


def state(*caches: bytes) -> bytes:
    return struct.pack("<Ii", 0xAF143CD8, 0) + b"".join(caches)


def of_rows(*each: Rows) -> bytes:
    return state(cache(*(section(F16, one, len(one)) for one in each), n_cells=len(each[0])))


def tail(data: bytes | memoryview, n_cells: int, width: int) -> Rows:
    """The rows at the end of a state: V of its last layer."""
    return np.frombuffer(bytes(data)[-2 * n_cells * width :], np.float16).reshape(n_cells, width)


def half_a_step(exact: Rows) -> npt.NDArray[np.float64]:
    """How far each value may be off: half of a 127th of its block's largest, and what f16 itself cannot tell."""
    most = np.abs(exact.astype(float)).reshape(-1, 32).max(axis=1)
    return np.repeat(most / 127 * 0.502 + most * 2.0**-11 + 2.0**-24, 32).reshape(exact.shape)


def test_f16_takes_half_and_is_close() -> None:
    original = of_rows(*(rows(seed, 50) for seed in range(6)))
    data = encode(original)
    decoded = bytes(decode(data))
    assert len(data) < 0.57 * len(original)
    assert len(decoded) == len(original)
    exact = tail(original, 50, WIDTH)
    error = np.abs(tail(decoded, 50, WIDTH).astype(float) - exact)
    assert (error <= half_a_step(exact)).all()
    assert error.max() > 0


def test_all_but_the_rows_is_byte_for_byte() -> None:
    original = bytearray(of_rows(*(rows(seed) for seed in range(4))))
    decoded = bytearray(decode(encode(bytes(original))))
    size = 2 * N_CELLS * WIDTH
    for data in (original, decoded):
        for n in range(4):
            end = len(data) - n * (size + 12)
            data[end - size : end] = bytes(size)
    assert decoded == original


ODD = rows(9, width=40)  # not a multiple of 32


@pytest.mark.parametrize(
    ("given", "is_smaller"),
    [
        (state(cache(section(F16, rows(1)), section(F16, rows(2)))), True),
        (state(cache(section(F16, rows(1)), section(F16, ODD))), True),
        (state(cache(section(F16, rows(1)), section(Q8_0, bytes(range(170))))), True),
        # two caches, as models with sliding windows have; one of them may hold nothing
        (state(*[cache(section(F16, rows(1)), section(F16, rows(2)))] * 2), True),
        (state(struct.pack("<II", 1, 0), cache(section(F16, rows(1)), section(F16, rows(2)))), True),
        (state(cache(section(F16, rows(1)), section(F16, rows(2))), struct.pack("<II", 1, 0)), True),
        (state(cache(section(F16, ODD), section(F16, ODD))), False),
        (state(cache(section(Q8_0, bytes(range(170))), section(Q4_0, bytes(range(90))))), False),
        (state(cache(section(F32, rows(1)), section(F16, rows(2)))), False),
        (state(cache(section(F16, rows(1)), section(F16, rows(2)), v_trans=1)), False),
        (state(cache(section(F16, rows(1)), section(F16, rows(2)), n_streams=2)), False),
        (state(cache(section(F16, rows(1)), section(F16, rows(2)))) + b"\1", False),
        (state(cache(section(F16, rows(1)), section(F16, rows(2))))[:-1], False),
        (state(cache(section(F16, rows(1)), section(F16, rows(2))))[:60], False),
        (b"\0" + state(cache(section(F16, rows(1)), section(F16, rows(2))))[1:], False),
        (state(struct.pack("<II", 1, 0)), False),
        (state(struct.pack("<II", 1, 2**31)), False),
        (state(), False),
        (b"[1, 2, 3]", False),
        (b"", False),
    ],
)  # fmt: skip
def test_what_is_not_known_to_the_byte_is_kept_as_it_is(given: bytes, is_smaller: bool) -> None:
    data = encode(given)
    assert (len(data) < len(given)) == is_smaller
    decoded = bytes(decode(data))
    assert len(decoded) == len(given)
    if not is_smaller:
        assert decoded == given


def test_rows_beside_those_of_odd_length_stay_what_they_are() -> None:
    given = state(cache(section(F16, rows(1)), section(F16, ODD)))
    assert (tail(decode(encode(given)), N_CELLS, 40) == ODD).all()


@pytest.mark.parametrize(
    "largest", [65504.0, 65472.0, 65000.0, 60000.0, 1000.0, 1.0, 1e-3, 1e-5, 1e-6, 6e-8, 0.0]
)
@pytest.mark.parametrize("sign", [1, -1])
def test_outliers_stay_finite_and_the_least_are_not_lost(largest: float, sign: int) -> None:
    exact = rows(3)
    exact /= np.abs(exact).max()
    exact = (exact.astype(float) * largest).astype(np.float16)
    exact[:, ::32] = sign * np.float16(largest)
    decoded = tail(decode(encode(of_rows(exact, exact))), N_CELLS, WIDTH)
    assert np.isfinite(decoded).all()
    error = np.abs(decoded.astype(float) - exact.astype(float))
    # where a scale is less than f16 can tell apart, a step is what it can
    assert (error <= half_a_step(exact) + (2.0**-24 if largest < 1e-2 else 0)).all()


@pytest.mark.parametrize("worst", [np.inf, -np.inf, np.nan])
def test_state_with_what_is_not_finite_is_kept_as_it_is(worst: float) -> None:
    exact = rows(4)
    exact[2, 3] = worst
    given = of_rows(rows(1), exact)
    assert bytes(decode(encode(given))) == given


def test_every_value_of_f16_is_given_back_where_its_block_is_alone() -> None:
    """One value beside zeros is 127 steps of its scale: what is off is off by the rounding of that scale.

    127 of the least that f16 can tell apart, where the scale is so small; else a part of the value.
    """
    finite = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    exact = np.zeros((len(finite), 32), np.float16)
    exact[:, 7] = finite
    decoded = tail(decode(encode(of_rows(exact, -exact))), len(finite), 32)
    assert not np.delete(decoded, 7, axis=1).any()
    error = np.abs(-decoded[:, 7].astype(float) - finite.astype(float))
    assert (error <= finite.astype(float) * 2.0**-9 + 127 * 2.0**-24).all()


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda data: b"\7" + data[1:],
        lambda data: data[:-1],
        lambda data: data[:9],
        lambda data: data[:30],
        lambda data: data + b"x",
        lambda data: data[:9] + b"\xff\xff" + data[11:],
        lambda data: data[:13] + b"\xff" * 8 + data[21:],
    ],
)
def test_what_encode_never_made_is_refused(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ValueError, match="no kept state"):
        decode(damage(encode(of_rows(rows(1), rows(2)))))


# --- the real model ---


def loaded(models_folder: Path, kv_type: str, flash_attention: str = "auto") -> tuple[Llama, list[int]]:
    """A model of two slots whose first holds 100 tokens."""
    [path] = (models_folder / "smollm2-135m-instruct").glob("*.gguf")
    spec = ModelSpec(str(path), 512, 2, 128, 2, 0, kv_type=kv_type, flash_attention=flash_attention)
    llama = Llama(spec)
    tokens = llama.tokenise(TEXT, False)[:100]
    llama.decode([Chunk(0, 0, tokens, False)])
    return llama, tokens


def next_logprobs(llama: Llama, slot: int, n: int, token: int) -> dict[bytes, float]:
    llama.decode([Chunk(slot, n, [token], True)])
    return {one.piece: one.logprob for one in llama.logprob(0, token, 20).top}


def test_real_state_is_taken_back_and_says_nearly_the_same(models_folder: Path) -> None:
    llama, tokens = loaded(models_folder, "f16")
    original = llama.state(0)
    data = encode(original)
    assert len(data) / len(original) == pytest.approx(34 / 64, abs=0.01)

    assert llama.set_state(1, decode(data))
    assert llama.seq_pos_max(1) == len(tokens) - 1
    exact = next_logprobs(llama, 0, len(tokens), tokens[7])
    coded = next_logprobs(llama, 1, len(tokens), tokens[7])
    likely = list(exact)[:5]
    assert likely[0] == next(iter(coded))
    assert [coded[piece] for piece in likely] == pytest.approx([exact[piece] for piece in likely], abs=0.2)


@pytest.mark.parametrize(("kv_type", "flash_attention"), [("q8_0", "auto"), ("f16", "off")])
def test_real_state_of_another_kind_is_taken_back_as_it_was(
    models_folder: Path, kv_type: str, flash_attention: str
) -> None:
    llama, tokens = loaded(models_folder, kv_type, flash_attention)
    original = llama.state(0)
    decoded = decode(encode(original))
    assert decoded == original
    assert llama.set_state(1, decoded)
    assert llama.seq_pos_max(1) == len(tokens) - 1
