"""Passages computed once: the KV cells of blocks in files, a folder for each document version they come from.

Nothing here knows what a block says or where it is joined. Whoever forgets a document removes its folder, from another
process and at any time. A damaged or half-written file is no block; whatever goes wrong costs a prefill and nothing
else.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Iterator
from collections.abc import Sequence as Tokens
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from time import time_ns

from appliance.engine.kv_code import decode, encode

MAGIC = b"block-1\n"
SUFFIX, PART = ".kv", ".part"
CLOCK_NS = 3 * 10**9  # a file system may give all changes of two seconds one time (FAT; others: some ms)
_DIGEST = 16
_FIELDS = struct.Struct(f"<8s{_DIGEST}sQ{_DIGEST}s")  # magic, key, bytes after the head and their digest
_HEAD_BYTES = _FIELDS.size + _DIGEST  # and the digest of these and the name


class Blocks:
    """The files of one folder; those of other engines count for the size, and are never read.

    Args:
        key: whatever a state depends on: model, engine, cache type.
        max_bytes: of all files together; the least recently used go.
    """

    def __init__(self, folder: Path, key: str, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._folder = folder
        self._key = _digest(key.encode())
        self._files = dict(self._scan())  # (owner, name) -> bytes; least recently used first
        self._n_bytes = sum(self._files.values())
        self._changed_ns = 0  # when folders were looked at, in the folder's own time
        self._has_complained = False
        self._make_room(0)

    @property
    def n_blocks(self) -> int:
        """How many files there are."""
        self._notice_removed()
        return len(self._files)

    @property
    def n_bytes(self) -> int:
        """Their bytes on disk."""
        self._notice_removed()
        return self._n_bytes

    def name(self, base: Tokens[int], tokens: Tokens[int]) -> str:
        """Return what the block of `tokens` behind `base` is called, in hex."""
        length = struct.pack("<Q", len(base))
        return _digest(self._key, length, array("i", base).tobytes(), array("i", tokens).tobytes()).hex()

    def has(self, owner: str, name: str) -> bool:
        """Return whether there is a file, whole or not."""
        if os.path.isfile(self._path(owner, name)):
            return True
        self._forget(owner, name)
        return False

    def read(self, owner: str, name: str) -> bytes | memoryview | None:
        """Return a block's state; None, and the file is gone, when it is not what was written.

        It is read and not mapped: a disk's error is then a miss, and ends no process.
        """
        path = self._path(owner, name)
        try:
            data = path.read_bytes()
            state = decode(self._payload(data, name))
        except FileNotFoundError:
            self._forget(owner, name)
            return None
        except (OSError, ValueError, struct.error):
            self._remove(owner, name)
            return None
        with suppress(OSError):
            os.utime(path)
        self._remember(owner, name, len(data))
        return state

    def write(self, owner: str, name: str, state: bytes) -> bool:
        """Keep a block's state, whole or not at all; False when it is not kept."""
        payload = encode(state)
        n_bytes = _HEAD_BYTES + len(payload)
        if n_bytes > self.max_bytes:
            return False
        self._make_room(n_bytes)
        path = self._path(owner, name)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _write(path, [self._head(payload, name), payload])
        except FileNotFoundError:  # the document was forgotten meanwhile
            return False
        except OSError as error:
            self._complain(error)
            self._remove_empty(owner)
            return False
        self._remember(owner, name, n_bytes)
        return True

    # --- a file ---

    def _path(self, owner: str, name: str) -> Path:
        return self._folder / owner / (name + SUFFIX)

    def _head(self, payload: bytes, name: str) -> bytes:
        fields = _FIELDS.pack(MAGIC, self._key, len(payload), _digest(payload))
        return fields + _digest(fields, name.encode())

    def _payload(self, data: bytes, name: str) -> memoryview:
        """Return what follows the head.

        Raises:
            ValueError, struct.error: it is damaged, or somebody else's.
        """
        magic, key, n_bytes, payload_digest = _FIELDS.unpack_from(data)
        payload = memoryview(data)[_HEAD_BYTES:]
        fields, digest = data[: _FIELDS.size], data[_FIELDS.size : _HEAD_BYTES]
        if magic != MAGIC or key != self._key or digest != _digest(fields, name.encode()):
            raise ValueError(f"{name} is no block of ours")
        if len(payload) != n_bytes or _digest(payload) != payload_digest:
            raise ValueError(f"{name} is damaged")
        return payload

    # --- what is there ---

    def _scan(self) -> Iterator[tuple[tuple[str, str], int]]:
        """Clear away the rests of killed writes, and return the files, least recently used first; none is opened."""
        found: list[tuple[float, tuple[str, str], int]] = []
        for owner in _listed(self._folder):
            for path in _listed(owner):
                with suppress(OSError):
                    if path.suffix == PART:
                        path.unlink()
                    elif path.suffix == SUFFIX:
                        about = path.lstat()
                        found.append((about.st_mtime, (owner.name, path.stem), about.st_size))
            self._remove_empty(owner.name)
        return ((key, n_bytes) for _, key, n_bytes in sorted(found))

    def _last_change(self) -> int:
        """Return when an owner's folder came or went last."""
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0

    def _notice_removed(self) -> None:
        """Forget the files of folders that somebody removed."""
        changed_ns = self._last_change()
        if changed_ns == self._changed_ns:
            return
        is_settled = time_ns() - changed_ns > CLOCK_NS
        self._changed_ns = changed_ns if is_settled else 0
        owners = {path.name for path in _listed(self._folder)}
        for owner, name in [key for key in self._files if key[0] not in owners]:
            self._forget(owner, name)

    def _remember(self, owner: str, name: str, n_bytes: int) -> None:
        """Count a file, as the most recently used."""
        self._forget(owner, name)
        self._files[owner, name] = n_bytes
        self._n_bytes += n_bytes

    def _forget(self, owner: str, name: str) -> None:
        self._n_bytes -= self._files.pop((owner, name), 0)

    def _make_room(self, n_bytes: int) -> None:
        """Remove the least recently used until so many bytes more are no more than all may have."""
        if self._n_bytes + n_bytes > self.max_bytes:
            self._notice_removed()
        while self._files and self._n_bytes + n_bytes > self.max_bytes:
            self._remove(*next(iter(self._files)))

    def _remove(self, owner: str, name: str) -> None:
        self._forget(owner, name)
        with suppress(OSError):
            self._path(owner, name).unlink()
        self._remove_empty(owner)

    def _remove_empty(self, owner: str) -> None:
        with suppress(OSError):
            (self._folder / owner).rmdir()

    def _complain(self, error: OSError) -> None:
        if not self._has_complained:
            print(f"a block was not kept: {error}", file=sys.stderr, flush=True)
            self._has_complained = True


def _write(path: Path, parts: list[bytes]) -> None:
    """Write a file beside its place and move it there whole."""
    part = path.with_suffix(PART)
    try:
        with open(part, "wb", opener=_private) as file:
            file.writelines(parts)
        part.replace(path)  # without fsync, which may take seconds: a torn file is found by its digest
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it is gone, or no folder
        return []


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = blake2b(digest_size=_DIGEST)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # it tells what documents say
