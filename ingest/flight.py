"""Documents between reading and commit: their texts wait here for the embedder, whoever they belong to.

Bounded by texts, not by files; holds no thread, no model, no record.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ingest.chunk import Chunk
from ingest.record import READY, Version
from ingest.text_digest import digest_of

MAX_TEXTS = 512  # waiting for the embedder: half a minute of its work, about 1 MB
WINDOW = 64  # of them, oldest first, among which texts of like length are looked for


@dataclass(eq=False, slots=True)
class Pending:
    """A document that was read and is not committed yet.

    Attributes:
        version: still without chunks and vectors.
        vectors: of its texts, by digest; (n_dims,), float32.
        n_missing: texts that wait for the embedder.
        closed: all its chunks have come.
        error: why it has to be given up.
    """

    id: int
    path: str
    version: Version
    chunks: list[Chunk] = field(default_factory=list)
    vectors: dict[bytes, NDArray[np.float32]] = field(default_factory=dict)
    n_missing: int = 0
    closed: bool = False
    error: Exception | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to do but the commit."""
        return self.closed and (self.n_missing == 0 or self.error is not None)

    def finished(self) -> Version:
        """Return the version with its chunks and vectors."""
        if not self.chunks:
            return self.version
        vectors = np.stack([self.vectors[digest_of(chunk.embed_text)] for chunk in self.chunks])
        return replace(self.version, state=READY, chunks=self.chunks, vectors=vectors)


@dataclass(eq=False, slots=True)
class Text:
    """One text that waits for its vector, and the documents that want it."""

    digest: bytes
    text: str
    n_tokens: int
    wanted_by: list[Pending]


class Flight:
    """The documents in flight. Thread-safe.

    Args:
        max_texts: waiting at once; who brings more is held up.
    """

    def __init__(self, max_texts: int = MAX_TEXTS) -> None:
        self._max_texts = max_texts
        self._changed = threading.Condition()
        self._documents: dict[Pending, None] = {}  # in the order in which they came
        self._waiting: dict[bytes, Text] = {}  # likewise
        self._embedding: dict[bytes, Text] = {}
        self._stopped = False

    def stop(self) -> None:
        """Hold nobody up any more; `take` returns nothing."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def oldest(self) -> Pending | None:
        """Return the document that has been in flight longest."""
        with self._changed:
            return next(iter(self._documents), None)

    # --- the reading side ---

    def board(self, document: Pending) -> None:
        """Let a document in; blocks while another with the same bytes is in flight, whose vectors will serve both."""
        with self._changed:
            sha256 = document.version.sha256
            self._changed.wait_for(lambda: self._stopped or not (sha256 and self._has(sha256)))
            self._documents[document] = None

    def add(
        self, document: Pending, chunks: Sequence[Chunk], known: Mapping[bytes, NDArray[np.float32]]
    ) -> None:
        """Add the next chunks of a document; blocks while too many texts wait.

        Args:
            known: vectors that need no embedding, by digest of the chunk's `embed_text`.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._waiting) < self._max_texts)
            document.chunks.extend(chunks)
            document.vectors.update(known)
            if document.error is None:
                for chunk in chunks:
                    self._want(document, chunk)
            self._changed.notify_all()

    def close(self, document: Pending) -> bool:
        """Say that all chunks of a document have come; tell whether it is whole."""
        with self._changed:
            document.closed = True
            return document.is_whole

    # --- the embedding side ---

    def wait(self) -> None:
        """Block until a text waits, or nobody is to be held up any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting)

    def take(self, max_texts: int, max_tokens: int) -> list[Text]:
        """Return the oldest text and those most like it in length; blocks until there is one, empty once stopped.

        Args:
            max_tokens: of all texts together, each counted as long as the longest.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting)
            if self._stopped:
                return []
            batch = alike(islice(self._waiting.values(), WINDOW), max_texts, max_tokens)
            for text in batch:
                self._embedding[text.digest] = self._waiting.pop(text.digest)
            self._changed.notify_all()
            return batch

    def put(self, batch: Sequence[Text], vectors: NDArray[np.float32]) -> list[Pending]:
        """Take the vectors of a batch, (len(batch), n_dims); return the documents that are whole now."""
        with self._changed:
            whole = []
            for text, vector in zip(batch, vectors, strict=True):
                del self._embedding[text.digest]
                for document in text.wanted_by:
                    document.vectors[text.digest] = vector
                    document.n_missing -= 1
                    if document.is_whole and document.error is None:
                        whole.append(document)
            return whole

    def give_up(self, text: Text, error: Exception) -> list[Pending]:
        """Give up the documents of a text that cannot be embedded; return those that are whole now."""
        with self._changed:
            del self._embedding[text.digest]
            failed = [document for document in text.wanted_by if document.error is None]
            for document in failed:
                self._fail(document, error)
            return [document for document in failed if document.closed]

    # --- the committing side ---

    def fail(self, document: Pending, error: Exception) -> None:
        """Give a document up."""
        with self._changed:
            self._fail(document, error)

    def land(self, document: Pending) -> None:
        """Let a document go: it is committed, or waits again."""
        with self._changed:
            self._documents.pop(document, None)
            self._changed.notify_all()

    def _has(self, sha256: str) -> bool:
        return any(document.version.sha256 == sha256 for document in self._documents)

    def _want(self, document: Pending, chunk: Chunk) -> None:
        digest = digest_of(chunk.embed_text)
        if digest in document.vectors:
            return
        text = self._waiting.get(digest) or self._embedding.get(digest)
        if text is None:
            text = self._waiting[digest] = Text(digest, chunk.embed_text, chunk.n_tokens, [])
        if document not in text.wanted_by:
            text.wanted_by.append(document)
            document.n_missing += 1

    def _fail(self, document: Pending, error: Exception) -> None:
        document.error = error
        for digest, text in list(self._waiting.items()):
            if document in text.wanted_by:
                text.wanted_by.remove(document)
                if not text.wanted_by:
                    del self._waiting[digest]


def alike(texts: Iterable[Text], max_texts: int, max_tokens: int) -> list[Text]:
    """Return the first text and those nearest to it in length, shortest first.

    Args:
        max_tokens: number of texts times the longest's tokens, at most; the first text is taken whatever it costs.
    """
    first, *others = texts
    batch, longest = [first], first.n_tokens
    for text in sorted(others, key=lambda text: abs(text.n_tokens - first.n_tokens)):
        longest_then = max(longest, text.n_tokens)
        if len(batch) == max_texts or (len(batch) + 1) * longest_then > max_tokens:
            break
        batch.append(text)
        longest = longest_then
    return sorted(batch, key=lambda text: text.n_tokens)
