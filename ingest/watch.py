"""Hints that something moved in the watched folder. The only importer of watchdog.

A hint carries nothing: the sweep looks for itself. Where hints cannot be trusted (network file systems, a
full inotify table), the sweep comes round often instead, and `how` says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

log = logging.getLogger(__name__)

POLL_S = 5.0  # between sweeps where there are no hints; 10,000 unchanged files take well under a second
# Our own reading of a file makes these. They are left out here, since an event filter would leave out chmod
# as well.
READING = ("opened", "closed_no_write")
# Changes made by other machines, or below an overlay, never reach inotify (watchdog#409).
REMOTE = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "virtiofs",
    "afs",
    "ceph",
    "glusterfs",
    "overlay",
    "fuse.",
)


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
        self._polling = ""
        self._identity: tuple[int, int] | None = None

    @property
    def poll_s(self) -> float | None:
        """Seconds after which to sweep without a hint; None where hints are enough."""
        return POLL_S if self._polling else None

    def start(self) -> None:
        """Begin to watch; a folder that is missing is watched once `check` finds it."""
        self.check()

    def check(self) -> None:
        """Start the observer again if it died or its folder came back; to be called before every sweep."""
        if self._is_working():
            return
        self.stop()
        self._polling = self._begin()
        how = f"polling every {POLL_S:.0f} s ({self._polling})" if self._polling else "inotify"
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
        # nothing of it.
        if self._observer is None or _identity(self._folder) != self._identity:
            return False
        # The thread that reads inotify has no public name; it dies when a new sub-folder finds the table full.
        reader = getattr(self._observer, "_inotify_fd", self._observer)
        return all(thread.is_alive() for thread in (self._observer, reader, *self._observer.emitters))

    def _begin(self) -> str:
        """Start an observer; return why polling is needed, or an empty string."""
        if not self._folder.is_dir():
            return "the folder is missing"
        observer: BaseObserver | None = None
        try:
            observer = Observer()
            observer.schedule(self._handler, str(self._folder), recursive=True)
            observer.start()
        except OSError as error:  # the user's inotify instances or watches are used up
            if observer is not None:
                observer.on_thread_stop()  # its reading thread runs from construction on
            return f"inotify: {error.strerror or error}"
        self._observer, self._identity = observer, _identity(self._folder)
        kind = file_system_of(
            self._folder.resolve(), Path("/proc/self/mountinfo").read_text(errors="replace")
        )
        return f"{kind} file system" if kind.startswith(REMOTE) else ""


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


def file_system_of(folder: Path, mountinfo: str) -> str:
    """Return the type of the file system that a folder is on, or an empty string.

    Args:
        mountinfo: text of /proc/self/mountinfo, proc_pid_mountinfo(5).
    """
    best, kind = -1, ""
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split()
        if not separator or len(fields) < 5:
            continue
        mount = Path(_unescape(fields[4]))
        # Later lines cover earlier ones on the same mount point.
        if folder.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), after.split()[0]
    return kind


def _unescape(path: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path
