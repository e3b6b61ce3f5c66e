"""The step loop with a scripted model: real threads, a real socket, an honest cache."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.model import Outcome
from appliance.engine.prefixes import Prefixes
from appliance.engine.request import Done, GenerateRequest, Message, Prefill, Queued, Reuse, Sampling, Token
from appliance.engine.scheduler import Limits
from appliance.engine.worker import Worker
from appliance.errors import DeadlineError, EngineBusyError, EngineError, PromptTooLongError
from tests.engine.scripted_model import ScriptedModel, letters, saying

WAIT_S = 10.0


class Parent:
    """The other end of a worker's socket."""

    def __init__(self, channel: wire.Channel) -> None:
        self._channel = channel
        self._heard: dict[int, list[Any]] = {}
        self.news: list[wire.WireMessage] = []

    def ask(
        self,
        number: int,
        *turns: str,
        max_tokens: int = 10,
        stop: tuple[str, ...] = (),
        user: str = "",
        deadline_s: float | None = None,
    ) -> None:
        roles = ("user", "assistant")
        messages = tuple(Message(roles[at % 2], turn) for at, turn in enumerate(turns))  # type: ignore[arg-type]
        request = GenerateRequest(messages, max_tokens, Sampling(stop=stop), user, deadline_s)
        self.send("generate", number, request=wire.request_to_json(request))

    def send(self, kind: str, number: int = 0, **fields: Any) -> None:
        self._channel.send({"kind": kind, "id": number, **fields})

    def hear(self, number: int, until: type) -> list[Any]:
        """Return what came for a request, up to the first of a class."""
        while not (heard := self._heard.get(number, [])) or not isinstance(heard[-1], until):
            message = self._channel.receive()
            assert message is not None, "the worker is gone"
            if message["kind"] == "blocks":
                self.news.append(message)
                continue
            self._heard.setdefault(message["id"], []).append(_decode(message))
        return self._heard.pop(number)

    def answer(self, number: int) -> tuple[str, Done]:
        *events, done = self.hear(number, Done)
        return "".join(event.text for event in events if isinstance(event, Token)), done


def _decode(message: wire.WireMessage) -> Any:
    match message["kind"]:
        case "event":
            return wire.event_from_json({k: v for k, v in message.items() if k not in ("kind", "id")})
        case "error":
            return wire.error_from_json(message)
        case _:
            return message["counts"]


@contextmanager
def worker(
    model: ScriptedModel,
    prefixes: Prefixes | None = None,
    blocks: Blocks | None = None,
    reuse: Reuse | None = None,
    **limits: int,
) -> Iterator[Parent]:
    bounds = {"max_sequences": 3, "max_waiting": 4, "n_batch": 64, "step_target_ms": 150} | limits
    ours, theirs = socket.socketpair()
    ours.settimeout(WAIT_S)
    with ours, theirs:
        about = Limits(max_context=model.max_context, **bounds)
        loop = Worker(model, wire.Channel(theirs), about, prefixes, blocks, reuse)
        threads = [Thread(target=part) for part in (loop.run, loop.listen, loop.mind_deadlines)]
        for thread in threads:
            thread.start()
        parent = Parent(wire.Channel(ours))
        try:
            yield parent
        finally:
            model.gate.set()
            parent.send("stop")
            for thread in threads:
                thread.join(WAIT_S)
    assert not any(thread.is_alive() for thread in threads)
    assert loop.leftovers() == []
    loop.save()


def alone(answer: Callable[[Sequence[int]], int], *turns: str, max_tokens: int = 10) -> str:
    """What a request is answered with nobody else there and nothing in the cache."""
    with worker(ScriptedModel(answer)) as parent:
        parent.ask(1, *turns, max_tokens=max_tokens)
        return parent.answer(1)[0]


def test_answer_comes_as_events_in_order() -> None:
    with worker(ScriptedModel(saying("Hello"))) as parent:
        parent.ask(1, "Hi")
        events = parent.hear(1, Done)
    n_prompt = events[0].n_prompt
    assert events[:-1] == [
        Prefill(0, n_prompt),
        Prefill(n_prompt, n_prompt),
        *map(Token, "Hello"),
    ]
    done = events[-1]
    assert (done.finish_reason, done.n_prompt, done.n_reused, done.n_decoded) == ("stop", n_prompt, 0, 5)
    assert done.ttft_s > 0
    assert done.prefill_tps > 0
    assert done.decode_tps > 0


def test_answer_ends_at_max_tokens_and_at_a_stop_string() -> None:
    with worker(ScriptedModel(saying("one two three"))) as parent:
        parent.ask(1, "x", max_tokens=5)
        text, done = parent.answer(1)
        assert (text, done.finish_reason, done.n_decoded) == ("one t", "length", 5)
        parent.ask(2, "x", max_tokens=50, stop=(" th",))
        text, done = parent.answer(2)
        assert (text, done.finish_reason) == ("one two", "stop")


