"""Documents between reading and commit: which texts are embedded together, and when a document is whole."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import numpy as np
import pytest

from ingest.chunk import Chunk
from ingest.flight import Flight, Pending, Text, alike
from ingest.folder import FileStat
from ingest.locator import Locator
from ingest.record import Version
from ingest.text_digest import digest_of

STAT = FileStat(1, 2, 3, 4, 5, 6)


def pending(id: int, sha256: str = "") -> Pending:
    return Pending(id, f"{id}.txt", Version(STAT, sha256 or f"sha {id}", "ok"))


def chunk(text: str) -> Chunk:
    return Chunk(text, Locator(), len(text.split()), text)


def send(flight: Flight, document: Pending, *texts: str) -> bool:
    flight.board(document)
    flight.add(document, [chunk(text) for text in texts], {})
    return flight.close(document)


def vectors(batch: list[Text]) -> np.ndarray:
    return np.array([[len(text.text), 1.0] for text in batch], np.float32)


def in_background(action: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(0.1)
    return thread


@pytest.mark.parametrize(("lengths", "max_texts", "max_tokens", "expected"), [
    ([10], 8, 400, [10]),
    ([500, 3], 8, 400, [500]),
    ([100, 5, 110, 90, 6], 8, 330, [90, 100, 110]),
    ([5, 200, 6, 190, 7], 2, 400, [5, 6]),
    ([200, 10, 199], 8, 400, [199, 200]),
])  # fmt: skip
def test_a_batch_is_the_oldest_text_and_those_like_it(
    lengths: list[int], max_texts: int, max_tokens: int, expected: list[int]
) -> None:
    texts = [Text(bytes([i]), "", n, []) for i, n in enumerate(lengths)]
    assert [text.n_tokens for text in alike(texts, max_texts, max_tokens)] == expected


def test_small_documents_share_a_batch_and_each_is_whole_with_its_last_text() -> None:
    flight = Flight()
    documents = [pending(n) for n in range(3)]
    for n, document in enumerate(documents):
        assert not send(flight, document, f"text {n}")
    batch = flight.take(8, 400)
    assert len(batch) == 3
    assert flight.put(batch, vectors(batch)) == documents
    version = documents[0].finished()
    assert (version.state, version.vectors.shape) == ("ready", (1, 2))


def test_the_same_text_in_two_documents_is_embedded_once() -> None:
    flight, a, b = Flight(), pending(1), pending(2)
    send(flight, a, "same", "same", "other")
    send(flight, b, "same")
    batch = flight.take(8, 400)
    assert [text.text for text in batch] == ["same", "other"]
    assert flight.put(batch, vectors(batch)) == [b, a]
    assert a.finished().vectors.shape == (3, 2)


def test_known_vectors_need_no_embedding() -> None:
    flight, document = Flight(), pending(1)
    flight.board(document)
    flight.add(document, [chunk("known")], {digest_of("known"): np.ones(2, np.float32)})
    assert flight.close(document)


def test_a_copy_waits_until_the_first_has_landed() -> None:
    flight, first, copy = Flight(), pending(1, "same"), pending(2, "same")
    flight.board(first)
    waiting = in_background(lambda: flight.board(copy))
    assert waiting.is_alive()
    flight.land(first)
    waiting.join(5)
    assert not waiting.is_alive()


def test_who_brings_too_much_is_held_up_until_some_is_taken() -> None:
    flight, document = Flight(max_texts=2), pending(1)
    flight.board(document)
    flight.add(document, [chunk("a"), chunk("b")], {})
    waiting = in_background(lambda: flight.add(document, [chunk("c")], {}))
    assert waiting.is_alive()
    flight.take(1, 400)
    waiting.join(5)
    assert not waiting.is_alive()


def test_a_text_that_fails_gives_up_its_documents_and_takes_their_other_texts_out() -> None:
    flight, bad, good = Flight(), pending(1), pending(2)
    send(flight, bad, "poison", "only mine", "shared")
    send(flight, good, "shared")
    [poison] = flight.take(1, 400)
    assert flight.give_up(poison, ZeroDivisionError("a bug")) == [bad]
    batch = flight.take(8, 400)
    assert [text.text for text in batch] == ["shared"]
    assert flight.put(batch, vectors(batch)) == [good]


def test_a_document_given_up_while_it_is_read_is_whole_when_it_is_closed() -> None:
    flight, document = Flight(), pending(1)
    flight.board(document)
    flight.add(document, [chunk("poison")], {})
    [poison] = flight.take(1, 400)
    assert flight.give_up(poison, ZeroDivisionError("a bug")) == []
    flight.add(document, [chunk("more")], {})
    assert flight.close(document)


def test_a_stop_holds_nobody_up() -> None:
    flight = Flight()
    taking = in_background(lambda: flight.take(8, 400))
    flight.stop()
    taking.join(5)
    assert not taking.is_alive()


def test_every_document_becomes_whole_exactly_once() -> None:
    rng = random.Random(20261130)
    flight, whole, n_documents = Flight(max_texts=20), list[Pending](), 200

    def read() -> None:
        for n in range(n_documents):
            document = pending(n)
            flight.board(document)
            for _ in range(rng.randrange(1, 5)):
                flight.add(document, [chunk(f"text {rng.randrange(150)} " * rng.randrange(1, 4))], {})
            if flight.close(document):
                whole.append(document)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    while reader.is_alive() or flight._waiting:
        flight.wait() if flight._waiting else reader.join(0.01)
        if flight._waiting:
            batch = flight.take(8, 40)
            whole.extend(flight.put(batch, vectors(batch)))
    assert sorted(document.id for document in whole) == list(range(n_documents))
    assert all(document.finished().vectors.shape == (len(document.chunks), 2) for document in whole)
