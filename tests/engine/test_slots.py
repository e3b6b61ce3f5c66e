from __future__ import annotations

import json
import random

import pytest

from appliance.engine.model import Chunk, Outcome
from appliance.engine.slots import Slot, Slots, common_prefix
from tests.engine.scripted_model import ScriptedModel


def cache(n_slots: int = 4, n_cells: int = 100) -> tuple[Slots, ScriptedModel]:
    model = ScriptedModel(n_ctx=n_cells, n_slots=n_slots)
    return Slots(n_slots, n_cells, model), model


def compute(slots: Slots, model: ScriptedModel, slot: Slot, tokens: list[int]) -> None:
    assert model.decode([Chunk(slot.index, len(slot.tokens), tokens, True)]) is Outcome.DONE
    slots.extend(slot, tokens)


def hold(slots: Slots, model: ScriptedModel, tokens: list[int], n_reserved: int | None = None) -> Slot:
    """Run a sequence of these tokens; it stays busy."""
    slot = slots.place(tokens, n_reserved or len(tokens))
    assert slot is not None
    compute(slots, model, slot, tokens[len(slot.tokens) :])
    return slot


def agree(slots: Slots, model: ScriptedModel) -> bool:
    """Whether slots and cache know of the same tokens and the same number of cells."""
    held = {slot.index: slot.tokens for slot in slots.slots}
    return slots.n_used == model.n_used and held == {
        index: [token for _, token in lane] for index, lane in model.lanes.items()
    }


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [([], [], 0), ([1], [2], 0), ([1, 2], [1, 2], 2), ([1, 2, 3], [1, 2, 4], 2), ([1, 2, 3], [1, 2], 2)],
)
def test_common_prefix(a: list[int], b: list[int], expected: int) -> None:
    assert common_prefix(a, b) == expected


def test_follow_up_takes_its_own_slot_with_all_it_holds() -> None:
    slots, model = cache()
    first = hold(slots, model, [1, 2, 3, 4])
    slots.release(first)
    again = slots.place([1, 2, 3, 4, 5, 6], 8)
    assert again is first
    assert again.tokens == [1, 2, 3, 4]


def test_last_prompt_token_is_always_computed() -> None:
    slots, model = cache()
    slots.release(hold(slots, model, [1, 2, 3]))
    slot = slots.place([1, 2, 3], 5)
    assert slot is not None
    assert slot.tokens == [1, 2]
    assert agree(slots, model)


def test_prefix_in_a_busy_slot_is_shared_and_costs_no_cells() -> None:
    slots, model = cache(n_cells=12)
    hold(slots, model, [1, 2, 3, 4, 5, 6], n_reserved=8)
    other = slots.place([1, 2, 3, 4, 9, 9], 8)  # 8 cells promised, 4 of the next 8 shared: 12 in all
    assert other is not None
    assert other.tokens == [1, 2, 3, 4]
    assert slots.n_used == model.n_used == 6
    compute(slots, model, other, [9, 9])
    assert agree(slots, model)


def test_short_common_start_is_copied_and_the_long_conversation_kept() -> None:
    slots, model = cache()
    long = hold(slots, model, [1, 2, 3, 4, 5, 6, 7, 8])
    slots.release(long)
    other = hold(slots, model, [1, 2, 9])
    assert other is not long
    assert long.tokens == [1, 2, 3, 4, 5, 6, 7, 8]
    assert agree(slots, model)


def test_oldest_idle_slot_is_dropped_first_and_only_when_its_cells_are_needed() -> None:
    slots, model = cache(n_cells=20)
    for start in (10, 20, 30):
        slots.release(hold(slots, model, [start, start + 1, start + 2, start + 3, start + 4]))
    hold(slots, model, [40, 41, 42, 43, 44, 45])  # 15 held + 6 > 20
    assert [slot.tokens[:1] for slot in slots.slots] == [[], [20], [30], [40]]
    assert agree(slots, model)


def test_request_waits_when_running_ones_were_promised_the_cells() -> None:
    slots, model = cache(n_cells=20)
    running = hold(slots, model, [1, 2], n_reserved=15)
    assert slots.place([5, 6], 6) is None
    assert agree(slots, model)
    slots.release(running)
    assert slots.place([5, 6], 6) is not None


def test_request_waits_when_every_slot_is_busy() -> None:
    slots, model = cache(n_slots=1)
    hold(slots, model, [1, 2])
    assert slots.place([1, 2, 3], 4) is None


