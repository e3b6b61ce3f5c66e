"""Which passages are likely to be asked about: those of pinned collections, those often shown, those read last.

Says which and in which order; `warmer` has them read.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from appliance.api.schema import Passage
from appliance.conversations import Journal
from appliance.retrieval.passages import alone
from ingest.access import Viewer
from ingest.errors import NotInLibraryError
from ingest.filter import Filter
from ingest.library import Library
from ingest.record import READY
from ingest.stored import printable

log = logging.getLogger(__name__)

N_TURNS = 500  # of the journal: some weeks of one person's questions, or a day of a department's
N_TOGETHER = 4  # passages handed on at once: what a slow box reads in half a minute
_EVERYBODY = Viewer(0, frozenset())

_Document = tuple[int, str, str]  # id, path, SHA-256


class Likely:
    """Names each passage once. One thread at a time.

    Args:
        pinned: collections, as `Filter` names them; those that are not there yet wait.
    """

    def __init__(self, library: Library, journal: Journal, pinned: Sequence[str]) -> None:
        self._library = library
        self._journal = journal
        self._pinned = pinned
        self._through: set[_Document] = set()
        self._named: set[int] = set()

    def groups(self) -> Iterator[list[Passage]]:
        """Yield passages not named yet, a few at a time, the likeliest first. Blocking.

        Those of a group count as named once the next one is asked for: who gives up in between gets them again.

        Raises:
            LibraryError, JournalError: the record or the journal cannot be read.
        """
        documents = self._library.last_read()
        pinned = self._pinned_ids()
        yield from self._of_documents(each for each in documents if each[0] in pinned)
        yield from self._unnamed(self._shown())
        yield from self._of_documents(documents)

    def _pinned_ids(self) -> set[int]:
        found: set[int] = set()
        for collection in self._pinned:
            try:
                scope = self._library.scope(Filter(collections=(collection,)), _EVERYBODY)
            except NotInLibraryError as error:
                log.debug("pinned: %s", error)
            else:
                found |= scope.documents if scope else set()
        return found

    def _of_documents(self, documents: Iterable[_Document]) -> Iterator[list[Passage]]:
        for document in documents:
            if document not in self._through:
                yield from self._unnamed(self._passages_of(document[0]))
                self._through.add(document)

    def _passages_of(self, document_id: int) -> list[Passage]:
        chunks = self._library.text_of(document_id, _EVERYBODY)
        beside = {(document_id, chunk.ordinal): chunk for chunk in chunks}
        return [alone(chunk, beside) for chunk in chunks]

    def _shown(self) -> list[Passage]:
        """What recent turns were given, most often first, as long as its version still stands."""
        shown: dict[tuple[int, str], Passage] = {}
        count: Counter[tuple[int, str]] = Counter()
        for passage in self._journal.shown(N_TURNS):
            key = passage.chunk_id, passage.text
            count[key] += 1
            shown.setdefault(key, passage)
        found = self._library.chunks([chunk_id for chunk_id, _ in shown], _EVERYBODY)
        documents = {id: chunk.document for id, chunk in found.items() if chunk.document.state == READY}
        return [
            shown[key].model_copy(update={"path": printable(documents[key[0]].path)})
            for key, _ in count.most_common()
            if key[0] in documents and documents[key[0]].sha256 == shown[key].version
        ]

    def _unnamed(self, passages: Iterable[Passage]) -> Iterator[list[Passage]]:
        fresh = [passage for passage in passages if _key(passage) not in self._named]
        for at in range(0, len(fresh), N_TOGETHER):
            group = fresh[at : at + N_TOGETHER]
            yield group
            self._named.update(map(_key, group))


def _key(passage: Passage) -> int:
    """What tells one text in a prompt from another; 8 bytes, since a library has many."""
    return hash((passage.chunk_id, passage.version, passage.path, passage.text))
