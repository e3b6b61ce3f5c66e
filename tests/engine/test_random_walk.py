"""Arrivals, cancels, deadlines and overflows in any order leave nothing behind: scripted model, real threads."""

from __future__ import annotations

import os
import random
import socket
import time
from threading import Thread

import pytest

from appliance.engine import wire
from appliance.engine.model import Outcome
from appliance.engine.request import GenerateRequest, Message, Sampling
from appliance.engine.scheduler import Limits
from appliance.engine.worker import Worker
from tests.engine.scripted_model import ScriptedModel, letters

WAIT_S = 20.0
N_REQUESTS = 150
PASSAGES = [f"passages of kind {kind}, " * 6 for kind in range(4)]


def n_files() -> int:
    return len(os.listdir("/proc/self/fd"))


class Crowd:
    """Asks at random, and notes how each request ended."""

    def __init__(self, channel: wire.Channel, chance: random.Random) -> None:
        self._channel = channel
        self._chance = chance
        self.asked: dict[int, tuple[str, int]] = {}
        self.shown: dict[int, str] = {}
        self.ended: dict[int, str] = {}

    def ask(self, number: int) -> None:
        chance = self._chance
        question = chance.choice(PASSAGES) + "?" * chance.randint(1, 9)
        max_tokens = chance.choice([1, 5, 40])
        deadline_s = chance.choice([None, None, 0.005, 0.05, 5.0])
        if chance.random() < 0.05:
            question *= 20  # it can never fit
        self.asked[number] = (question, max_tokens)
        request = GenerateRequest(
            (Message("user", question),), max_tokens, Sampling(), chance.choice("abc"), deadline_s
        )
        self._channel.send({"kind": "generate", "id": number, "request": wire.request_to_json(request)})
        if chance.random() < 0.2:
            victim = chance.randint(max(1, number - 3), number)
            self._channel.send({"kind": "cancel", "id": victim})

    def listen(self) -> None:
        while len(self.ended) < N_REQUESTS:
            message = self._channel.receive()
            assert message is not None, "the worker is gone"
            number = message["id"]
            assert number not in self.ended, "nothing comes after the end"
            if message["kind"] == "error":
                self.ended[number] = message["error"]
            elif message["event"] == "done":
                self.ended[number] = message["finish_reason"]
            elif message["event"] == "token":
                self.shown[number] = self.shown.get(number, "") + message["text"]


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_left_behind(seed: int) -> None:
    n_before = n_files()
    chance = random.Random(seed)
    model = ScriptedModel(n_ctx=700)
    model.step_s = 0.0005
    ours, theirs = socket.socketpair()
    ours.settimeout(WAIT_S)
    channel, other = wire.Channel(ours), wire.Channel(theirs)
    with ours, theirs:
        worker = Worker(model, other, Limits(3, 5, model.n_ctx, 48, 150))
        crowd = Crowd(channel, chance)
        threads = [Thread(target=part) for part in (worker.run, worker.listen, worker.mind_deadlines)]
        listening = Thread(target=crowd.listen)
        for thread in (*threads, listening):
            thread.start()
        for number in range(1, N_REQUESTS + 1):
            crowd.ask(number)
            if chance.random() < 0.05:
                model.outcomes.append(chance.choice([Outcome.NO_ROOM, Outcome.ABORTED]))
            time.sleep(chance.choice([0, 0, 0.002, 0.01]))
        listening.join(WAIT_S)
        channel.send({"kind": "stop"})
        for thread in threads:
            thread.join(WAIT_S)
        assert not any(thread.is_alive() for thread in (*threads, listening))
    channel.close()
    other.close()
    # 1. Each request ended, once; 2. every way to end was gone; 3. those that ran to the end were answered right.
    assert set(crowd.ended) == set(range(1, N_REQUESTS + 1))
    assert {"length", "cancelled", "deadline", "prompt_too_long"} <= set(crowd.ended.values())
    finished = [number for number, end in crowd.ended.items() if end == "length"]
    for number in chance.sample(finished, 10):
        assert crowd.shown[number] == right(*crowd.asked[number])
    # 4. No slot is busy, 5. the books agree with the cache, 6. no sampler, thread or file is left.
    assert worker.leftovers() == []
    assert model.n_open_samplers == 0
    assert n_files() == n_before


def right(question: str, max_tokens: int) -> str:
    """What the scripted model says, by hand."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    tokens = ScriptedModel().tokenise(prompt, special=True)
    answer = [*tokens]
    for _ in range(max_tokens):
        answer.append(letters(answer))
    return bytes(answer[len(tokens) :]).decode()