def test_slot_catches_up_with_what_another_has_computed_since() -> None:
    slots, model = cache()
    prompt = [1, 2, 3, 4, 5, 6, 7, 8]
    first, second = slots.place(prompt, 10), slots.place([*prompt[:6], 9, 9], 10)
    assert first is not None
    assert second is not None
    compute(slots, model, second, [1, 2])
    assert slots.catch_up(first, prompt) == 2
    compute(slots, model, first, [3, 4, 5, 6, 7])
    assert slots.catch_up(second, [*prompt[:6], 9, 9]) == 4
    assert slots.catch_up(second, [*prompt[:6], 9, 9]) == 0
    assert second.tokens == [1, 2, 3, 4, 5, 6]
    assert slots.n_used == model.n_used == 7
    assert agree(slots, model)


def test_catching_up_leaves_the_last_token_of_a_prompt_to_compute() -> None:
    slots, model = cache()
    hold(slots, model, [1, 2, 3, 4])
    slot = slots.place([9, 9], 4)
    assert slot is not None
    assert slots.catch_up(slot, [1, 2, 3, 4]) == 3


def test_slot_that_the_cache_tells_otherwise_of_is_found() -> None:
    slots, model = cache()
    first, second = hold(slots, model, [1, 2, 3]), hold(slots, model, [5, 6, 7])
    assert slots.disagreeing() == []
    model.seq_rm(second.index, 2, -1)
    assert slots.disagreeing() == [second]
    slots.truncate(second, 0)
    assert first.tokens == [1, 2, 3]
    assert agree(slots, model)


def test_saved_state_fills_a_slot_and_one_that_does_not_fit_leaves_it_empty() -> None:
    slots, model = cache(n_cells=20)
    old = hold(slots, model, [1, 2, 3, 4, 5])
    state = model.state(old.index)
    new = slots.place([9, 9, 9], 8)
    assert new is not None
    assert slots.has_room(new, 15)
    assert not slots.has_room(new, 16)
    assert slots.fill(new, [1, 2, 3, 4, 5], state)
    assert agree(slots, model)
    slots.truncate(new, 2)
    assert not slots.fill(new, [0] * 30, json.dumps({"first": 0, "tokens": [0] * 30}).encode())
    assert new.tokens == []
    assert agree(slots, model)


def test_what_others_began_with_counts() -> None:
    slots, model = cache()
    slots.release(hold(slots, model, [1, 2, 3, 4]))
    slots.release(hold(slots, model, [7, 8, 9]))
    for end in (5, 6):
        slots.release(hold(slots, model, [1, 2, 3, 4, end]))
    hits = {tuple(slot.tokens): slot.n_hits for slot in slots.slots}
    assert hits[(7, 8, 9)] == 0
    assert max(n for tokens, n in hits.items() if tokens[:4] == (1, 2, 3, 4)) == 2


def test_broken_off_step_is_read_back_from_the_cache() -> None:
    slots, model = cache()
    slot = hold(slots, model, [1, 2, 3], n_reserved=10)
    model.decode([Chunk(slot.index, 3, [4, 5], True)])  # two of four got in
    slots.reread(slot, [4, 5, 6, 7])
    assert slot.tokens == [1, 2, 3, 4, 5]
    assert agree(slots, model)


def test_model_that_cannot_trim_shares_only_whole_slots() -> None:
    model = ScriptedModel()
    model.can_trim = False
    slots = Slots(2, 100, model, can_trim=False)
    slots.release(hold(slots, model, [1, 2, 3, 4]))
    whole = slots.place([1, 2, 3, 4, 5], 6)
    assert whole is not None
    assert whole.tokens == [1, 2, 3, 4]
    slots.release(whole)
    other = slots.place([1, 2, 9], 6)
    assert other is not None
    assert other.tokens == []


def join(slots: Slots, model: ScriptedModel, slot: Slot, tokens: list[int]) -> None:
    """Put tokens that were computed elsewhere behind what a slot holds."""
    spare = slots.spare()
    assert spare is not None
    assert model.set_state(spare.index, json.dumps({"first": len(slot.tokens), "tokens": tokens}).encode())
    n_before = len(slot.tokens)
    model.seq_cp(spare.index, slot.index, n_before + len(tokens), n_before)
    slots.graft(slot, tokens)
    model.seq_rm(spare.index, -1, -1)


