"""What goes to which GPU: sizes and free memory in, a placement out."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.engine.fit import CPU_ONLY, Device, Need, Placement, Wish, cards, fit, room_on
from models.gguf_weights import read_weights
from tests.engine.made_gguf import MIB, write_gguf

GIB = 1024 * MIB


def need(tmp_path: Path, n_ctx: int = 1024, kv_type: str = "f16", experts_mib: int = 0) -> Need:
    """Four layers of 100 MiB (and experts), 50 MiB before and after; KV cache of 4 MiB a layer in f16."""
    file = write_gguf(tmp_path / "m.gguf", experts_mib=experts_mib)
    return Need(read_weights(file), n_ctx, n_ubatch=512, n_outputs=16, kv_type=kv_type, flash_attention=True)


def card(free_mib: int, index: int = 1, kind: str = "gpu") -> Device:
    """A card whose margin is the least: free of all else."""
    return Device(index, f"CUDA{index - 1}", "a card", kind, free_mib * MIB, free_mib * MIB)  # type: ignore[arg-type]


def with_room(wanted: Need, mib: int, index: int = 1) -> Device:
    """A card that takes exactly so many MiB of layers."""
    free = mib * MIB + wanted.compute_bytes
    return Device(index, f"CUDA{index - 1}", "a card", "gpu", free, total_bytes=0)


def test_sizes_are_read_from_the_file(tmp_path: Path) -> None:
    wanted = need(tmp_path, experts_mib=300)
    assert wanted.weights.layers == (100 * MIB,) * 4
    assert wanted.weights.experts == (300 * MIB,) * 4
    assert (wanted.weights.input, wanted.weights.output) == (50 * MIB, 50 * MIB)
    assert wanted.kv_total == 4 * 4 * MIB
    assert wanted.weights.total == 1700 * MIB


def test_a_card_with_room_takes_every_layer_and_the_output(tmp_path: Path) -> None:
    assert fit(need(tmp_path), [card(8192)], Wish()) == Placement(5, (1,), (5.0,))


@pytest.mark.parametrize(
    ("room_mib", "n_layers"),
    [(466, 5), (465, 4), (362, 4), (361, 3), (154, 2), (153, 1), (50, 1), (49, 0)],
)
def test_as_many_layers_as_fit_the_output_first(tmp_path: Path, room_mib: int, n_layers: int) -> None:
    wanted = need(tmp_path)
    placed = fit(wanted, [with_room(wanted, room_mib)], Wish(kv="gpu"))
    assert placed.n_gpu_layers == n_layers


def test_a_smaller_kv_type_leaves_room_for_a_layer_more(tmp_path: Path) -> None:
    f16, q4 = need(tmp_path, n_ctx=65536), need(tmp_path, n_ctx=65536, kv_type="q4_0")
    room = with_room(f16, 50 + 2 * 356 + 300)
    assert fit(f16, [room], Wish(kv="gpu")).n_gpu_layers == 3
    assert fit(q4, [room], Wish(kv="gpu")).n_gpu_layers == 5


def test_margin_and_compute_buffer_stay_free(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    assert room_on(card(800), wanted) == 700 * MIB - wanted.compute_bytes
    assert room_on(card(80 * 1024), wanted) == 79 * GIB - wanted.compute_bytes


def test_uneven_cards_are_filled_in_proportion(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    placed = fit(wanted, [with_room(wanted, 330, 1), with_room(wanted, 165, 2)], Wish())
    assert (placed.n_gpu_layers, placed.devices, placed.tensor_split) == (5, (1, 2), (3.0, 2.0))


def test_a_model_that_fits_one_card_is_not_split(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    two = [with_room(wanted, 470, 1), with_room(wanted, 2000, 2)]
    assert fit(wanted, two, Wish()).devices == (2,)
    assert fit(wanted, two, Wish(split="all")).devices == (1, 2)
    assert fit(wanted, [two[0], with_room(wanted, 100, 2)], Wish(split="one")).devices == (1,)


def test_a_full_card_takes_nothing_and_the_other_the_rest(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    assert fit(wanted, [with_room(wanted, -10, 1), with_room(wanted, 200, 2)], Wish()).devices == (2,)


def test_experts_leave_the_gpu_before_layers_do(tmp_path: Path) -> None:
    wanted = need(tmp_path, experts_mib=300)
    assert fit(wanted, [with_room(wanted, 1666)], Wish()).n_cpu_experts == 0
    assert fit(wanted, [with_room(wanted, 1665)], Wish()) == Placement(5, (1,), (5.0,), n_cpu_experts=1)
    assert fit(wanted, [with_room(wanted, 466)], Wish()) == Placement(5, (1,), (5.0,), n_cpu_experts=4)
    placed = fit(wanted, [with_room(wanted, 465)], Wish(kv="gpu"))
    assert (placed.n_gpu_layers, placed.n_cpu_experts) == (4, 4)


def test_the_kv_cache_goes_where_it_is_sent(tmp_path: Path) -> None:
    wanted = need(tmp_path, n_ctx=65536)  # 256 MiB a layer: more than its weights
    room = [with_room(wanted, 460)]
    assert fit(wanted, room, Wish(kv="gpu")) == Placement(2, (1,), (2.0,))
    assert fit(wanted, room, Wish(kv="cpu")) == Placement(5, (1,), (5.0,), kv_on_gpu=False)
    assert fit(wanted, room, Wish(kv="auto")) == Placement(2, (1,), (2.0,))


def test_fewer_layers_on_a_lower_rung(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    assert fit(wanted, [card(8192)], Wish(), share=0.5) == Placement(2, (1,), (2.0,))
    assert fit(wanted, [with_room(wanted, 50)], Wish(), share=0.5) == CPU_ONLY


def test_a_number_asked_for_is_obeyed_even_if_it_seems_too_large(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    assert fit(wanted, [card(8192)], Wish(n_gpu_layers=3)).n_gpu_layers == 3
    assert fit(wanted, [card(8192)], Wish(n_gpu_layers=99)).n_gpu_layers == 5
    assert fit(wanted, [with_room(wanted, 60)], Wish(n_gpu_layers=4)).n_gpu_layers == 4
    assert fit(wanted, [card(8192)], Wish(n_gpu_layers=0)) == CPU_ONLY


def test_a_shared_gpu_counts_only_where_there_is_no_card() -> None:
    cpu, shared, own = card(1, 0, "cpu"), card(8192, 1, "igpu"), card(8192, 2)
    assert cards([cpu, shared, own]) == [own]
    assert cards([cpu, shared]) == [shared]
    assert cards([cpu]) == []


def test_main_memory_keeps_what_the_gpu_does_not_take(tmp_path: Path) -> None:
    wanted = need(tmp_path)
    assert wanted.host_bytes(CPU_ONLY) == 516 * MIB + wanted.compute_bytes
    assert wanted.host_bytes(Placement(2, kv_on_gpu=True)) == (516 - 154) * MIB + wanted.compute_bytes
    assert wanted.host_bytes(Placement(5, kv_on_gpu=False)) == (50 + 16) * MIB + wanted.compute_bytes
