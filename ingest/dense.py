"""The Chroma index: a cache of the record's vectors. Opened, probed, followed, and built anew when it is bad.

Nothing here is the truth: whoever asks joins the ids on the record, and an
index that fails is replaced from it, without parsing or embedding.
"""

from __future__ import annotations

import logging
import random
import re
import threading
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ingest.chroma_index import BATCH, CHROMA_VERSION, Index
from ingest.errors import DenseError, LibraryError
from ingest.index_folder import IndexFacts, IndexFolder
from ingest.index_probe import probe
from ingest.library import Library
from ingest.vector_log import Delta, VectorLog

log = logging.getLogger(__name__)

N_SAMPLES = 16
RETRY_S = 600.0  # an index that fails sooner after it was built is not built again at once
FIRST_RETRY_S = 5.0  # until the next attempt then, or after a failed one (a full disk); then twice as long
MIN_DEAD = 2000  # removed entries before dead nodes outnumbering live ones are worth a rebuild

State = Literal["ready", "rebuilding", "off"]


class Dense:
    """The index of one embedder's vectors: `ready`, `rebuilding`, or `off` with a reason.

    Opening happens on a thread of its own, since probing and rebuilding may take minutes; until it is ready,
    and whenever it fails, `query` raises and the caller asks `RecordVectors`.
    """

    def __init__(self, folder: Path, library: Library, fingerprint: str, n_dims: int) -> None:
        self.state: State = "rebuilding"
        self.reason = "the index is being opened"
        self.n_vectors = 0
        self._collection = collection_name(fingerprint)
        self._n_dims = n_dims
        self._record_id = library.database.meta("record_id") or ""
        self._vectors = VectorLog(library.database, fingerprint)
        self._folder = IndexFolder(folder)
        self._facts = IndexFacts()
        self._index: Index | None = None
        self._retired: list[Index] = []
        self._lock = threading.RLock()  # over the index's writes, its facts and its state
        self._stopping = threading.Event()
        self._tried = -RETRY_S
        self._retry_at, self._retry_s = 0.0, FIRST_RETRY_S
        # Before ingest writes: what a crash took from the record frees ids that this index knows with other vectors.
        self._seq_at_start = self._vectors.seq()
        if max(self._folder.load().watermarks.values(), default=0) > self._seq_at_start:
            self._folder.distrust()
        self._opener = self._start_opener(self._open)

    def query(self, vector: NDArray[np.float32], n: int) -> list[tuple[int, float]]:
        """Return the n nearest chunks as (chunk id, cosine), best first; some may be gone from the record.

        Raises:
            DenseError: the index is not ready, is far behind the record (its answer would have holes), or failed just
                now and is being rebuilt.
        """
        index = self._index
        if self.state != "ready" or index is None:
            raise DenseError(f"the vector index is {self.state}: {self.reason}")
        late = self._vectors.since(self._facts.watermarks.get(self._collection, 0))
        if late.more:
            raise DenseError("the vector index is catching up with the record")
        if vector.shape != (self._n_dims,):
            raise DenseError(f"the query has shape {vector.shape}, the index ({self._n_dims},)")
        try:
            return with_late(index.nearest(vector, n), late, vector)[:n]
        except DenseError as error:
            self._failed(index, error)
            raise

    def follow(self) -> None:
        """Catch up with the record. Never raises: an index that fails is rebuilt, and the state says so."""
        with self._lock:
            index = self._index
            if self._stopping.is_set():
                return
            if self.state == "off" and time.monotonic() >= self._retry_at:
                self._try_again()
            if self.state != "ready" or index is None:
                return
            try:
                self._catch_up(index)
            except (DenseError, LibraryError, OSError) as error:
                self._failed(index, error)

    def wait(self, timeout_s: float) -> bool:
        """Wait until opening or rebuilding is over; tell whether the index is ready."""
        self._opener.join(timeout_s)
        return self.state == "ready"

    def close(self) -> None:
        """Close the index in good order, so that the next start trusts it."""
        self._stopping.set()
        self._opener.join()
        with self._lock:
            ready = self.state == "ready"
            self.state, self.reason = "off", "closed"
            for index in self._retired:
                with suppress(DenseError):
                    index.close()
            try:
                if self._index:
                    self._index.close()
                if ready:
                    self._facts.clean = True
                    self._folder.save(self._facts)
            except (DenseError, OSError) as error:
                log.warning("the vector index was not closed in good order and will be probed: %s", error)
            self._index = None

    # --- opening, on the opener's thread ---

    def _start_opener(self, work: Any, *arguments: Any) -> threading.Thread:
        opener = threading.Thread(
            target=self._guarded, args=(work, *arguments), name="dense-opener", daemon=True
        )
        opener.start()
        return opener

    def _guarded(self, work: Any, *arguments: Any) -> None:
        try:
            work(*arguments)
        except (DenseError, LibraryError, OSError) as error:
            log.warning("the vector index is off, search runs on the record's vectors: %s", error)
            self._turn_off(str(error))

    def _open(self) -> None:
        facts = self._folder.load()
        self._folder.clear_orphans(facts)
        if problem := self._problem_of(facts):
            self._rebuild(problem)
            return
        was_clean, facts.clean = facts.clean, False
        self._folder.save(facts)
        try:
            index = Index(self._folder.path_of(facts), self._collection)
            with self._lock:
                self._facts = facts
                if not was_clean or self._collection not in facts.watermarks:
                    self._reconcile(index)
                self._adopt(index)
        except DenseError as error:
            self._rebuild(f"it could not be opened: {error}")

    def _problem_of(self, facts: IndexFacts) -> str:
        """Return why the index on disk must be built anew, or an empty string."""
        watermark = facts.watermarks.get(self._collection)
        if not facts.directory or not self._folder.path_of(facts).is_dir():
            return "there is none yet"
        if facts.record_id != self._record_id:
            return "it belongs to another record"
        if facts.chroma != CHROMA_VERSION:
            return f"it was written by Chroma {facts.chroma}, this is {CHROMA_VERSION}"
        if watermark is not None and not self._vectors.pruned_to() <= watermark <= self._seq_at_start:
            return "the record was restored or cut off"
        if facts.removed.get(self._collection, 0) > max(MIN_DEAD, self._vectors.n_vectors()):
            return "most of its entries are dead"
        return "" if facts.clean else self._probe(facts)

    def _probe(self, facts: IndexFacts) -> str:
        ids = sorted(self._vectors.ids())
        picked, vectors = self._vectors.vectors_of(random.sample(ids, min(N_SAMPLES, len(ids))))
        damage = probe(self._folder.path_of(facts), self._collection, picked, vectors)
        return f"it was not closed in good order, and {damage}" if damage else ""

    def _rebuild(self, why: str) -> None:
        self.state, self.reason = "rebuilding", f"the index is built from the record: {why}"
        log.info("%s", self.reason)
        self._tried = time.monotonic()
        facts = IndexFacts(self._folder.new_directory(), self._record_id, CHROMA_VERSION, clean=False)
        try:
            self._fill(facts)
        except (DenseError, LibraryError, OSError):
            self._folder.discard(facts)  # or each attempt on a full disk would leave one
            raise

    def _fill(self, facts: IndexFacts) -> None:
        index = Index(self._folder.path_of(facts), self._collection)
        watermark = self._vectors.seq()  # before the rows: what comes in between is followed, twice at worst
        try:
            for ids, vectors in self._vectors.pages():
                index.put(ids, vectors)
                if self._stopping.is_set():
                    raise DenseError("stopped while the index was built")
            facts.watermarks[self._collection] = watermark
            with self._lock:
                self._facts = facts
                self._adopt(index)
        except (DenseError, LibraryError, OSError):
            self._index = None
            self._retired.append(index)
            raise

    def _reconcile(self, index: Index) -> None:
        """Make the index hold exactly the record's ids, whatever a crash left in it.

        Vectors that changed since it last followed are put right by following on.
        """
        watermark = self._facts.watermarks.get(self._collection, self._vectors.seq())
        live, stored = self._vectors.ids(), index.ids()
        index.remove(sorted(stored - live))
        missing = sorted(live - stored)
        for start in range(0, len(missing), BATCH):
            index.put(*self._vectors.vectors_of(missing[start : start + BATCH]))
        self._facts.watermarks[self._collection] = watermark

    def _adopt(self, index: Index) -> None:
        self._index = index
        self._catch_up(index)
        self._folder.save(self._facts)
        self.state, self.reason = "ready", ""
        # Of those out of use, some may still be open: their files go when they are closed.
        self._folder.clear_orphans(self._facts)
        with suppress(LibraryError):  # a full disk: the log is cut off another time
            self._vectors.prune(min(self._facts.watermarks.values()))

    def _catch_up(self, index: Index) -> None:
        facts, name = self._facts, self._collection
        watermark, more, moved = facts.watermarks[name], True, False
        while more:
            delta = self._vectors.since(watermark)
            index.remove(delta.removed)
            index.put(delta.added, delta.vectors)
            facts.removed[name] = facts.removed.get(name, 0) + len(delta.removed)
            moved = moved or delta.seq != watermark
            watermark, more = delta.seq, delta.more
        if moved:
            facts.watermarks[name] = watermark
            self._folder.save(facts)
        self.n_vectors = index.count()

    def _failed(self, index: Index, error: Exception) -> None:
        with self._lock:
            if self._index is not index:
                return  # another thread was first
            log.warning("the vector index failed: %s", error)
            self._index = None
            self._retired.append(index)  # closed at the end only: another thread may be in it
            if time.monotonic() - self._tried >= RETRY_S:
                self._retry_s = FIRST_RETRY_S
                self._rebuild_soon(str(error))
            else:
                self._turn_off(f"the index failed again: {error}")

    def _turn_off(self, why: str) -> None:
        self._retry_at, self._retry_s = time.monotonic() + self._retry_s, min(2 * self._retry_s, RETRY_S)
        self.state, self.reason = "off", why

    def _try_again(self) -> None:
        if self._facts.directory:
            self._rebuild_soon(self.reason)
        else:  # it was never opened: the disk was full at the start
            self.state = "rebuilding"
            self._opener = self._start_opener(self._open)

    def _rebuild_soon(self, why: str) -> None:
        self.state, self.reason = "rebuilding", why
        self._opener = self._start_opener(self._rebuild, why)


def with_late(
    found: list[tuple[int, float]], late: Delta, vector: NDArray[np.float32]
) -> list[tuple[int, float]]:
    """Return what an index found, with what is in the record since and not in the index yet, best first."""
    if not late.added and not late.removed:
        return found
    scores = dict(found)
    if late.added:
        scores |= zip(
            late.added, (late.vectors @ (vector / (np.linalg.norm(vector) or 1.0))).tolist(), strict=True
        )
    for id in late.removed:
        scores.pop(id, None)
    return sorted(scores.items(), key=lambda pair: -pair[1])


def collection_name(fingerprint: str) -> str:
    """Return the collection of an embedder: readable, in Chroma's alphabet (letters, digits, `._-`)."""
    readable = re.sub(r"[^a-zA-Z0-9]+", "-", fingerprint)[:40].strip("-")
    return f"chunks-{readable}-{sha256(fingerprint.encode()).hexdigest()[:12]}"