def test_joined_tokens_and_those_behind_them_are_for_who_takes_them_alone() -> None:
    slots, model = cache()
    slot = hold(slots, model, [1, 2, 3], n_reserved=10)
    join(slots, model, slot, [4, 5])
    compute(slots, model, slot, [6])
    assert (slot.tokens, slot.n_exact) == ([1, 2, 3, 4, 5, 6], 3)
    assert agree(slots, model)
    exact = slots.place([1, 2, 3, 4, 5, 6, 7], 9)
    assert exact is not None
    assert (exact.tokens, exact.n_exact) == ([1, 2, 3], 3)
    other = slots.place([1, 2, 3, 4, 5, 6, 7], 9, exact=False)
    assert other is not None
    assert (other.tokens, other.n_exact) == ([1, 2, 3, 4, 5, 6], 3)
    assert slots.n_used == model.n_used == 6
    assert agree(slots, model)


def test_slot_whose_joined_tokens_are_gone_is_exact_again() -> None:
    slots, model = cache()
    slot = hold(slots, model, [1, 2, 3], n_reserved=10)
    join(slots, model, slot, [4, 5])
    slots.truncate(slot, 2)
    compute(slots, model, slot, [7])
    assert (slot.tokens, slot.n_exact) == ([1, 2, 7], 3)


def test_catching_up_takes_joined_tokens_only_where_they_will_do() -> None:
    slots, model = cache()
    ahead, prompt = hold(slots, model, [1, 2, 3], n_reserved=10), [1, 2, 3, 4, 5, 6, 7]
    join(slots, model, ahead, [4, 5, 6])
    for exact, expected in ((True, 3), (False, 6)):
        slot = slots.place([9], 10)
        assert slot is not None
        assert slots.catch_up(slot, prompt, exact=exact) == expected
        assert slot.n_exact == 3
    assert agree(slots, model)


def test_spare_slot_is_an_empty_one_or_a_copy_or_the_oldest() -> None:
    slots, model = cache(n_slots=5)
    oldest = hold(slots, model, [1, 2, 3, 4])
    begun = hold(slots, model, [7, 8, 9])
    same = hold(slots, model, [7, 8, 6, 6])
    for slot in (oldest, begun, same):
        slots.release(slot)
    assert slots.spare() not in (oldest, begun, same)
    copy = slots.place([7, 8, 6, 5], 6)
    assert copy is not None
    assert copy.tokens == [7, 8, 6]
    slots.release(copy)
    last = hold(slots, model, [5, 5, 5])
    assert slots.spare() is copy, "others hold its cells as well"
    slots.release(last)
    full = hold(slots, model, [3, 3, 3])
    slots.release(full)
    assert full is copy
    assert slots.spare() is oldest
    assert agree(slots, model)


def test_no_slot_is_spare_while_all_are_busy() -> None:
    slots, model = cache(n_slots=2)
    for start in (1, 5):
        hold(slots, model, [start])
    assert slots.spare() is None


@pytest.mark.parametrize("seed", range(10))
def test_cells_are_never_overdrawn_nor_lost_on_a_random_walk(seed: int) -> None:
    chance = random.Random(seed)
    slots, model = cache(n_slots=6, n_cells=60)
    busy: list[tuple[Slot, list[int]]] = []
    n_shared = 0
    for _ in range(300):
        prompt = [chance.choice((1, 2)) for _ in range(chance.randint(1, 20))]
        exact = chance.random() < 0.5
        n_reserved = len(prompt) + chance.randint(1, 10)
        if chance.random() < 0.5 and (slot := slots.place(prompt, n_reserved, exact=exact)) is not None:
            assert slot.n_exact == len(slot.tokens) or not exact
            assert slot.tokens == prompt[: len(slot.tokens)]
            n_shared += len(slot.tokens)
            left = prompt[len(slot.tokens) :] + [3] * (n_reserved - len(prompt))
            busy.append((slot, left))
        for slot, left in busy:
            chunk = left[: chance.randint(0, 4)]
            if chunk and chance.random() < 0.2 and any(other.is_idle for other in slots.slots):
                join(slots, model, slot, chunk)
                del left[: len(chunk)]
            elif chunk:
                compute(slots, model, slot, chunk)  # fails if the cache has no room
                del left[: len(chunk)]
        for entry in [entry for entry in busy if not entry[1] or chance.random() < 0.05]:
            slots.release(entry[0])
            busy.remove(entry)
        assert agree(slots, model)
        assert slots.n_used <= 60
        assert all(slot.n_exact <= len(slot.tokens) for slot in slots.slots)
    assert n_shared > 100
