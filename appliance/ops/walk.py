"""A random walk through what people do to an engine: ask, wait, hang up, lose the connection, run out of time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from random import Random
from time import perf_counter

from appliance.engine.interface import Engine
from appliance.engine.pieces import block
from appliance.engine.request import Done, GenerateRequest, Message, Reuse, Sampling
from appliance.errors import DeadlineError, EngineBusyError, PromptTooLongError

N_WALKERS = 9  # people at once
N_PASSAGES = 12  # that questions come with, of three documents
MODES = (None, Reuse("exact"), Reuse("blocks"), Reuse("blend", 8))
N_TELL = 100  # requests between two words about how far it is
_WORDS = "the house of red stones by a river has nine doors and one of them is never closed at night".split()


class Walk:
    """A number of requests by several people at once, each step of them drawn by lot."""

    def __init__(self, engine: Engine, random: Random, n_requests: int, say: Callable[[str], None]) -> None:
        self._engine = engine
        self._n_ctx = engine.status().n_ctx
        self._random = random
        self._n_requests = n_requests
        self._n_begun = 0
        self._say = say
        self._started = perf_counter()
        self.outcomes: Counter[str] = Counter()

    async def run(self) -> None:
        """Walk to the end."""
        async with asyncio.TaskGroup() as group:
            for walker in range(N_WALKERS):
                group.create_task(self._wander(f"user{walker % 5}"))

    async def _wander(self, user: str) -> None:
        while self._n_begun < self._n_requests:
            self._n_begun += 1
            if self._n_begun % N_TELL == 0:
                self._tell()
            # An order may wait until nobody else asks: few, or the walk would be slow.
            kinds = (self._finish, self._finish, self._hang_up, self._cancel, self._too_long)
            kind = self._random.choice((*kinds, *kinds, self._prepare))
            try:
                outcome = await kind(self._request(user))
            except EngineBusyError:
                outcome = "refused: busy"
                await asyncio.sleep(self._random.uniform(0.1, 1.0))
            except PromptTooLongError:
                outcome = "refused: too long"
            except DeadlineError:
                outcome = "deadline"
            self.outcomes[outcome] += 1
            if self._random.random() < 0.2:
                await asyncio.sleep(self._random.expovariate(10))

    async def _finish(self, request: GenerateRequest) -> str:
        """Read an answer to its end."""
        async with aclosing(self._engine.generate(request)) as events:
            async for event in events:
                if isinstance(event, Done):
                    return event.finish_reason
        raise AssertionError("an answer without an end")

    async def _hang_up(self, request: GenerateRequest) -> str:
        """Close the stream after some events: in the queue, in prefill, in mid-answer, or after its end."""
        n = self._random.randrange(6)
        async with aclosing(self._engine.generate(request)) as events:
            async for _ in events:
                if n == 0:
                    return "hung up"
                n -= 1
        return "hung up after the end"

    async def _cancel(self, request: GenerateRequest) -> str:
        """Lose the connection: the task that reads is cancelled at some moment, as the daemon does it."""
        reading = asyncio.create_task(self._finish(request))
        done, _ = await asyncio.wait([reading], timeout=self._random.expovariate(5))
        if done:
            return reading.result()
        reading.cancel()
        await asyncio.wait([reading])
        return "disconnected"

    async def _too_long(self, request: GenerateRequest) -> str:
        """Ask for more than can ever fit, now and then; else as usual."""
        if self._random.random() < 0.5:
            return await self._finish(request)
        long = Message("user", "word " * self._n_ctx)
        return await self._finish(GenerateRequest((long,), request.max_tokens, user=request.user))

    async def _prepare(self, request: GenerateRequest) -> str:
        """Ask for passages ahead of time; as often as not, change one's mind."""
        patience_s = self._random.expovariate(5) if self._random.random() < 0.5 else None
        try:
            async with asyncio.timeout(patience_s):
                await self._engine.prepare(request.messages)
        except TimeoutError:
            return "order dropped"
        return "prepared"

    def _request(self, user: str) -> GenerateRequest:
        random = self._random
        # Few beginnings, so that prefixes are shared, copied and dropped; many ends, so that they part.
        topic = f"Topic {random.randrange(4)}. " + " ".join(_WORDS * random.randrange(1, 8))
        question = " ".join(random.choices(_WORDS, k=random.randrange(1, 12)))
        if random.random() < 0.5:
            chosen = random.sample(range(N_PASSAGES), random.randrange(1, 4))
            question = "Passages:\n" + "".join(map(_passage, chosen)) + question
        sampled = random.random() < 0.3
        sampling = Sampling(
            temperature=0.9 if sampled else 0.0, seed=random.randrange(1000), repeat_penalty=1.1 if sampled else 1.0,
            stop=(".",) if random.random() < 0.3 else (),
        )  # fmt: skip
        return GenerateRequest(
            (Message("system", topic), Message("user", question)),
            max_tokens=random.choice((1, 2, 4, 8, 16, 40)) if random.random() < 0.95 else 300,
            sampling=sampling,
            user=user,
            deadline_s=random.uniform(0.0, 2.0) if random.random() < 0.3 else None,
            reuse=random.choice(MODES),
        )

    def _tell(self) -> None:
        seconds = perf_counter() - self._started
        said = ", ".join(f"{name} {n}" for name, n in sorted(self.outcomes.items()))
        self._say(f"{self._n_begun} of {self._n_requests} requests, {seconds:.0f} s: {said}")


def _passage(number: int) -> str:
    return block(f"{number % 3:032x}", f"[{number}] " + " ".join(_WORDS * (1 + number % 4)) + "\n")
