"""Hints that something moved in the watched folder. The only importer of watchdog.

A hint carries nothing: the sweep looks for itself. Where hints cannot be trusted (a network file system, on the
folder or on a part of it, or a full inotify table), the sweep comes round often besides, and `how` says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from ingest.mounts import Mount, mounts_of
from ingest.stored import printable

log = logging.getLogger(__name__)

POLL_S = 5.0  # between sweeps where there are no hints; 10,000 unchanged files take well under a second
# Our own reading of a file makes these. They are left out here, since an event filter would leave out chmod
# as well.
READING = ("opened", "closed_no_write")
MAX_NAMED = 3  # sub-folders that are polled and named


class Watch:
    """Watches one folder and calls `on_hint`, from a thread of its own.

    Args:
        on_hint: must be quick and must not raise: setting an event.
    """

    def __init__(self, folder: Path, on_hint: Callable[[], None]) -> None:
        self.how = "not started"
        self._folder = folder
        self._handler = _Hint(on_hint)
        self._observer: BaseObserver | None = None
        self._polling = True
        self._identity: tuple[int, int] | None = None
        self._mounts: dict[str, Mount] = {}

    @property
    def poll_s(self) -> float | None:
        """Seconds after which to sweep without a hint; None where hints are enough."""
        return POLL_S if self._polling else None

    def start(self) -> None:
        """Begin to watch; a folder that is missing is watched once `check` finds it."""
        self.check()

    def check(self) -> None:
        """Start the observer again if it died, its folder came back, or mounts changed; to be called before every
        sweep."""
        if self._is_working():
            return
        self.stop()
        failure = self._begin()
        self._polling, how = described(self._mounts, failure)
        if how != self.how:
            log.info("watching %s: %s", self._folder, how)
        self.how = how

    def stop(self) -> None:
        """Stop watching."""
        observer, self._observer = self._observer, None
        if observer and observer.ident is not None:
            observer.stop()
            observer.join()

    def _is_working(self) -> bool:
        # A folder that was renamed and made anew, or mounted over, is another folder: the old watch sees
        # nothing of it. Nor does it see what is mounted in it later.
        if self._observer is None or _identity(self._folder) != self._identity:
            return False
        if mounts_of(self._folder) != self._mounts:
            return False
        # The thread that reads inotify has no public name; it dies when a new sub-folder finds the table full.
        reader = getattr(self._observer, "_inotify_fd", self._observer)
        return all(thread.is_alive() for thread in (self._observer, reader, *self._observer.emitters))

    def _begin(self) -> str:
        """Start an observer; return why it cannot be, or an empty string."""
        if not self._folder.is_dir():
            return "the folder is missing"
        self._identity, self._mounts = _identity(self._folder), mounts_of(self._folder)
        observer: BaseObserver | None = None
        try:
            observer = Observer()
            observer.schedule(self._handler, str(self._folder), recursive=True)
            observer.start()
        except OSError as error:  # the user's inotify instances or watches are used up
            if observer is not None:
                observer.on_thread_stop()  # its reading thread runs from construction on
            return f"inotify: {error.strerror or error}"
        self._observer = observer
        return ""


def described(mounts: Mapping[str, Mount], failure: str) -> tuple[bool, str]:
    """Return whether to poll, and in words how the folder is watched.

    Args:
        failure: why there is no observer; empty when there is one.
    """
    own = mounts.get("")
    if not failure and own is not None and own.is_remote:
        failure = f"{own.kind} file system"
    if failure:
        return True, f"polling every {POLL_S:.0f} s ({failure})"
    remote = [f"{printable(place)}/ every {POLL_S:.0f} s ({mount.kind})"
              for place, mount in sorted(mounts.items()) if mount.is_remote]  # fmt: skip
    if not remote:
        return False, "inotify"
    more = f" and {len(remote) - MAX_NAMED} more" if len(remote) > MAX_NAMED else ""
    return True, f"inotify; {', '.join(remote[:MAX_NAMED])}{more}"


class _Hint(FileSystemEventHandler):
    def __init__(self, on_hint: Callable[[], None]) -> None:
        self._on_hint = on_hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in READING:
            self._on_hint()


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
