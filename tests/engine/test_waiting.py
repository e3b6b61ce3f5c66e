from __future__ import annotations

from appliance.engine.sequence import Sequence
from appliance.engine.waiting import Waiting


def queue(*users: str) -> tuple[Waiting, list[Sequence]]:
    waiting = Waiting()
    sequences = [Sequence(number, user, [1], 1) for number, user in enumerate(users)]
    for sequence in sequences:
        waiting.add(sequence)
    return waiting, sequences


def test_users_take_turns_and_keep_their_own_order() -> None:
    waiting, _ = queue("ann", "ann", "ann", "bob", "cem", "bob")
    expected = [waiting_one.id for waiting_one in waiting.order()]
    assert expected == [0, 3, 4, 1, 5, 2]
    assert [waiting.pop().id for _ in range(6)] == expected
    assert len(waiting) == 0


def test_user_who_was_just_served_comes_after_those_who_were_not() -> None:
    waiting, _ = queue("ann", "bob")
    waiting.pop()
    waiting.add(Sequence(9, "ann", [1], 1))
    assert [sequence.user for sequence in waiting.order()] == ["bob", "ann"]


def test_removed_request_is_forgotten_and_unknown_one_is_no_harm() -> None:
    waiting, (first, second, third) = queue("ann", "bob", "ann")
    assert waiting.remove(first)
    assert not waiting.remove(first)
    assert waiting.order() == [third, second]
    assert waiting.remove(third)
    assert waiting.order() == [second]
    assert waiting.first() is second
    assert waiting.remove(second)
    assert waiting.first() is None
