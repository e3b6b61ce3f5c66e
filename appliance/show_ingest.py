"""How documents, and what ingest does with them, are printed: for people, or as JSON for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from appliance.api.schema_documents import Added, DocumentsReply, IngestPlan, IngestStatus, RetryReply
from appliance.show import clean, print_json
from ingest.unit import Parsed

_MAX_LISTED = 20  # of each kind in a plan; --json prints all


def documents(reply: DocumentsReply, as_json: bool) -> None:
    """Print the documents and what ingest is doing."""
    if as_json:
        return print_json(reply)
    for document in reply.documents:
        print(f"{document.state:<15} {_size(document.size):>9}  {clean(document.path)}")
        for line in (document.reason, *document.notes):
            if line:
                print(f"{'':<15} {'':>9}  {clean(line)}")
    print(f"{len(reply.documents)} documents in {reply.ingest.folder}; {_work(reply.ingest)}")
    return None


def status(ingest: IngestStatus, as_json: bool) -> None:
    """Print what ingest is doing."""
    if as_json:
        return print_json(ingest)
    counts = ", ".join(f"{n} {state}" for state, n in sorted(ingest.counts.items())) or "no documents"
    for name, text in (
        ("folder", f"{ingest.folder} ({ingest.watching})"),
        ("documents", counts),
        ("work", _work(ingest)),
        ("left out", _left_out(ingest)),
    ):
        if text:
            print(f"{name:<12} {clean(text)}")
    return None


def added(reply: Added, as_json: bool) -> None:
    """Say that a file was taken in."""
    if as_json:
        return print_json(reply)
    print(f"added {clean(reply.path)} ({_size(reply.size)}); `appliance documents` shows what becomes of it")
    return None


def retried(reply: RetryReply, as_json: bool) -> None:
    """Say how many documents are read again."""
    if as_json:
        return print_json(reply)
    print(f"{reply.n_queued} documents wait to be read again" if reply.n_queued else "no document has failed")
    return None


def plan(found: IngestPlan, as_json: bool) -> None:
    """Print what a sweep would do."""
    if as_json:
        return print_json(found)
    if found.problem:
        print(clean(found.problem))
    moved = [f"{old} → {new}" for old, new in found.moved]
    refused = [f"{path}: {why}" for path, why in found.refused.items()]
    for words, lines in (
        ("new, to be read", found.new), ("changed, to be read again", found.changed), ("moved", moved),
        ("gone, to be removed", found.gone), ("missing, kept until `appliance ingest confirm`", found.held),
        ("never read", refused),
    ):  # fmt: skip
        _list(words, lines)
    print(f"{found.n_unchanged} unchanged, {found.n_ignored} ignored")
    return None


def parsed(found: Parsed, as_json: bool) -> None:
    """Print what was read from a file."""
    if as_json:
        units = [
            {**asdict(unit), "locator": unit.locator.to_json(), "flags": sorted(unit.flags)}
            for unit in found.units
        ]
        return print_json({**asdict(found), "units": units})
    print(f"{found.outcome}: {found.format or 'unknown format'}, {len(found.units)} units, {found.seconds:.2f} s, "
          f"{found.peak_mb:.0f} MB" + (f", {found.n_pages} pages" if found.n_pages else ""))  # fmt: skip
    for line in (found.reason, *found.notes):
        if line:
            print(clean(line))
    place = None
    for unit in found.units:
        if str(unit.locator) != place:
            place = str(unit.locator)
            print(f"\n── {clean(place)}")
        flags = f" ({', '.join(sorted(unit.flags))})" if unit.flags else ""
        print(f"{unit.kind}{flags}: {clean(unit.text)}")
    return None


def _work(ingest: IngestStatus) -> str:
    parts = ["paused" if ingest.paused else "", clean(ingest.problem), f"{ingest.n_waiting} waiting"]
    if ingest.current:
        parts.append(f"reading {clean(ingest.current)}" + (f", {ingest.step}" if ingest.step else ""))
    if ingest.n_waiting and ingest.pages_per_min:
        parts.append(f"{ingest.pages_per_min:.0f} pages a minute")
    if ingest.eta_s is not None:
        parts.append(f"about {_duration(ingest.eta_s)} left")
    return "; ".join(part for part in parts if part)


def _left_out(ingest: IngestStatus) -> str:
    refused = (
        f"{ingest.n_refused} links and devices (`appliance ingest plan` names them)"
        if ingest.n_refused
        else ""
    )
    ignored = f"{ingest.n_ignored} ignored" if ingest.n_ignored else ""
    return ", ".join(part for part in (refused, ignored) if part)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _list(words: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"{words} ({len(lines)}):")
    for line in lines[:_MAX_LISTED]:
        print(f"  {clean(line)}")
    if len(lines) > _MAX_LISTED:
        print(f"  … and {len(lines) - _MAX_LISTED} more")


def _size(n: int) -> str:
    return f"{n / 2**20:.1f} MB" if n >= 2**20 else f"{n / 2**10:.1f} KB"
