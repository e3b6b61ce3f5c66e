"""How facts are printed: for people, or as JSON for scripts. Text from documents never steers the terminal."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

from appliance.api.schema import (
    AskEvent,
    CitationEvent,
    DoneEvent,
    ErrorEvent,
    Passage,
    PassagesEvent,
    PrefillEvent,
    QueuedEvent,
    SearchReply,
    TokenEvent,
    Wire,
)
from appliance.api.schema_status import EngineReply, StatusReply
from appliance.client import RequestFailedError
from appliance.config import Config

_EXCERPT = 160  # characters of a passage in a list


def clean(text: str) -> str:
    """Return foreign text without control characters: a document must not steer the terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf") else " " for c in text)


class Answer:
    """Prints an answer as its events arrive."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._passages: list[Passage] = []
        self._done: DoneEvent | None = None

    def take(self, event: AskEvent) -> None:
        """Print one event.

        Raises:
            RequestFailedError: the event says that the answer failed.
        """
        match event:
            case PassagesEvent(passages=passages):
                self._passages = passages
                if not self._as_json:
                    _print_passages(passages)
            case QueuedEvent(position=position, wait_s=wait_s):
                self._note(f"waiting, place {position} in the queue, about {wait_s:.0f} s")
            case PrefillEvent(n_done=n_done, n_prompt=n_prompt):
                self._note(f"reading {100 * n_done // max(1, n_prompt)} %")
            case TokenEvent(text=text):
                self._write(clean(text))
            case CitationEvent(citation=citation):
                self._write(f" {clean(citation.mark)}")
            case DoneEvent():
                self._done = event
            case ErrorEvent(code=code, message=message, retryable=retryable):
                raise RequestFailedError(500, code, message, retryable)

    def finish(self) -> bool:
        """Print sources and figures; return whether the documents held an answer."""
        done = self._done
        if done is None:
            raise RequestFailedError(500, "engine_lost", "the answer broke off; ask again", True)
        if self._as_json:
            print_json(
                {"passages": [p.model_dump() for p in self._passages], **done.model_dump(exclude={"event"})}
            )
            return done.answered
        print("\n")
        self._print_sources(done)
        for left_out in done.context.left_out:
            print(f"  left out: {clean(left_out)}")
        print(f"  {_figures(done)}")
        return done.answered

    def _print_sources(self, done: DoneEvent) -> None:
        cited = {number for citation in done.citations for number in citation.numbers}
        for passage in self._passages:
            if passage.number in cited:
                print(f"  [{passage.number}] {_place(passage)}")
        for citation in done.citations:
            if citation.state == "contradicted":
                for source in citation.sources:
                    print(f"  against it: “{clean(source.quote)}” [{source.number}] {clean(source.path)}")
        if done.origin == "quotation":
            print("  the model gave no answer; these are the document's own words")

    def _note(self, text: str) -> None:
        if not self._as_json and sys.stderr.isatty():
            print(f"\r\033[K{text}\r", end="", file=sys.stderr, flush=True)

    def _write(self, text: str) -> None:
        if not self._as_json:
            self._note("")
            print(text, end="", flush=True)


def _figures(done: DoneEvent) -> str:
    timings, context = done.timings, done.context
    if done.origin == "quotation" and timings.n_decoded == 0:
        return f"found in {timings.retrieval_s:.2f} s, model not asked"
    if timings.n_decoded == 0:
        return f"the passages hold too little of the question; found in {timings.retrieval_s:.2f} s, model not asked"
    n_used = context.n_prompt + timings.n_decoded
    return (
        f"{done.model}: first token after {timings.ttft_s:.1f} s, {timings.decode_tps:.0f} tokens/s, "
        f"context {n_used} of {context.n_ctx} tokens (system {context.n_system}, earlier turns {context.n_history}, "
        f"passages {context.n_passages}, question {context.n_question}, answer {timings.n_decoded})"
    )


def passages(reply: SearchReply, as_json: bool) -> None:
    """Print the passages of a search."""
    if as_json:
        return print_json(reply)
    if not reply.passages:
        print("nothing found")
    _print_passages(reply.passages)
    return None


def confined(wanted: str, as_json: bool) -> None:
    """Print which documents are meant, where not all are."""
    if wanted and not as_json:
        print(f"only {clean(wanted)}\n")


def status(reply: StatusReply, as_json: bool) -> None:
    """Print the appliance at a glance."""
    if as_json:
        return print_json(reply)
    engine, ingest, index = reply.engine, reply.ingest, reply.index
    counts = ", ".join(f"{n} {state}" for state, n in sorted(ingest.counts.items())) or "no documents"
    rows = [
        ("appliance", f"{reply.version}, pid {reply.pid}, up {reply.uptime_s:.0f} s, home {reply.home}"),
        ("engine", f"{engine.state}: {engine.model or 'no model'} on {engine.device or '-'}, "
                   f"{engine.n_running} answering, {engine.n_waiting} waiting, {engine.n_restarts} restarts"),
        ("", engine.reason),
        ("", f"earlier: {engine.note}" if engine.note and engine.note != engine.reason else ""),
        ("passages", _read_ahead(engine)),
        ("last answer", f"prefill {engine.prefill_tps:.0f}, decode {engine.decode_tps:.0f} tokens/s"),
        ("folder", f"{ingest.folder} ({ingest.watching})"),
        ("documents", f"{counts}; {ingest.n_waiting} waiting"),
        ("reading", ingest.current),
        ("", ingest.problem),
        ("index", f"{index.state}, {index.n_vectors} vectors, {index.embedder}"),
        ("", index.reason),
    ]  # fmt: skip
    for name, text in rows:
        if text:
            print(f"{name:<12} {clean(text)}")
    return None


def _read_ahead(engine: EngineReply) -> str:
    """What the model has read before anyone asks."""
    if not engine.reads_ahead:
        return ""
    size, unit = (1e9, "GB") if engine.max_block_bytes >= 1e9 else (1e6, "MB")
    kept, most = engine.block_bytes / size, engine.max_block_bytes / size
    left = f", {engine.n_preparing} to go" if engine.n_preparing else ""
    return f"read ahead: {engine.n_blocks} ({kept:.1f} of {most:.3g} {unit}){left}; reuse: {engine.reuse}"


def settings(config: Config, values: Sequence[tuple[str, Any]], as_json: bool) -> None:
    """Print the settings and where each came from."""
    if as_json:
        found = {key: {"value": value, "from": config.origins[key]} for key, value in values}
        return print_json({"home": str(config.home), "socket": str(config.socket), "settings": found})
    print(f"# home {config.home}, socket {config.socket}")
    width = max(len(key) for key, _ in values)
    for key, value in values:
        print(f"{key:<{width}}  {json.dumps(value, default=str):<24}  {config.origins[key]}")
    return None


def _print_passages(found: Sequence[Passage]) -> None:
    for passage in found:
        print(f"[{passage.number}] {_place(passage)}")
        start, end = passage.best or (0, _EXCERPT)
        print(f"    {' '.join(clean(passage.text[start:end]).split())[: 2 * _EXCERPT]}")
    if found:
        print()


def _place(passage: Passage) -> str:
    place = f"{passage.path}, {passage.locator}" if passage.locator else passage.path
    notes = [
        f"{what}: {', '.join(which)}"
        for what, which in (
            ("the same text", passage.also),
            ("newer than", passage.older),
            ("warning", passage.flags),
        )
        if which
    ]
    return clean(f"{place} ({'; '.join(notes)})" if notes else place)


def print_json(data: Wire | dict[str, Any]) -> None:
    """Print a reply as JSON."""
    print(
        json.dumps(
            data.model_dump() if isinstance(data, Wire) else data, ensure_ascii=False, indent=2, default=str
        )
    )