def test_several_at_once_are_answered_as_each_alone() -> None:
    questions = [f"question {number}" * number for number in range(1, 7)]
    expected = [alone(letters, question) for question in questions]
    model = ScriptedModel()
    with worker(model, n_batch=16) as parent:
        for number, question in enumerate(questions):
            parent.ask(number, question)
        assert [parent.answer(number)[0] for number in range(len(questions))] == expected
    assert max(len(step) for step in model.steps) > 1
    assert max(sum(len(chunk.tokens) for chunk in step) for step in model.steps) <= 16
    assert model.n_open_samplers == 0


def test_follow_up_pays_only_for_its_own_words() -> None:
    model = ScriptedModel()
    with worker(model) as parent:
        parent.ask(1, "first question")
        answer, first = parent.answer(1)
        parent.ask(2, "first question", answer, "second")
        text, done = parent.answer(2)
    # All but the last token of the answer is in the cache: that one was chosen and never computed.
    assert done.n_reused == first.n_prompt + first.n_decoded - 1
    assert text == alone(letters, "first question", answer, "second")


def test_users_share_a_prefix_that_another_is_using() -> None:
    model = ScriptedModel()
    model.step_s = 0.002
    with worker(model, n_batch=300) as parent:
        parent.ask(1, "the same long passages " * 4 + "A?", max_tokens=300)
        parent.hear(1, Token)
        parent.ask(2, "the same long passages " * 4 + "B?")
        text, done = parent.answer(2)
    assert done.n_reused >= 92
    assert text == alone(letters, "the same long passages " * 4 + "B?")


def test_two_who_ask_with_the_same_passages_at_once_share_what_is_computed() -> None:
    model = ScriptedModel()
    passages = "the same long passages " * 8
    with worker(model) as parent:
        model.gate.clear()
        parent.ask(1, "first")  # so that both wait for the same step to end
        assert model.entered.wait(WAIT_S)
        parent.ask(2, passages + "A?", user="a")
        parent.ask(3, passages + "B?", user="b")
        parent.send("count", 4, texts=[])
        parent.hear(4, list)
        model.gate.set()
        a, done_a = parent.answer(2)
        b, done_b = parent.answer(3)
    assert a == alone(letters, passages + "A?")
    assert b == alone(letters, passages + "B?")
    n_computed = done_a.n_prompt - done_a.n_reused + done_b.n_prompt - done_b.n_reused
    assert n_computed < done_a.n_prompt + 30
    n_prefilled = sum(len(chunk.tokens) for step in model.steps for chunk in step if len(chunk.tokens) > 1)
    assert n_prefilled < done_a.n_prompt + 60


def test_follower_goes_on_by_itself_when_its_leader_leaves() -> None:
    model = ScriptedModel()
    model.step_s = 0.01
    passages = "the same long passages " * 20
    with worker(model, n_batch=32) as parent:
        parent.ask(1, passages + "A?", user="a")
        parent.ask(2, passages + "B?", user="b")
        while parent.hear(2, Prefill)[-1].n_done < 100:
            pass
        parent.send("cancel", 1)
        assert parent.answer(1)[1].finish_reason == "cancelled"
        assert parent.answer(2)[0] == alone(letters, passages + "B?")


def quoting(tokens: Sequence[int]) -> int:
    """Repeat what the prompt says, with an error every now and then."""
    token = tokens[len(tokens) - 60]
    return ord("!") if len(tokens) % 17 == 0 or token > 255 else token


def test_drafted_answer_is_the_plain_one_in_fewer_steps() -> None:
    question = "".join(map(chr, range(40, 120)))
    plain, drafting = ScriptedModel(quoting), ScriptedModel(quoting)
    with worker(plain, prompt_lookup=False) as parent:
        parent.ask(1, question, max_tokens=200)
        expected = parent.answer(1)
    with worker(drafting) as parent:
        parent.ask(1, question, max_tokens=200)
        text, done = parent.answer(1)
        assert (text, done.n_decoded) == (expected[0], 200)
        parent.ask(2, question, text, "more")  # the cache holds what was verified, and no more
        assert parent.answer(2)[1].n_reused == done.n_prompt + done.n_decoded - 1
    assert len(drafting.steps) < 0.7 * len(plain.steps)
    assert done.n_drafted > 60
    assert expected[1].n_drafted == 0
    assert all(len(chunk.tokens) == 1 for step in plain.steps[3:] for chunk in step)


