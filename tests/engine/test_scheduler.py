from __future__ import annotations

import random

import pytest

from appliance.engine.lookup import Lookup
from appliance.engine.pace import MIN_CHUNK
from appliance.engine.scheduler import Limits, Scheduler, Work
from appliance.engine.sequence import Sequence
from appliance.errors import EngineBusyError, PromptTooLongError


def limits(**changes: int) -> Limits:
    defaults = {
        "max_sequences": 4,
        "max_waiting": 8,
        "max_context": 1000,
        "n_batch": 64,
        "step_target_ms": 150,
    }
    return Limits(**(defaults | changes))


def sequence(number: int, n_prompt: int, n_done: int = 0, max_tokens: int = 10, user: str = "") -> Sequence:
    return Sequence(number, user, [0] * n_prompt, max_tokens, n_done=n_done)


def anywhere(_: Sequence) -> bool:
    return True


def running(scheduler: Scheduler, *sequences: Sequence) -> None:
    for one in sequences:
        scheduler.add(one)
    scheduler.admit(anywhere)


def shares(work: list[Work]) -> list[tuple[int, int, bool]]:
    return [(item.sequence.id, item.n_tokens, item.is_decode) for item in work]


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        ([], []),
        # Nobody reads: prompts take the whole batch.
        ([(1, 20, 0)], [(1, 20, False)]),
        ([(1, 100, 0)], [(1, 64, False)]),
        ([(1, 100, 64)], [(1, 36, False)]),
        ([(1, 40, 0), (2, 40, 0), (3, 40, 0)], [(1, 40, False), (2, 24, False)]),
        # The one that is done soonest comes first, but a quarter is the oldest's.
        ([(1, 400, 0), (2, 20, 0), (3, 90, 60)], [(1, 16, False), (2, 20, False), (3, 28, False)]),
        ([(1, 400, 0), (2, 20, 0)], [(1, 44, False), (2, 20, False)]),
        ([(1, 400, 395), (2, 400, 0)], [(1, 5, False), (2, 59, False)]),
        # Someone reads: the decode comes first, and the step takes 25 tokens in all.
        ([(1, 100, 0), (2, 10, 10)], [(2, 1, True), (1, 24, False)]),
        ([(1, 20, 0), (2, 10, 10), (3, 30, 0)], [(2, 1, True), (1, 20, False), (3, 4, False)]),
        ([(1, 10, 10), (2, 10, 12)], [(1, 1, True), (2, 1, True)]),
    ],
)
def test_decode_runs_before_prefill_and_the_rest_of_the_step_is_filled(
    sequences: list[tuple[int, int, int]], expected: list[tuple[int, int, bool]]
) -> None:
    scheduler = Scheduler(limits())
    running(scheduler, *[sequence(*numbers) for numbers in sequences])
    assert shares(scheduler.schedule()) == expected


def test_slow_steps_shrink_prompt_chunks_while_someone_reads_but_not_otherwise() -> None:
    scheduler = Scheduler(limits())
    reader, newcomer = sequence(1, 10, n_done=10), sequence(2, 200)
    running(scheduler, reader, newcomer)
    for _ in range(5):
        scheduler.record(scheduler.schedule(), seconds=3.0)
    assert shares(scheduler.schedule()) == [(1, 1, True), (2, MIN_CHUNK, False)]
    scheduler.remove(reader)
    assert shares(scheduler.schedule()) == [(2, 64, False)]


def test_short_question_does_not_wait_behind_a_long_prompt_and_the_long_one_gets_on() -> None:
    scheduler = Scheduler(limits(n_batch=512, max_context=9000))
    reader, long = sequence(0, 1, n_done=1), sequence(1, 4000)
    running(scheduler, reader, long)
    n_steps, short = 0, sequence(2, 60)
    running(scheduler, short)
    while not short.is_decoding:
        n_steps += 1
        for item in scheduler.schedule():
            item.sequence.n_done += 0 if item.is_decode else item.n_tokens
    assert n_steps <= 4  # 18 of 24 tokens a step
    assert long.n_done >= 6 * (n_steps - 1)


def test_one_that_follows_waits_for_its_leader_and_goes_on_by_itself_when_that_is_gone() -> None:
    scheduler = Scheduler(limits())
    leader, follower = sequence(1, 200), sequence(2, 200)
    running(scheduler, leader, follower)
    leader.slot, follower.slot = 0, 1
    follower.follow([leader])
    assert (follower.leader, follower.n_common) == (leader, 199)
    assert shares(scheduler.schedule()) == [(1, 64, False)]
    leader.n_done = 199
    assert [item.sequence for item in scheduler.schedule()] == [leader, follower]
    leader.n_done = 64
    scheduler.remove(leader)
    leader.slot = None
    assert shares(scheduler.schedule()) == [(2, 64, False)]


def test_little_in_common_is_not_waited_for() -> None:
    leader, follower = sequence(1, 200), sequence(2, 200)
    follower.prompt = [0] * 20 + [1] * 180
    follower.follow([leader])
    assert follower.leader is None


def quoting(number: int) -> Sequence:
    """Return a sequence in the middle of a quotation."""
    one = sequence(number, 30, n_done=41, max_tokens=50)
    one.lookup = Lookup(range(30))
    one.reply = list(range(5, 17))
    for token in one.reply:
        one.lookup.push(token)
    return one


