"""How the figures of a running engine are measured.

The two sides of a ratio take turns, so that the drift of a shared machine hits both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from statistics import median
from time import perf_counter
from typing import TypeVar

from appliance.ops import figures, texts
from appliance.ops.bench import Speaker
from appliance.ops.errors import BenchError, NotAvailableError
from appliance.ops.figures import Measured, ratios
from appliance.ops.neighbour import busy_neighbour
from appliance.ops.private_daemon import PrivateDaemon
from appliance.ops.rig import LOOKUP, N_STREAMS, Rig, lookup
from appliance.ops.stream import Message, Stream, pieces
from appliance.settings import EngineSettings

N_DECODE = 96  # tokens of an answer whose speed is measured: 1 to 4 s on two cores
N_BARE_PROMPT = 32  # tokens in the cache before the bare loop decodes: as many as the story's prompt has
N_FIRST_PROMPT = 1000
N_ARRIVING_PROMPT = 2000
# A template's own tokens, taken off, so that the 2,000-token prompt also fits a model trained for 2,048.
TEMPLATE_ROOM = 48
N_TTFT = 4  # tokens of an answer of which only the first is waited for
N_READ = 1024  # tokens of the story that is read while the prompt arrives; it is hung up on before
N_BEFORE_ARRIVAL = 8  # pieces of the running stream before the newcomer arrives
SETTLE_S = 0.5  # for the kernel to see that the neighbour is busy

T = TypeVar("T")


async def decode_ratio(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare one stream through the socket with the bare loop."""
    daemon, bare = await rig.main(), await rig.bare()

    async def through_socket() -> float:
        return (await rig.ask(daemon, [texts.user(texts.STORIES[0])], N_DECODE)).tps

    async def in_bare_loop() -> float:
        return (await bare.loop(N_BARE_PROMPT, N_DECODE)).decode_tps

    ours, theirs = await in_turns(rig, n_runs, "decode_ratio", through_socket, in_bare_loop)
    return {
        "decode_ratio": Measured(ratios(ours, theirs), {"socket_tps": ours, "bare_tps": theirs}),
    }


