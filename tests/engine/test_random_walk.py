"""Arrivals, cancels, deadlines, overflows and passages in any order leave nothing behind: scripted model."""

from __future__ import annotations

import os
import random
import shutil
import socket
import time
from pathlib import Path
from threading import Thread

import pytest

from appliance.engine import wire
from appliance.engine.blocks import Blocks
from appliance.engine.model import Outcome
from appliance.engine.pieces import block, without_marks
from appliance.engine.request import GenerateRequest, Message, Reuse, Sampling
from appliance.engine.scheduler import Limits
from appliance.engine.worker import Worker
from tests.engine.scripted_model import ScriptedModel, letters

WAIT_S = 20.0
N_REQUESTS = 150
ORDER, LAST = 1000, 2000  # numbers of orders begin here; of the message that ends the walk
PASSAGES = [f"passages of kind {kind}, " * 6 for kind in range(4)]
BLOCKS = [(f"{kind % 3:032x}", f"a block of kind {kind}. " * (kind + 1)) for kind in range(6)]
BLOCK_BYTES = 2000  # not all of them fit
MODES = (None, Reuse("exact"), Reuse("blocks"), Reuse("blend", 4), Reuse("blend", 20))


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
        self.ordered: set[int] = set()
        self.cancelled: set[int] = set()

    def turn(self) -> str:
        """A question with passages, some of them in other questions too; or without any."""
        if self._chance.random() < 0.5:
            return self._chance.choice(PASSAGES)
        return "Passages: " + "".join(block(*each) for each in self._chance.sample(BLOCKS, 3))

    def order(self, number: int) -> None:
        """Ask for passages to be computed ahead of time; change one's mind now and then."""
        self.ordered.add(number)
        messages = [{"role": "user", "content": self.turn()}]
        self._channel.send({"kind": "prepare", "id": number, "messages": messages})
        if self._chance.random() < 0.3:
            self.cancel(self._chance.choice(sorted(self.ordered)))

    def ask(self, number: int) -> None:
        chance = self._chance
        question = self.turn() + "?" * chance.randint(1, 9)
        max_tokens = chance.choice([1, 5, 40])
        deadline_s = chance.choice([None, None, 0.005, 0.05, 5.0])
        if chance.random() < 0.05:
            question *= 20  # it can never fit
        self.asked[number] = (question, max_tokens)
        request = GenerateRequest(
            (Message("user", question),), max_tokens, Sampling(), chance.choice("abc"), deadline_s,
            chance.choice(MODES),
        )  # fmt: skip
        self._channel.send({"kind": "generate", "id": number, "request": wire.request_to_json(request)})
        if chance.random() < 0.2:
            self.cancel(chance.randint(max(1, number - 3), number))

    def cancel(self, number: int) -> None:
        self.cancelled.add(number)
        self._channel.send({"kind": "cancel", "id": number})

    def is_over(self) -> bool:
        """Whether all has been asked and has ended; of cancelled orders nothing may be heard."""
        due = {LAST, *self.asked} | self.ordered - self.cancelled
        return due <= self.ended.keys()

    def listen(self) -> None:
        while not self.is_over():
            message = self._channel.receive()
            assert message is not None, "the worker is gone"
            if message["kind"] == "blocks":
                continue
            number = message["id"]
            assert number not in self.ended, "nothing comes after the end"
            if message["kind"] == "counts":
                self.ended[number] = f"{message['counts']} kept"
            elif message["kind"] == "error":
                self.ended[number] = message["error"]
            elif message["event"] == "done":
                self.ended[number] = message["finish_reason"]
            elif message["event"] == "token":
                self.shown[number] = self.shown.get(number, "") + message["text"]


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_left_behind(seed: int, tmp_path: Path) -> None:
    n_before = n_files()
    chance = random.Random(seed)
    model = ScriptedModel(n_ctx=700)
    model.step_s = 0.0005
    ours, theirs = socket.socketpair()
    ours.settimeout(WAIT_S)
    channel, other = wire.Channel(ours), wire.Channel(theirs)
    with ours, theirs:
        blocks = Blocks(tmp_path, "scripted", BLOCK_BYTES)
        limits = Limits(3, 5, model.n_ctx, 48, 150)
        worker = Worker(model, other, limits, blocks=blocks, reuse=Reuse("blocks"))
        crowd = Crowd(channel, chance)
        threads = [Thread(target=part) for part in (worker.run, worker.listen, worker.mind_deadlines)]
        listening = Thread(target=crowd.listen)
        for thread in (*threads, listening):
            thread.start()
        for number in range(1, N_REQUESTS + 1):
            crowd.ask(number)
            if chance.random() < 0.2:
                crowd.order(ORDER + number)
            if chance.random() < 0.05:  # a document is forgotten
                shutil.rmtree(tmp_path / chance.choice(BLOCKS)[0], ignore_errors=True)
            if chance.random() < 0.05:
                model.outcomes.append(chance.choice([Outcome.NO_ROOM, Outcome.ABORTED]))
            time.sleep(chance.choice([0, 0, 0.002, 0.01]))
        channel.send({"kind": "count", "id": LAST, "texts": []})
        listening.join(WAIT_S)
        channel.send({"kind": "stop"})
        for thread in threads:
            thread.join(WAIT_S)
        assert not any(thread.is_alive() for thread in (*threads, listening))
    channel.close()
    other.close()
    # 1. Each request ended, once; 2. every way to end was gone; 3. those that ran to the end were answered right.
    assert set(range(1, N_REQUESTS + 1)) | crowd.ordered - crowd.cancelled <= set(crowd.ended)
    assert {"length", "cancelled", "deadline", "prompt_too_long"} <= set(crowd.ended.values())
    finished = [number for number, end in crowd.ended.items() if end == "length"]
    for number in chance.sample(finished, 10):
        assert crowd.shown[number] == right(*crowd.asked[number])
    # 4. No slot is busy, 5. the books agree with the cache, 6. no sampler, thread or file is left.
    assert worker.leftovers() == []
    assert model.n_open_samplers == 0
    assert n_files() == n_before
    # 7. Passages were joined, and no more were kept than may be.
    assert model.moves
    assert blocks.n_bytes == sum(path.stat().st_size for path in tmp_path.rglob("*.kv")) <= BLOCK_BYTES


def right(question: str, max_tokens: int) -> str:
    """What the scripted model says, by hand."""
    prompt = f"<|im_start|>user\n{without_marks(question)}<|im_end|>\n<|im_start|>assistant\n"
    tokens = ScriptedModel().tokenise(prompt, special=True)
    answer = [*tokens]
    for _ in range(max_tokens):
        answer.append(letters(answer))
    return bytes(answer[len(tokens) :]).decode()
