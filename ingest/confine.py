"""What a process gives up before it meets a file that someone else made: rights, network, priority.

With its own life tied to its parent's, where that is asked for.
Works on the calling process; needs no rights itself. Limits of memory, time and files are set where they are known.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNET = 0x40000000
NICE = 19


def die_with(parent_pid: int) -> None:
    """End this process when its parent ends, or at once when it has ended already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)


def give_up_rights() -> None:
    """Take no new rights, no network where we may, the last place in the queue, and leave no core file."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.unshare(CLONE_NEWNET)  # only root may; the service unit takes the network away for everybody
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def lower_limit(what: int, value: int) -> None:
    """Set a resource limit for good; one that is lower already stays."""
    _, hard = resource.getrlimit(what)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))
