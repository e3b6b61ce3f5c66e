"""/api/conversations: what the caller asked before."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from appliance.api.caller import Caller
from appliance.api.parts import Daemon
from appliance.api.schema import Conversation, ConversationSummary
from appliance.errors import NotFoundError

router = APIRouter(prefix="/api/conversations")


@router.get("")
async def conversations(caller: Caller, daemon: Daemon) -> list[ConversationSummary]:
    """Return the caller's conversations, newest first."""
    return await asyncio.to_thread(daemon.journal.summaries, caller.uid)


@router.get("/{conversation}")
async def conversation(conversation: str, caller: Caller, daemon: Daemon) -> Conversation:
    """Return one conversation with its turns."""
    found = await asyncio.to_thread(daemon.journal.get, conversation, caller.uid)
    if found is None:
        raise NotFoundError(f"there is no conversation {conversation}")
    return found


@router.delete("/{conversation}", status_code=204)
async def delete(conversation: str, caller: Caller, daemon: Daemon) -> None:
    """Delete a conversation for good."""
    if not await asyncio.to_thread(daemon.journal.delete, conversation, caller.uid):
        raise NotFoundError(f"there is no conversation {conversation}")