async def batch8_gain(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare eight streams with one."""
    daemon = await rig.main()

    async def one() -> float:
        return (await rig.ask(daemon, [texts.user(texts.STORIES[0])], N_DECODE)).tps

    async def eight() -> float:
        asked = (rig.ask(daemon, [texts.user(story)], N_DECODE) for story in texts.STORIES[:N_STREAMS])
        return figures.rate_together([(s.n_tokens, s.times) for s in await asyncio.gather(*asked)])

    together, alone = await in_turns(rig, n_runs, "batch8_gain", eight, one)
    return {"batch8_gain": Measured(ratios(together, alone), {"eight_tps": together, "one_tps": alone})}


async def stall(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Watch a running stream while a long prompt arrives."""
    daemon = await rig.main()
    waits, newcomers, medians = [], [], []
    for run in range(n_runs):
        rig.say(f"stall, run {run + 1} of {n_runs}")
        text = await prose(rig, N_ARRIVING_PROMPT)
        arrived, gaps = await _read_beside(rig, daemon, text)
        waits.append(figures.percentile(gaps, 0.99) * 1000)
        medians.append(median(gaps) * 1000)
        newcomers.append(arrived.ttft_s)
    return {"stall": Measured(waits, {"median_ms": medians, "newcomer_ttft_s": newcomers})}


async def _read_beside(rig: Rig, daemon: PrivateDaemon, text: str) -> tuple[Stream, list[float]]:
    """Let a prompt arrive while stories are read; return its answer, and the readers' waits until it began."""
    reading = asyncio.Event()

    async def read() -> list[Stream]:
        streams = []
        for story in texts.STORIES * N_STREAMS:  # the next one begins where a story ends too early
            stream = Stream(perf_counter())
            streams.append(stream)
            async with aclosing(
                pieces(daemon.socket, rig.chat([texts.user(story)], N_READ), stream)
            ) as arriving:
                async for _ in arriving:
                    if len(stream.times) > N_BEFORE_ARRIVAL:
                        reading.set()
                    if newcomer.done() and not newcomer.cancelled():
                        return streams
        return streams

    async def arrive() -> Stream:
        await reading.wait()
        return await rig.ask(daemon, [texts.user(text)], N_TTFT)

    newcomer = asyncio.create_task(arrive())
    try:
        streams = await read()
        arrived = await newcomer
    finally:
        newcomer.cancel()
    gaps = [
        gap
        for stream in streams
        for gap in figures.gaps_within(stream.times, arrived.asked, arrived.times[0])
    ]
    if not gaps:
        raise BenchError("the running stream gave no text while the prompt was read")
    return arrived, gaps


async def followup_ttft(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare a conversation's second turn with its first."""
    daemon = await rig.main()
    first_s, second_s = [], []
    for run in range(n_runs):
        rig.say(f"followup_ttft, run {run + 1} of {n_runs}")
        opening = texts.user(await prose(rig, N_FIRST_PROMPT))
        first = await rig.ask(daemon, [opening], N_DECODE // 2)
        turns = [opening, texts.assistant(first.text), texts.user("What was decided about the roof?")]
        second = await rig.ask(daemon, turns, N_TTFT)
        first_s.append(first.ttft_s)
        second_s.append(second.ttft_s)
    return {
        "followup_ttft": Measured(ratios(second_s, first_s), {"first_s": first_s, "second_s": second_s}),
    }


async def shared_ttft(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare user B, who asks about the same passages, with user A."""
    daemon = await rig.main()
    a_s, b_s = [], []
    for run in range(n_runs):
        rig.say(f"shared_ttft, run {run + 1} of {n_runs}")
        salt = rig.salt()
        first = await rig.ask(daemon, texts.grounded(salt, "What does a lost key cost?"), N_TTFT)
        other = await rig.ask(daemon, texts.grounded(salt, "When is lunch served in the kitchen?"), N_TTFT)
        a_s.append(first.ttft_s)
        b_s.append(other.ttft_s)
    return {"shared_ttft": Measured(ratios(b_s, a_s), {"a_s": a_s, "b_s": b_s})}


async def contended(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare decoding beside a busy process of another session with decoding alone."""
    daemon = await rig.main()

    async def alone() -> float:
        return (await rig.ask(daemon, [texts.user(texts.STORIES[0])], N_DECODE)).tps

    async def beside() -> float:
        with busy_neighbour():
            await asyncio.sleep(SETTLE_S)
            return await alone()

    busy, idle = await in_turns(rig, n_runs, "contended", beside, alone)
    return {"contended": Measured(ratios(busy, idle), {"busy_tps": busy, "idle_tps": idle})}


async def prompt_lookup(rig: Rig, n_runs: int) -> Mapping[str, Measured]:
    """Compare prompt lookup with plain decoding, on answers that quote and on free text.

    Raises:
        NotAvailableError: this build has no prompt lookup.
    """
    if LOOKUP not in EngineSettings.model_fields:
        raise NotAvailableError(f"this build has no engine.{LOOKUP}")
    kinds = {
        "quotes": [texts.grounded("", quote) for quote in texts.QUOTES],
        "free": [[texts.user(story)] for story in texts.FREE],
    }
    plain = await rig.main()
    parts: dict[str, list[float]] = {}
    gains: dict[str, list[float]] = {}
    rig.say("starting a private daemon with prompt lookup")
    async with rig.daemon(**lookup("auto")) as looking:
        for kind, chats in kinds.items():
            for daemon in (plain, looking):  # the passages are read once, by both
                await rig.ask(daemon, chats[0], N_TTFT)
            on, off = await in_turns(
                rig, n_runs, f"prompt lookup, {kind}",
                partial(_speed, rig, looking, chats), partial(_speed, rig, plain, chats),
            )  # fmt: skip
            parts |= {f"{kind}_on_tps": on, f"{kind}_off_tps": off}
            gains[kind] = ratios(on, off)
    worse = min(gains.values(), key=median)
    return {"lookup_gain": Measured(gains["quotes"], parts), "lookup_floor": Measured(worse, parts)}


async def _speed(rig: Rig, daemon: PrivateDaemon, chats: Sequence[Sequence[Message]]) -> float:
    """Return tokens per second over several answers, one after another."""
    answers = [await rig.ask(daemon, messages, N_DECODE) for messages in chats]
    return figures.rate_in_turn([(answer.n_tokens, answer.times) for answer in answers])


async def in_turns(
    rig: Speaker, n_runs: int, what: str, a: Callable[[], Awaitable[T]], b: Callable[[], Awaitable[T]]
) -> tuple[list[T], list[T]]:
    """Measure two sides in turn, the one that comes first changing from run to run (A B, B A, A B, …)."""
    of_a: list[T] = []
    of_b: list[T] = []
    for run in range(n_runs):
        rig.say(f"{what}, run {run + 1} of {n_runs}")
        sides = [(a, of_a), (b, of_b)]
        for measure, kept in sides if run % 2 == 0 else reversed(sides):
            kept.append(await measure())
    if not all(of_a) or not all(of_b):
        raise BenchError(f"{what}: an answer ended before its speed could be measured")
    return of_a, of_b


async def prose(rig: Rig, n_tokens: int) -> str:
    """Return text that, in its template, makes a prompt of about `n_tokens`, and that no cache knows."""
    bare = await rig.bare()
    return await bare.cut(texts.prose(rig.salt(), n_tokens), n_tokens - TEMPLATE_ROOM)