def test_drafted_answer_stops_where_the_plain_one_does() -> None:
    question = "".join(map(chr, range(40, 120)))
    for stop in ((chr(100),), ("ab",)):
        texts = []
        for prompt_lookup in (False, True):
            with worker(ScriptedModel(quoting), prompt_lookup=prompt_lookup) as parent:
                parent.ask(1, question, max_tokens=200, stop=stop)
                text, done = parent.answer(1)
                texts.append((text, done.n_decoded, done.finish_reason))
        assert texts[0] == texts[1]


def test_deadline_ends_a_running_answer_and_one_that_waits() -> None:
    model = ScriptedModel()
    model.step_s = 0.005
    with worker(model, max_sequences=1) as parent:
        parent.ask(1, "slow", max_tokens=500, deadline_s=0.2)
        parent.ask(2, "waits", max_tokens=500, deadline_s=0.1)
        *_, waited = parent.hear(2, DeadlineError)
        *_, ran = parent.hear(1, DeadlineError)
        assert (waited.deadline_s, waited.n_decoded) == (0.1, 0)
        assert ran.n_decoded > 0
        parent.ask(3, "next", deadline_s=10)
        assert parent.answer(3)[0] == alone(letters, "next")
    assert model.n_open_samplers == 0


def test_deadline_in_mid_prefill_breaks_the_step_off() -> None:
    model = ScriptedModel()
    with worker(model) as parent:
        model.gate.clear()  # the step would never end by itself
        parent.ask(1, "long" * 50, deadline_s=0.1)
        *_, error = parent.hear(1, DeadlineError)
        assert (error.deadline_s, error.n_decoded) == (0.1, 0)
        model.gate.set()
        parent.ask(2, "next")
        assert parent.answer(2)[0] == alone(letters, "next")


def test_step_that_is_broken_off_without_need_is_made_good() -> None:
    """A deadline may pass between two steps: the next one is broken off, and nobody may lose by it."""
    model = ScriptedModel()
    with worker(model) as parent:
        model.outcomes = [Outcome.ABORTED] * 3
        parent.ask(1, "question")
        assert parent.answer(1)[0] == alone(letters, "question")


def test_prefix_is_found_again_by_the_next_process(tmp_path: Path) -> None:
    passages = "the same long passages " * 8
    with worker(ScriptedModel(), Prefixes(tmp_path, "key", 10**6)) as parent:
        parent.ask(1, passages + "A?")
        parent.answer(1)
    model = ScriptedModel()
    with worker(model, Prefixes(tmp_path, "key", 10**6)) as parent:
        parent.ask(1, "something else")
        assert parent.answer(1)[1].n_reused == 0
        parent.ask(2, passages + "B?")
        text, done = parent.answer(2)
        assert done.n_reused >= len(passages)
        assert text == alone(letters, passages + "B?")
        parent.ask(3, passages + "C?")
        assert parent.answer(3)[0] == alone(letters, passages + "C?")
    with worker(ScriptedModel(), Prefixes(tmp_path, "another model", 10**6)) as parent:
        parent.ask(1, passages + "B?")
        assert parent.answer(1)[1].n_reused == 0


def test_prefix_too_large_for_the_cells_at_hand_is_computed_again(tmp_path: Path) -> None:
    passages = "the same long passages " * 8
    with worker(ScriptedModel(), Prefixes(tmp_path, "key", 10**6)) as parent:
        parent.ask(1, passages + "and a long end of no use to others " * 8)
        parent.answer(1)
    model = ScriptedModel(n_ctx=300)
    with worker(model, Prefixes(tmp_path, "key", 10**6)) as parent:
        parent.ask(1, passages + "B?")
        text, done = parent.answer(1)
    assert done.n_reused == 0
    assert text == alone(letters, passages + "B?")


def test_those_who_wait_hear_their_position_while_a_step_runs() -> None:
    model = ScriptedModel()
    with worker(model, max_sequences=1) as parent:
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        parent.ask(2, "b", user="b")
        parent.ask(3, "c", user="c")
        [second], [third] = parent.hear(2, Queued), parent.hear(3, Queued)
        assert (second.position, third.position) == (1, 2)
        assert 0 < second.wait_s < third.wait_s
        model.gate.set()
        parent.answer(1)
        assert [event.position for event in parent.hear(3, Queued)] == [1]
        parent.answer(2)
        parent.answer(3)


def test_full_queue_and_hopeless_prompts_are_refused_while_a_step_runs() -> None:
    model = ScriptedModel()
    with worker(model, max_sequences=1, max_waiting=1) as parent:
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        parent.ask(2, "b")
        parent.ask(3, "c")
        parent.ask(4, "d" * 990)
        [busy] = parent.hear(3, EngineError)
        [too_long] = parent.hear(4, EngineError)
    assert isinstance(busy, EngineBusyError)
    assert busy.n_waiting == 1
    assert isinstance(too_long, PromptTooLongError)
    assert (too_long.max_tokens, too_long.n_ctx) == (10, 1000)
    assert too_long.n_prompt > 990


