"""What workers and widgets tell the screens. Small, and nothing else crosses between them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from appliance.api.schema import AskEvent
from appliance.api.schema_documents import DocumentsReply
from appliance.api.schema_status import StatusReply


@dataclass
class StatusArrived(Message):
    """The daemon answered the poll."""

    status: StatusReply


@dataclass
class DaemonAway(Message):
    """The daemon did not answer the poll, or not in words this screen knows."""

    reason: str


@dataclass
class AnswerStep(Message):
    """The next event of a running answer, for its turn."""

    step: AskEvent


@dataclass
class AnswerFailed(Message):
    """The answer will not come; for its turn."""

    reason: str


class AnswerStopped(Message):
    """The person stopped the answer; for its turn."""


@dataclass
class OpenPassage(Message):
    """Read passage `number` of the turn it came from in its surroundings."""

    number: int


@dataclass
class QuestionAsked(Message):
    """Enter was pressed on a question; if it cannot be asked, it goes back into the box."""

    text: str


class ReadAnswer(Message):
    """The person wants to go from the question box to the last answer."""


@dataclass
class DocumentsArrived(Message):
    """The documents, now or after a change."""

    reply: DocumentsReply


@dataclass
class DocumentsAway(Message):
    """The list of documents cannot be followed at the moment."""

    reason: str
