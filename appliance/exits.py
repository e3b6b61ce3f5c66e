"""Exit codes of the command line: scripts can tell apart what went wrong."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command ended with."""

    SUCCESS = 0
    FAILURE = 1  # it was asked rightly and could not be done
    USER_ERROR = 2  # it was asked wrongly: unknown option, no such file, bad setting
    NOT_RUNNING = 3  # no daemon answers
    NOT_ANSWERED = 4  # `ask` only: the documents do not say
