"""Prefixes that outlive the process: what hot slots held is written down on a stop and found by the next start.

A start reads the heads of the files alone. The state of one is read when a prompt begins with its tokens, so that a
start costs nothing and a prefix nobody asks for takes no cells. A file of another model, engine or cache type is left
alone; a damaged one is removed; whatever goes wrong costs a prefill and nothing else.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Tokens
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic, time
from typing import BinaryIO

from appliance.engine.slots import common_prefix

MAGIC = b"prefix1\n"
SUFFIX = ".prefix"
_DIGEST = 16
_HEAD = struct.Struct(
    f"<8s{_DIGEST}sIQ{_DIGEST}s{_DIGEST}s"
)  # magic, key, tokens, bytes, digests of head and state
MIN_TOKENS = 64  # fewer are computed in the time that it takes to read them
MAX_AGE_S = 7 * 86_400  # what nobody asked for in a week is nobody's conversation any more
SAVE_S = 1.0  # a stop waits so long: systemd, and the person at the terminal, wait with it
WRITE_BYTES = 4 << 20  # between two looks at the clock


@dataclass(frozen=True, slots=True)
class Candidate:
    """Tokens worth keeping, and how their state is had."""

    tokens: Tokens[int]
    state: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Saved:
    """A prefix on disk."""

    path: Path
    tokens: list[int]
    n_bytes: int
    state_digest: bytes


class Prefixes:
    """The files of one folder that fit one engine.

    Args:
        key: whatever a state depends on: model, engine, cache type.
        max_bytes: of all files together, those of other models included.
    """

    def __init__(
        self, folder: Path, key: str, max_bytes: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._folder = folder
        self._key = _digest(key.encode())
        self._max_bytes = max_bytes
        self._clock = clock
        self._saved = list(self._read_heads())

    def longest(self, prompt: Tokens[int], n_found: int) -> Saved | None:
        """Return the file that knows most of a prompt, if that is worth reading beside `n_found` tokens at hand."""
        known = [(min(common_prefix(saved.tokens, prompt), len(prompt) - 1), saved) for saved in self._saved]
        n, best = max(known, key=lambda one: one[0], default=(0, None))
        return best if n >= n_found + MIN_TOKENS else None

    def read(self, saved: Saved) -> bytes | None:
        """Return a prefix's state; None, and the file is gone, when it is not what was written."""
        try:
            with saved.path.open("rb") as file:
                file.seek(_HEAD.size + 4 * len(saved.tokens))
                state = file.read(saved.n_bytes + 1)
            os.utime(saved.path)
        except OSError:
            state = b""
        if len(state) == saved.n_bytes and _digest(state) == saved.state_digest:
            return state
        self.forget(saved)
        return None

    def forget(self, saved: Saved) -> None:
        """Remove a file that is of no use."""
        self._saved.remove(saved)
        saved.path.unlink(missing_ok=True)

    def save(self, candidates: Iterable[Candidate], seconds: float = SAVE_S) -> int:
        """Write down prefixes, most wanted first, as many as fit into time and space; return how many."""
        end = self._clock() + seconds
        n_saved = n_bytes = 0
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for candidate in candidates:
                if self._clock() >= end:
                    break
                if len(candidate.tokens) < MIN_TOKENS or self._is_known(candidate.tokens):
                    continue
                state = candidate.state()
                n_bytes += len(state)
                if n_bytes > self._max_bytes or not self._write(candidate.tokens, state, end):
                    break
                n_saved += 1
            self._tidy()
        except OSError as error:  # a full disk must not keep the engine from ending
            print(f"prefixes were not saved: {error}", file=sys.stderr, flush=True)
        return n_saved

    def _is_known(self, tokens: Tokens[int]) -> bool:
        """Return whether all but a few of these tokens are on disk: another question on the same passages, say."""
        for saved in self._saved:
            if common_prefix(saved.tokens, tokens) > len(tokens) - MIN_TOKENS:
                with suppress(OSError):
                    os.utime(saved.path)
                    return True
        return False

    def _write(self, tokens: Tokens[int], state: bytes, end: float) -> bool:
        """Write a file beside its place and move it there whole; False when time ran out."""
        packed = array("i", tokens).tobytes()
        digests = _digest(self._key + packed), _digest(state)
        head = _HEAD.pack(MAGIC, self._key, len(tokens), len(state), *digests)
        path = self._folder / (_digest(self._key + packed).hex() + SUFFIX)
        part = path.with_suffix(".part")
        try:
            with open(part, "wb", opener=_private) as file:
                file.write(head + packed)
                for start in range(0, len(state), WRITE_BYTES):
                    if self._clock() >= end:
                        return False
                    file.write(memoryview(state)[start : start + WRITE_BYTES])
            part.replace(path)  # without fsync, which may take seconds: a torn file is found by its digest
        finally:
            part.unlink(missing_ok=True)
        for saved in [one for one in self._saved if common_prefix(one.tokens, tokens) == len(one.tokens)]:
            self.forget(saved)  # the new one begins with all of it
        self._saved.append(Saved(path, list(tokens), len(state), digests[1]))
        return True

    def _tidy(self) -> None:
        """Remove what is too old, and the oldest while all are too large."""
        n_bytes = 0
        for path in sorted(self._folder.glob("*" + SUFFIX), key=lambda path: -path.stat().st_mtime):
            about = path.stat()
            n_bytes += about.st_size
            if n_bytes > self._max_bytes or about.st_mtime < time() - MAX_AGE_S:
                path.unlink()

    def _read_heads(self) -> Iterator[Saved]:
        if not self._folder.is_dir():
            return
        for part in self._folder.glob("*.part"):
            part.unlink(missing_ok=True)  # a save that was killed
        for path in self._folder.glob("*" + SUFFIX):
            try:
                with path.open("rb") as file:
                    saved = self._read_head(path, file)
            except (OSError, struct.error, ValueError):
                path.unlink(missing_ok=True)
                continue
            if saved is not None:
                yield saved

    def _read_head(self, path: Path, file: BinaryIO) -> Saved | None:
        """Return what a file holds, None when it is for another engine.

        Raises:
            ValueError, struct.error: it is damaged.
        """
        magic, key, n_tokens, n_bytes, head_digest, state_digest = _HEAD.unpack(file.read(_HEAD.size))
        if magic != MAGIC:
            raise ValueError(f"{path} is no prefix")
        if key != self._key:
            return None
        if path.stat().st_size != _HEAD.size + 4 * n_tokens + n_bytes:
            raise ValueError(f"{path} is cut off")
        packed = file.read(4 * n_tokens)
        if _digest(key + packed) != head_digest:
            raise ValueError(f"{path} is damaged")
        return Saved(path, array("i", packed).tolist(), n_bytes, state_digest)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # it tells what people asked
