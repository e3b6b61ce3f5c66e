"""Who is at the other end of the socket: the kernel says (SO_PEERCRED), so there are no passwords."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Annotated

from fastapi import Depends, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ingest.access import Viewer

_SO_PEERGROUPS = 59  # asm-generic/socket.h, Linux 4.13; Python's socket module does not name it
_MAX_GROUPS = 65_536  # NGROUPS_MAX, limits.h


class PeerProtocol(H11Protocol):
    """HTTP/1.1 whose `scope["client"]` is ("uid:gid,gid,…", pid) of the peer: where uvicorn lets it in."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Ask the kernel who connected."""
        super().connection_made(transport)
        peer: socket.socket = transport.get_extra_info("socket")
        pid, uid, gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        groups = ",".join(str(group) for group in {gid, *_supplementary(peer)})
        self.client = (f"{uid}:{groups}", pid)


def viewer(request: Request) -> Viewer:
    """Return the caller of a request."""
    assert request.client is not None, "the daemon serves a unix socket through PeerProtocol"
    uid, _, gids = request.client.host.partition(":")
    return Viewer(int(uid), frozenset(int(gid) for gid in gids.split(",")))


Caller = Annotated[Viewer, Depends(viewer)]


def _supplementary(peer: socket.socket) -> tuple[int, ...]:
    try:
        raw = peer.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, 4 * _MAX_GROUPS)
    except OSError:
        return ()  # a kernel before 4.13: the primary group alone, which only ever shows less
    return struct.unpack(f"{len(raw) // 4}I", raw)