def test_drafts_are_made_for_few_readers_where_they_pay_and_not_while_a_prompt_waits() -> None:
    scheduler = Scheduler(limits())
    one, two = quoting(1), quoting(2)
    running(scheduler, one)
    [work] = scheduler.schedule()
    assert work.is_decode
    assert work.n_tokens > 2
    assert one.next_tokens(work.n_tokens) == list(range(16, 16 + work.n_tokens))
    running(scheduler, two)
    assert all(item.n_tokens > 1 for item in scheduler.schedule())
    newcomer = sequence(3, 200)
    running(scheduler, newcomer)
    assert shares(scheduler.schedule())[:2] == [(1, 1, True), (2, 1, True)]
    newcomer.n_done = 200
    assert shares(scheduler.schedule()) == [(1, 1, True), (2, 1, True), (3, 1, True)]


def test_draft_never_leaves_the_cells_that_were_promised() -> None:
    scheduler = Scheduler(limits())
    one = quoting(1)
    running(scheduler, one)
    for max_tokens in (12, 13, 14):
        one.max_tokens = max_tokens
        [work] = scheduler.schedule()
        assert one.n_done + work.n_tokens <= one.n_reserved


def test_wait_is_guessed_from_answers_and_places() -> None:
    scheduler = Scheduler(limits(max_sequences=2))
    for _ in range(50):
        scheduler.record_answer(20.0)
    assert [round(scheduler.wait_s(position)) for position in (1, 2, 4)] == [10, 20, 40]


def test_prompt_that_can_never_fit_is_refused_with_the_numbers() -> None:
    with pytest.raises(
        PromptTooLongError, match="prompt 995 tokens \\+ answer 10 tokens, context 1000"
    ) as caught:
        Scheduler(limits()).add(sequence(1, 995))
    assert (caught.value.n_prompt, caught.value.max_tokens, caught.value.n_ctx) == (995, 10, 1000)


def test_queue_is_bounded_and_requests_that_can_start_at_once_do_not_count() -> None:
    scheduler = Scheduler(limits(max_sequences=2, max_waiting=3))
    for number in range(5):  # 2 will start with the next step
        scheduler.add(sequence(number, 10))
    with pytest.raises(EngineBusyError) as caught:
        scheduler.add(sequence(5, 10))
    assert caught.value.n_waiting == 5
    assert caught.value.retry_after_s > 0
    assert len(scheduler.admit(anywhere)) == 2
    with pytest.raises(EngineBusyError):
        scheduler.add(sequence(6, 10))


def test_one_that_does_not_fit_yet_is_not_overtaken() -> None:
    scheduler = Scheduler(limits())
    large, small = sequence(1, 900), sequence(2, 10)
    scheduler.add(large)
    scheduler.add(small)
    assert scheduler.admit(lambda one: one.n_prompt < 100) == []
    assert scheduler.admit(anywhere) == [large, small]


def test_positions_are_told_once_and_again_when_they_change() -> None:
    scheduler = Scheduler(limits(max_sequences=1))
    first, second, third = (sequence(number, 10, user=str(number)) for number in range(3))
    for one in (first, second, third):
        scheduler.add(one)
    scheduler.admit(anywhere)
    assert scheduler.moved() == [(second, 1), (third, 2)]
    assert scheduler.moved() == []
    scheduler.remove(second)
    assert scheduler.moved() == [(third, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_invariants_hold_on_a_random_walk_and_everyone_is_served(seed: int) -> None:
    chance = random.Random(seed)
    bounds = limits(max_sequences=3, max_waiting=6, max_context=300, n_batch=32)
    scheduler = Scheduler(bounds)
    alive: dict[int, Sequence] = {}
    n_done = 0

    def fits(one: Sequence) -> bool:
        return sum(other.n_reserved for other in scheduler.running) + one.n_reserved <= bounds.max_context

    for number in range(400):
        if chance.random() < 0.3 and number < 300:
            one = sequence(
                number, chance.randint(1, 200), max_tokens=chance.randint(1, 90), user=chance.choice("abc")
            )
            try:
                scheduler.add(one)
                alive[number] = one
            except EngineBusyError:
                assert len(scheduler.waiting) >= bounds.max_waiting
        if alive and chance.random() < 0.02:
            scheduler.remove(alive.pop(chance.choice(list(alive))))
        scheduler.admit(fits)
        work = scheduler.schedule()
        # 1. The batch holds, 2. cells and sequences hold, 3. every reader is in it, 4. a running engine works.
        assert sum(item.n_tokens for item in work) <= bounds.n_batch
        assert sum(other.n_reserved for other in scheduler.running) <= bounds.max_context
        assert len(scheduler.running) <= bounds.max_sequences
        readers = [other for other in scheduler.running if other.is_decoding]
        assert [item.sequence for item in work if item.is_decode] == readers
        assert bool(work) == bool(scheduler.running)
        assert len({item.sequence.id for item in work}) == len(work)
        assert set(alive) == {other.id for other in [*scheduler.running, *scheduler.waiting.order()]}
        scheduler.record(work, seconds=chance.uniform(0.005, 0.5))
        for item in work:
            item.sequence.n_done += item.n_tokens
            if item.sequence.is_decoding:
                item.sequence.reply.append(0)
            if len(item.sequence.reply) >= item.sequence.max_tokens:
                scheduler.remove(alive.pop(item.sequence.id))
                n_done += 1
    while alive:
        scheduler.admit(fits)
        for item in scheduler.schedule():
            item.sequence.n_done += item.n_tokens
            if item.sequence.n_done >= item.sequence.n_reserved:
                scheduler.remove(alive.pop(item.sequence.id))
    assert n_done >= 5
    assert scheduler.running == []
    assert len(scheduler.waiting) == 0