def test_tokens_are_counted_while_a_step_runs() -> None:
    model = ScriptedModel()
    with worker(model) as parent:
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        parent.send("count", 2, texts=["", "four", "<|im_end|>"])
        assert parent.hear(2, list) == [[0, 4, 10]]


def test_cancel_in_mid_prefill_breaks_the_step_off_and_frees_the_slot() -> None:
    model = ScriptedModel()
    with worker(model, max_sequences=1) as parent:
        model.gate.clear()
        parent.ask(1, "long" * 50)
        assert model.entered.wait(WAIT_S)
        parent.send("cancel", 1)
        _, done = parent.answer(1)
        assert (done.finish_reason, done.n_decoded) == ("cancelled", 0)
        model.gate.set()
        parent.ask(2, "next")
        assert parent.answer(2)[0] == alone(letters, "next")
    assert model.n_open_samplers == 0


def test_cancel_of_one_lets_the_step_of_the_others_finish() -> None:
    model = ScriptedModel()
    model.step_s = 0.005
    with worker(model) as parent:
        parent.ask(1, "reader", max_tokens=200)
        parent.hear(1, Token)
        parent.ask(2, "leaver", max_tokens=200)
        parent.hear(2, Token)
        parent.send("cancel", 2)
        assert parent.answer(2)[1].finish_reason == "cancelled"
        parent.send("cancel", 1)
        parent.answer(1)
        parent.ask(3, "reader", max_tokens=50)
        text, _ = parent.answer(3)
    assert text == alone(letters, "reader", max_tokens=50)


def test_cancel_of_one_that_waits_and_of_one_that_is_unknown() -> None:
    model = ScriptedModel()
    with worker(model, max_sequences=1) as parent:
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        parent.ask(2, "b")
        parent.send("cancel", 2)
        parent.send("cancel", 77)
        parent.send("count", 3, texts=[])
        parent.hear(3, list)  # so the cancels have been heard
        model.gate.set()
        assert parent.answer(2)[1].finish_reason == "cancelled"
        assert len(parent.answer(1)[0]) == 10


def test_request_waits_until_the_cells_promised_to_others_are_free() -> None:
    model = ScriptedModel(n_ctx=400)
    model.step_s = 0.001
    with worker(model) as parent:
        parent.ask(1, "a", max_tokens=200)
        parent.hear(1, Token)
        parent.ask(2, "z" * 100, max_tokens=150)
        assert [event.position for event in parent.hear(2, Queued)] == [1]
        parent.answer(1)
        assert len(parent.answer(2)[0]) == 150


def test_cache_without_room_drops_old_prefixes_and_tries_again() -> None:
    model = ScriptedModel()
    with worker(model) as parent:
        parent.ask(1, "an old prefix")
        parent.answer(1)
        model.outcomes = [Outcome.NO_ROOM]
        parent.ask(2, "something else")
        assert parent.answer(2)[0] == alone(letters, "something else")
        model.outcomes = [Outcome.NO_ROOM] * 20
        parent.ask(3, "no room at all")
        *_, error = parent.hear(3, EngineError)
        assert "no room left in the KV cache" in str(error)
        model.outcomes = []
        parent.ask(4, "something else")
        assert parent.answer(4)[0] == alone(letters, "something else")


def test_request_that_is_damaged_fails_alone() -> None:
    with worker(ScriptedModel()) as parent:
        parent.send("generate", 1, request={"nonsense": 1})
        [error] = parent.hear(1, EngineError)
        assert "the engine failed on a request" in str(error)
        parent.ask(2, "fine")
        assert len(parent.answer(2)[0]) == 10


def test_characters_of_several_tokens_come_out_whole() -> None:
    with worker(ScriptedModel(saying("né 😀!"))) as parent:
        parent.ask(1, "x", max_tokens=20)
        events = parent.hear(1, Done)
    assert [event.text for event in events if isinstance(event, Token)] == ["n", "é", " ", "😀", "!"]


@pytest.mark.parametrize("end", ["stop", "parent gone"])
def test_worker_ends_in_mid_step_when_told_or_left_alone(end: str) -> None:
    model = ScriptedModel()
    ours, theirs = socket.socketpair()
    with theirs:
        loop = Worker(model, wire.Channel(theirs), Limits(1, 1, 1000, 64, 150))
        threads = [Thread(target=part) for part in (loop.run, loop.listen, loop.mind_deadlines)]
        for thread in threads:
            thread.start()
        parent = Parent(wire.Channel(ours))
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        if end == "stop":
            parent.send("stop")
        else:
            ours.shutdown(socket.SHUT_WR)
        for thread in threads:
            thread.join(WAIT_S)
        assert not any(thread.is_alive() for thread in threads)
    ours.close()
