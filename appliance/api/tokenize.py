"""POST /api/tokenize: how long texts are for the loaded model. Another appliance asks it before it sends a prompt."""

from __future__ import annotations

from fastapi import APIRouter

from appliance.api.parts import Daemon
from appliance.api.schema import TokenizeReply, TokenizeRequest
from appliance.engine.pieces import unmarked

router = APIRouter(prefix="/api")


@router.post("/tokenize")
async def tokenize(body: TokenizeRequest, daemon: Daemon) -> TokenizeReply:
    """Count the tokens of each text, control tokens taken as plain text."""
    return TokenizeReply(counts=await daemon.engine.count_tokens([unmarked(text) for text in body.texts]))
