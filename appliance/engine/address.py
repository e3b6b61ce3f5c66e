"""Where a remote server is and how to reach it: address, key, connection. Says nothing to it yet."""

from __future__ import annotations

import logging
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from appliance.errors import ConfigError

log = logging.getLogger(__name__)

CONNECT_S = 5.0
# A machine that loses its power says nothing; answers have no time limit, so the kernel asks after it. It counts as
# gone after 20 + 3 × 10 seconds of silence.
_KEEPALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 50_000),
)


@dataclass(frozen=True, slots=True)
class Address:
    """A server's place.

    Attributes:
        base: URL that the routes are appended to, without /v1.
        socket: path of its unix socket; empty for TCP.
        name: for people: host and port, or the socket's path.
    """

    base: str
    socket: str
    name: str


def parse_address(url: str | None) -> Address:
    """Read `engine.url`: http(s)://host[:port][/path][/v1], or unix:/path/of/the.sock.

    Raises:
        ConfigError: it is neither.
    """
    if url is None:
        raise ConfigError("engine.url: engine.backend is openai, so it must name the server")
    if url.startswith("unix:"):
        path = "/" + url.removeprefix("unix:").lstrip("/")
        if not url.startswith("unix:/") or path == "/":
            raise ConfigError("engine.url: a unix socket is named by its whole path: unix:/path/of/the.sock")
        return Address("http://remote", path, path)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = None
    if not usable:
        raise ConfigError("engine.url: must be http://…, https://… or unix:/path/of/the.sock")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("engine.url: may hold no user or password; a key belongs in engine.key_file")
    if parts.query or parts.fragment:
        raise ConfigError("engine.url: ends with the path; no ? and no # in it")
    path = parts.path.rstrip("/").removesuffix("/v1")
    return Address(f"{parts.scheme}://{parts.netloc}{path}", "", f"{parts.netloc}{path}")


def find_key(file: str | None, key: str | None) -> str:
    """Return the key from `engine.key_file` or `engine.key`; empty where neither is set. No message shows it.

    Raises:
        ConfigError: both are set, the file cannot be read, or what is there cannot be a key.
    """
    if file is not None and key is not None:
        raise ConfigError("engine.key: engine.key_file is set too; leave one of them out")
    if file is None and key is None:
        return ""
    setting = "engine.key" if file is None else "engine.key_file"
    found = key if file is None else _read(Path(file))
    if not found or not found.isascii() or not found.isprintable() or " " in found:
        raise ConfigError(f"{setting}: a key is one word of printable ASCII")
    return found


def _read(file: Path) -> str:
    try:
        if file.stat().st_mode & 0o004:
            log.warning("engine.key_file: everyone on this machine may read %s; chmod 600 it", file)
        return file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ConfigError(f"engine.key_file: {file} is no text") from None  # the cause shows the bytes
    except OSError as error:
        raise ConfigError(f"engine.key_file: {file} cannot be read: {error.strerror}") from error


def connect(address: Address, key: str) -> httpx.AsyncClient:
    """Return a client for the server. It follows no redirect and no proxy: it talks to that address or to nobody."""
    transport = httpx.AsyncHTTPTransport(
        # The machine's own trust store, so that a house's own authority counts once it is installed there.
        verify=ssl.create_default_context(),
        trust_env=False,
        uds=address.socket or None,
        # A kept connection that the server has closed meanwhile cannot be told from one that dies under a request.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        socket_options=None if address.socket else _KEEPALIVE,
    )
    return httpx.AsyncClient(
        transport=transport,
        base_url=address.base,
        headers={"Authorization": f"Bearer {key}"} if key else None,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )
