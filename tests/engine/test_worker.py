"""The step loop with a scripted model: real threads, a real socket, an honest cache."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from appliance.engine import wire
from appliance.engine.model import Outcome
from appliance.engine.request import Done, GenerateRequest, Message, Prefill, Queued, Sampling, Token
from appliance.engine.scheduler import Limits
from appliance.engine.worker import Worker
from appliance.errors import EngineBusyError, EngineError, PromptTooLongError
from tests.engine.scripted_model import ScriptedModel, letters, saying

WAIT_S = 10.0


class Parent:
    """The other end of a worker's socket."""

    def __init__(self, channel: wire.Channel) -> None:
        self._channel = channel
        self._heard: dict[int, list[Any]] = {}

    def ask(
        self, number: int, *turns: str, max_tokens: int = 10, stop: tuple[str, ...] = (), user: str = ""
    ) -> None:
        roles = ("user", "assistant")
        messages = tuple(Message(roles[at % 2], turn) for at, turn in enumerate(turns))  # type: ignore[arg-type]
        request = GenerateRequest(messages, max_tokens, Sampling(stop=stop), user)
        self.send("generate", number, request=wire.request_to_json(request))

    def send(self, kind: str, number: int = 0, **fields: Any) -> None:
        self._channel.send({"kind": kind, "id": number, **fields})

    def hear(self, number: int, until: type) -> list[Any]:
        """Return what came for a request, up to the first of a class."""
        while not (heard := self._heard.get(number, [])) or not isinstance(heard[-1], until):
            message = self._channel.receive()
            assert message is not None, "the worker is gone"
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
def worker(model: ScriptedModel, **limits: int) -> Iterator[Parent]:
    bounds = {"max_sequences": 3, "max_waiting": 4, "n_batch": 64, "step_target_ms": 150} | limits
    ours, theirs = socket.socketpair()
    ours.settimeout(WAIT_S)
    with ours, theirs:
        loop = Worker(model, wire.Channel(theirs), Limits(max_context=model.max_context, **bounds))
        threads = [Thread(target=loop.run), Thread(target=loop.listen)]
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


def test_those_who_wait_hear_their_position_while_a_step_runs() -> None:
    model = ScriptedModel()
    with worker(model, max_sequences=1) as parent:
        model.gate.clear()
        parent.ask(1, "a")
        assert model.entered.wait(WAIT_S)
        parent.ask(2, "b", user="b")
        parent.ask(3, "c", user="c")
        assert parent.hear(2, Queued) == [Queued(1)]
        assert parent.hear(3, Queued) == [Queued(2)]
        model.gate.set()
        parent.answer(1)
        assert parent.hear(3, Queued) == [Queued(1)]
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
        assert parent.hear(2, Queued) == [Queued(1)]
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
        threads = [Thread(target=loop.run), Thread(target=loop.listen)]
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
