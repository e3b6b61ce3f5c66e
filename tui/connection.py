"""What the screen knows about the daemon: one frozen value, replaced at each poll."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.api.schema_status import StatusReply


@dataclass(frozen=True, slots=True)
class Connection:
    """The last poll's result.

    Attributes:
        up: the daemon answered; None before the first poll.
        status: its last good status, kept while it is away.
        reason: why it is away, in plain words.
    """

    up: bool | None = None
    status: StatusReply | None = None
    reason: str = ""
