"""Starting the daemon behind a terminal, and stopping it: what systemd does where there is no service."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

from appliance.config import Config
from appliance.errors import ApplianceError
from appliance.lock import owner

_START_S = 120.0  # a cold disk reads 400 MB of libraries; the model loads after that
_STOP_S = 30.0
_POLL_S = 0.1
_LOG_LINES = 15


class StartFailedError(ApplianceError):
    """The daemon ended, or did not answer in time: the message holds the end of its log."""


def log_of(config: Config) -> Path:
    """Return the file that a detached daemon logs to."""
    return config.home / "daemon.log"


def start(config: Config) -> int:
    """Start the daemon of a home in its own session; return its pid once it answers.

    Raises:
        StartFailedError: it ended, or does not answer within two minutes.
    """
    config.home.mkdir(parents=True, exist_ok=True)
    with open(log_of(config), "ab") as log:
        before = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "appliance", "--home", str(config.home), "serve"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + _START_S
    while not _answers(config.socket):
        if process.poll() is not None:
            raise StartFailedError(
                f"the daemon ended with code {process.returncode}:\n{_tail(log_of(config), before)}"
            )
        if time.monotonic() > deadline:
            raise StartFailedError(
                f"the daemon does not answer after {_START_S:.0f} s:\n{_tail(log_of(config), before)}"
            )
        time.sleep(_POLL_S)
    return process.pid


def stop(config: Config) -> int | None:
    """Stop the daemon of a home; return its pid once it is gone, None when none ran.

    Raises:
        ApplianceError: it is still there after half a minute.
    """
    pid = owner(config.home)
    if pid is None:
        return None
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_S
    while owner(config.home) == pid:
        if time.monotonic() > deadline:
            raise ApplianceError(f"the daemon (pid {pid}) does not stop; see {log_of(config)}")
        time.sleep(_POLL_S)
    return pid


def _answers(path: Path) -> bool:
    try:
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://appliance") as http:
            return http.get("/healthz").is_success
    except httpx.TransportError:
        return False


def _tail(log: Path, start: int) -> str:
    """Return the last lines of what was logged since byte `start`."""
    return "\n".join(log.read_bytes()[start:].decode("utf-8", "replace").splitlines()[-_LOG_LINES:])
