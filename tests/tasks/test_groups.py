"""Chunks packed into groups that fit a prompt."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from appliance.tasks.groups import Piece, pack, place_of
from ingest.locator import Locator
from ingest.stored import StoredChunk, StoredDocument

DOCUMENT = StoredDocument(1, "a.txt", "", "txt", "ready", "", 1, 1, 0, 0, 0o644, "00", None, 1)


def chunk(at: int, locator: Locator) -> StoredChunk:
    return StoredChunk(at, DOCUMENT, at, "text", locator, frozenset())


async def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


async def test_every_group_fits_and_nothing_is_lost() -> None:
    rng = random.Random(7)
    for _ in range(50):
        limit = rng.randrange(40, 200)
        texts = [
            "".join(rng.choice("ab .\n") for _ in range(rng.randrange(1, 300)))
            for _ in range(rng.randrange(1, 20))
        ]
        groups = await pack([Piece(text) for text in texts], limit, characters)
        assert all(group.n_tokens <= limit + 2 for group in groups)
        assert "".join(piece.text for group in groups for piece in group.pieces) == "".join(texts)


async def test_groups_are_as_few_as_their_order_allows() -> None:
    groups = await pack([Piece("x" * n) for n in (30, 30, 30, 90, 10)], 100, characters)
    assert [[len(piece.text) for piece in group.pieces] for group in groups] == [[30, 30, 30], [90], [10]]


async def test_a_long_piece_is_cut_at_the_end_of_a_sentence() -> None:
    [first, second] = await pack([Piece("One is here and so. Two is there and so.")], 30, characters)
    assert (first.text, second.text) == ("One is here and so. ", "Two is there and so.")


@pytest.mark.parametrize(
    ("locators", "place"),
    [
        ([Locator(page=3), Locator(page=3)], "page 3"),
        ([Locator(page=3, heading=("A",)), Locator(page=7)], "pages 3–7"),
        ([Locator(page=3, page_label="iii"), Locator(page=5)], "pages iii–5"),
        ([Locator(slide=1), Locator(slide=2)], "slides 1–2"),
        ([Locator(lines=(1, 4)), Locator(lines=(5, 9))], "lines 1–9"),
        ([Locator(sheet="A"), Locator(sheet="B")], "sheet A – sheet B"),
        ([Locator(), Locator()], ""),
        ([], ""),
    ],
)
def test_a_run_of_chunks_is_named_by_its_range(locators: list[Locator], place: str) -> None:
    assert place_of([chunk(at, locator) for at, locator in enumerate(locators)]) == place
