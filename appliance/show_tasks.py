"""How tasks are printed: progress on stderr, the result on stdout. Text from documents never steers the terminal."""

from __future__ import annotations

import sys
from typing import Any, Literal

from appliance.api.schema import ErrorEvent, QueuedEvent, TokenEvent
from appliance.api.schema_tasks import (
    ExtractionDone,
    ProgressEvent,
    RowEvent,
    SummaryDone,
    TaskSource,
    TaskTimings,
    TranslationDone,
)
from appliance.client import RequestFailedError
from appliance.show import clean, print_json
from appliance.tasks.table import to_csv, to_lines

_STAGES = {"map": "reading", "reduce": "joining summaries", "translate": "translating", "extract": "reading"}

Done = SummaryDone | TranslationDone | ExtractionDone


class Shown:
    """Prints what all tasks have in common; `finish` prints the result."""

    def __init__(self) -> None:
        self._done: Done | None = None
        self._open_line = False

    def take(self, event: Any) -> None:
        """Print one event.

        Raises:
            RequestFailedError: the event says that the task failed.
        """
        match event:
            case QueuedEvent(position=position):
                self.progress(f"waiting, place {position} in the queue")
            case ProgressEvent():
                self.progress(_progress(event))
            case TokenEvent(text=text):
                self.token(text)
            case RowEvent(row=row):
                self.progress(f"row {row.number}")
            case ErrorEvent(code=code, message=message, retryable=retryable):
                self._end_line()
                raise RequestFailedError(500, code, message, retryable)
            case SummaryDone() | TranslationDone() | ExtractionDone():
                self._done = event

    def finish(self) -> None:
        """Print the result.

        Raises:
            RequestFailedError: there is none.
        """
        self._end_line()
        if self._done is None:
            raise RequestFailedError(
                500, "engine_lost", "the task broke off; run it again, it goes on from there", True
            )
        self.result(self._done)

    def token(self, text: str) -> None:
        """Take the next piece of text."""

    def result(self, done: Any) -> None:
        """Print what came of it."""

    def progress(self, text: str) -> None:
        """Show where it is: on a terminal in one line, elsewhere a line each."""
        if sys.stderr.isatty():
            print(f"\r\033[K{clean(text)}", end="", file=sys.stderr, flush=True)
            self._open_line = True
        else:
            print(clean(text), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print a line on stderr."""
        self._end_line()
        print(clean(text), file=sys.stderr)

    def notes(self, notes: list[str], timings: TaskTimings, model: str) -> None:
        """Print what people should know of a result, and what it took."""
        for note in notes:
            self.note(f"note: {note}")
        kept = f", {timings.n_cached} from before" if timings.n_cached else ""
        self.note(f"{model}: {timings.n_steps} steps{kept}, {timings.total_s:.1f} s")

    def _end_line(self) -> None:
        if self._open_line:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._open_line = False


class Summary(Shown):
    """A summary, each sentence with its place."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def result(self, done: SummaryDone) -> None:
        """Print the summary, then the places."""
        if self._as_json:
            return print_json(done.model_dump(exclude={"event"}))
        places: dict[str, int] = {}
        shown, at = "", 0
        for statement in done.statements:
            shown += done.summary[at : statement.end] + _marks(statement.sources, places)
            if statement.unknown_numbers:
                shown += f" [not in the document: {', '.join(statement.unknown_numbers)}]"
            at = statement.end
        print(clean(shown + done.summary[at:]))
        print()
        for place, number in places.items():
            print(f"  [{number}] {clean(place)}")
        return self.notes(done.notes, done.timings, done.model)


class Translation(Shown):
    """A translation as it is made."""

    def __init__(self, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def token(self, text: str) -> None:
        """Print the next piece."""
        if not self._as_json:
            self._end_line()
            print(clean(text), end="", flush=True)

    def result(self, done: TranslationDone) -> None:
        """End the text; report what differs."""
        if self._as_json:
            return print_json(done.model_dump(exclude={"event"}))
        print()
        for each in done.differences:
            parts = [f"missing: {', '.join(each.missing)}"] if each.missing else []
            parts += [f"added: {', '.join(each.added)}"] if each.added else []
            self.note(f"numbers differ in part {each.piece}: {'; '.join(parts)}")
        return self.notes(done.notes, done.timings, done.model)


class Rows(Shown):
    """Extracted rows."""

    def __init__(self, format: Literal["csv", "jsonl", "json"]) -> None:
        super().__init__()
        self._format = format

    def result(self, done: ExtractionDone) -> None:
        """Print all rows."""
        match self._format:
            case "json":
                return print_json(done.model_dump(exclude={"event"}))
            case "csv":
                # As they are: print() would make three characters of the two that end a line.
                _write(to_csv(done.columns, done.rows))
            case "jsonl":
                _write(to_lines(done.rows))
        n_doubtful = sum(not all(row.verified.values()) for row in done.rows)
        self.note(f"{len(done.rows)} rows, {n_doubtful} with values that do not stand in the document")
        if done.n_dropped:
            self.note(f"{done.n_dropped} rows were dropped: nothing of them stands in the document")
        return self.notes(done.notes, done.timings, done.model)


def _write(text: str) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _progress(event: ProgressEvent) -> str:
    parts = [f"{_STAGES[event.stage]}: part {min(event.n + 1, event.m)} of {event.m}"]
    if event.n == event.m:
        parts = [f"{_STAGES[event.stage]}: {event.m} of {event.m} done"]
    parts += [event.place] if event.place else []
    parts += [f"{event.n_cached} from before"] if event.n_cached else []
    if event.eta_s is not None and event.n < event.m:
        parts.append(f"about {_time(event.eta_s)} left")
    return ", ".join(parts)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _marks(sources: list[TaskSource], places: dict[str, int]) -> str:
    names = [f"{s.path}, {s.locator}" if s.locator else s.path for s in sources]
    numbers = [places.setdefault(name, len(places) + 1) for name in names]
    return "".join(f" [{n}]" for n in numbers) or " [no source]"
