"""How documents are read by people: sign, word and colour of a state, warnings and other names of a passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from appliance.api.schema import Passage
from appliance.api.schema_documents import Document
from tui.foreign import one_line


@dataclass(frozen=True, slots=True)
class State:
    """How one state looks.

    Attributes:
        order: place in the list; what needs a person comes first.
        failed: it will not become ready unless somebody does something.
    """

    order: int
    sign: str
    word: str
    style: str
    meaning: str
    failed: bool = False


_STATES = {
    "damaged": State(0, "✗", "damaged", "error", "the file cannot be read; replace it", True),
    "crashed": State(0, "✗", "crashed", "error", "reading it failed badly; replace or remove it", True),
    "timeout": State(0, "✗", "too slow", "error", "reading it took too long", True),
    "too_large": State(0, "✗", "too large", "error", "it is larger than the limit", True),
    "needs_password": State(1, "!", "locked", "warning", "it needs a password; save it without one", True),
    "needs_ocr": State(1, "!", "only images", "warning", "it is a scan without text", True),
    "unsupported": State(1, "!", "unsupported", "warning", "files of this kind cannot be read", True),
    "empty": State(1, "!", "empty", "warning", "there is no text in it", True),
    "parsing": State(2, "◐", "reading", "accent", "its text is being read"),
    "embedding": State(2, "◐", "indexing", "accent", "it is being made searchable"),
    "waiting": State(3, "○", "waiting", "foreground 60%", "it is in the queue"),
    "ready": State(4, "●", "ready", "success", ""),
}


def state_of(document: Document) -> State:
    """Return how the document's state looks; one of a newer daemon keeps its own name."""
    unknown = State(3, "·", one_line(document.state), "foreground 60%", "")
    return _STATES.get(document.state, unknown)


def reason_of(document: Document) -> str:
    """Return the daemon's reason, or the state's own words, or what of a readable file was left out."""
    return document.reason or state_of(document).meaning or "; ".join(document.notes)


# The flags of `ingest.unit` as people read them.
_WARNINGS = {
    "ocr": "read from a picture: check letters and figures",
    "hidden": "hidden text",
    "instruction-like": "words meant for a machine",
}


def warning_of(flags: Sequence[str]) -> str:
    """Return what to be warned of in a passage; empty when there is nothing."""
    shown = ", ".join(_WARNINGS.get(flag, one_line(flag)) for flag in flags)
    return f"⚠ {shown}" if shown else ""


def other_names(passage: Passage) -> str:
    """Return under which other names a passage's text lies, and which older versions it stands for."""
    parts = [
        f"{what}: {', '.join(map(one_line, paths))}"
        for what, paths in (("the same text", passage.also), ("newer than", passage.older))
        if paths
    ]
    return " · ".join(parts)


def tally(counts: dict[str, int]) -> tuple[int, int, int]:
    """Return how many are (ready, to do, failed); states of a newer daemon count as to do."""
    n_ready = counts.get("ready", 0)
    n_failed = sum(n for name, n in counts.items() if name in _STATES and _STATES[name].failed)
    return n_ready, sum(counts.values()) - n_ready - n_failed, n_failed
