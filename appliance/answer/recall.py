"""Earlier turns of a conversation, as far as their evidence still exists and may be read."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.answer.prompt import PastTurn, earlier_turns
from appliance.api.schema import Turn
from appliance.conversations import Journal
from appliance.errors import NotFoundError
from appliance.retrieval.retriever import Retriever
from ingest.access import Viewer


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a new question builds on.

    Attributes:
        turns: oldest first.
        left_out: what had to go, in plain words.
    """

    turns: tuple[PastTurn, ...] = ()
    left_out: tuple[str, ...] = ()


def recall(journal: Journal, retriever: Retriever, conversation: str, viewer: Viewer) -> Recalled:
    """Return the turns of one of the viewer's conversations.

    Raises:
        NotFoundError: the viewer has no such conversation.
    """
    turns = journal.turns(conversation, viewer.uid)
    if turns is None:
        raise NotFoundError(f"there is no conversation {conversation}")
    kept = [kept for kept in turns if _stands(kept.turn, retriever, viewer)]
    n_gone = len(turns) - len(kept)
    note = f"{earlier_turns(n_gone)} whose documents have changed or gone"
    past = tuple(PastTurn(each.sent, each.raw_answer, each.turn.question) for each in kept)
    return Recalled(past, (note,) if n_gone else ())


def _stands(turn: Turn, retriever: Retriever, viewer: Viewer) -> bool:
    return retriever.still_there([passage.chunk_id for passage in turn.passages], viewer)
