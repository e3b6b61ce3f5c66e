"""Chunks become passages: repetitions and older versions go, neighbours are joined, cut sentences completed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from appliance.retrieval.joining import MAX_REST, Joined, join
from appliance.retrieval.passages import distinct, to_passages
from appliance.retrieval.versions import is_newer, same_but_for_date, same_but_for_version
from appliance.text.words import Words
from ingest.chunk import cut
from ingest.locator import Locator
from ingest.stored import StoredChunk, StoredDocument
from ingest.unit import HIDDEN, Unit, UnitKind
from tests.ingest.hash_embedder import HashEmbedder

WORDS = Words()
HEADER = "Item | Price in euros"


def document(path: str = "a.txt", id: int = 1, day: int = 1) -> StoredDocument:
    return StoredDocument(
        id, path, "", "txt", "ready", "", 1, day * 86_400 * 10**9, 0, 0, 0o644, f"hash of {path}", None, 1
    )


def chunk(text: str, of: StoredDocument, ordinal: int = 0, id: int = 0, **place: object) -> StoredChunk:
    return StoredChunk(id or of.id * 100 + ordinal, of, ordinal, text, Locator(**place), frozenset())


def stored(units: Sequence[Unit], max_tokens: int = 24) -> list[StoredChunk]:
    """Cut a document as ingest does."""
    of = document()
    return [
        StoredChunk(100 + n, of, n, each.text, each.locator, each.flags)
        for n, each in enumerate(cut(units, HashEmbedder(), max_tokens))
    ]


def joined(chunks: Sequence[StoredChunk], *best: int) -> list[Joined]:
    """Join the chunks of these ordinals, best first."""
    ranked = [(chunks[ordinal], 1.0 - rank / 10) for rank, ordinal in enumerate(best)]
    return join(ranked, {(each.document.id, each.ordinal): each for each in chunks})


# --- repetitions ---

RULE = "The valve of the boiler in the east wing must be closed every evening before the last person leaves the house"


@pytest.mark.parametrize(
    ("second", "both_stay"),
    [
        (RULE, False),
        (RULE.replace("every evening", "EVERY evening,"), False),
        (RULE.replace("must", "must not"), True),
        (RULE + " at 6", True),
        ("The keys are at the lodge", True),
    ],
)
def test_what_says_the_same_is_shown_once(second: str, both_stay: bool) -> None:
    ranked = [(chunk(RULE, document("a.txt", 1)), 1.0), (chunk(second, document("b.txt", 2)), 0.9)]
    assert len(distinct(ranked, 5, WORDS)) == 1 + both_stay


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pump A | 120 | in stock", "Pump A | 140 | in stock"),
        (
            "Turnover grew by 5 percent to 320 million euros",
            "Turnover grew by 7 percent to 343 million euros",
        ),
        ("between 5 and 7 bar", "between 7 and 5 bar"),
    ],
)
def test_other_figures_are_no_repetition(one: str, other: str) -> None:
    same = document("report.pdf")
    assert len(distinct([(chunk(one, same, 0), 1.0), (chunk(other, same, 1), 0.9)], 5, WORDS)) == 2
    years = document("report-2023.pdf", 1), document("report-2024.pdf", 2)
    assert len(distinct([(chunk(one, years[0]), 1.0), (chunk(other, years[1]), 0.9)], 5, WORDS)) == 2


# --- versions ---


@pytest.mark.parametrize(
    ("one", "other", "version", "series"),
    [
        ("handbook-v1.pdf", "handbook-v2.pdf", True, True),
        ("Handbook v1.2.pdf", "handbook V2.docx", True, True),
        ("handbook.pdf", "handbook (1).pdf", True, True),
        ("handbook.pdf", "Copy of handbook.pdf", True, True),
        ("handbook.pdf", "handbook - Copy 2.pdf", True, True),
        ("handbook_final.pdf", "handbook_draft.pdf", True, True),
        ("handbook rev B.pdf", "handbook rev C.pdf", True, True),
        ("house/handbook.pdf", "house/archive/handbook_old.pdf", True, True),
        ("v1/handbook.pdf", "v2/handbook.pdf", True, True),
        ("Preisliste_alt.xlsx", "Preisliste_neu.xlsx", True, True),
        ("report-2023.pdf", "report-2024.pdf", False, True),
        ("minutes 2024-03-01.txt", "minutes 1.4.2024.txt", False, True),
        ("2023/report.pdf", "2024/report.pdf", False, True),
        ("handbook.pdf", "handbook.docx", False, False),
        ("handbook.pdf", "handbook.pdf", False, False),
        ("east/rota.pdf", "west/rota.pdf", False, False),
        ("chapter 1.pdf", "chapter 2.pdf", False, False),
        ("gold.pdf", "g.pdf", False, False),
        ("form 27b.pdf", "form 27.pdf", False, False),
    ],
)
def test_names_tell_versions_from_other_documents(one: str, other: str, version: bool, series: bool) -> None:
    a, b = document(one, 1), document(other, 2)
    assert (same_but_for_version(a, b), same_but_for_date(a, b)) == (version, series)
    assert (same_but_for_version(b, a), same_but_for_date(b, a)) == (version, series)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        (("h-v2.pdf", 1), ("h-v1.pdf", 9)),
        (("h-v10.pdf", 1), ("h-v9.1.pdf", 9)),
        (("h rev C.pdf", 1), ("h rev B.pdf", 9)),
        (("h.pdf", 1), ("h_old.pdf", 9)),
        (("h.pdf", 1), ("archive/h.pdf", 9)),
        (("h 2024-05.pdf", 1), ("h 2024-04-30.pdf", 9)),
        (("h.pdf", 9), ("h-v2.pdf", 1)),
        (("h (1).pdf", 9), ("h.pdf", 1)),
    ],
)
def test_the_newer_version_is_known_by_name_then_by_time(
    newer: tuple[str, int], older: tuple[str, int]
) -> None:
    a, b = document(newer[0], 1, newer[1]), document(older[0], 2, older[1])
    assert is_newer(a, b)
    assert not is_newer(b, a)


FEE = "A lost key costs the department {} euros and is reported to the porter at the lodge on the same day"


@pytest.mark.parametrize("first", ["keys-v1.txt", "keys-v2.txt"])
def test_the_newer_version_is_shown_with_the_older_one_named_whichever_ranks_first(first: str) -> None:
    old = chunk(FEE.format(120), document("keys-v1.txt", 1))
    new = chunk(FEE.format(140), document("keys-v2.txt", 2))
    ranked = [(old, 1.0), (new, 0.9)] if first == "keys-v1.txt" else [(new, 1.0), (old, 0.9)]
    (kept,) = distinct(ranked, 5, WORDS)
    assert (kept.chunk, kept.score, kept.older) == (new, 1.0, ("keys-v1.txt",))


def test_a_newer_version_is_preferred_even_where_all_places_are_taken() -> None:
    old = chunk(FEE.format(120), document("keys.txt", 1, day=1))
    other = chunk("The lodge is open until nine", document("lodge.txt", 2))
    new = chunk(FEE.format(140), document("keys (1).txt", 3, day=2))
    kept = distinct([(old, 1.0), (other, 0.9), (new, 0.8)], 2, WORDS)
    assert [(k.chunk.document.path, k.older) for k in kept] == [
        ("keys (1).txt", ("keys.txt",)),
        ("lodge.txt", ()),
    ]


def test_of_three_versions_two_are_named() -> None:
    ranked = [(chunk(FEE.format(n), document(f"keys-v{n}.txt", n)), 1.0) for n in (2, 1, 3)]
    (kept,) = distinct(ranked, 5, WORDS)
    assert (kept.chunk.document.path, kept.older) == ("keys-v3.txt", ("keys-v1.txt", "keys-v2.txt"))


def test_years_of_nearly_the_same_text_are_versions_and_what_was_taken_out_of_a_newer_one_stays() -> None:
    ranked = [(chunk(RULE, document(f"rules {year}.txt", year)), 1.0) for year in (2023, 2024)]
    (kept,) = distinct(ranked, 5, WORDS)
    assert (kept.chunk.document.path, kept.older) == ("rules 2024.txt", ("rules 2023.txt",))
    gone = chunk("Bicycles stand in the yard", document("keys-v1.txt", 1))
    new = chunk(FEE.format(140), document("keys-v2.txt", 2))
    assert len(distinct([(new, 1.0), (gone, 0.9)], 5, WORDS)) == 2


# --- neighbours ---


def sentences(*lengths: int) -> list[str]:
    """Sentences of so many words, each other than the others."""
    return [
        " ".join(f"s{n}w{m}" for m in range(length)).capitalize() + "." for n, length in enumerate(lengths)
    ]


def test_two_pieces_of_one_paragraph_are_the_paragraph() -> None:
    paragraph = " ".join(sentences(15, 15))
    chunks = stored([Unit(paragraph, Locator(lines=(1, 1)))])
    assert len(chunks) == 2
    (found,) = joined(chunks, 1, 0)
    assert found.text == paragraph
    assert (found.best, found.score, found.chunks) == (chunks[1], 1.0, tuple(chunks))


def test_rows_of_one_table_are_joined_under_one_header() -> None:
    rows = [f"Pump {n} | {n}" for n in (1, 1, 2, 3, 4, 5, 6)]
    chunks = stored(
        [Unit(row, Locator(page=3, rows=(n, n)), UnitKind.TABLE_ROW, HEADER) for n, row in enumerate(rows, 1)]
    )
    assert len(chunks) == 3
    (found,) = joined(chunks, 1, 0, 2)
    assert found.text == "\n".join([HEADER, *rows])
    assert str(found.locator) == "page 3, rows 1–7"


@pytest.mark.parametrize(
    "second",
    [
        Locator(page=2),
        Locator(page=1, heading=("Storage",)),
        Locator(page=1, part=("annex.pdf",)),
        Locator(slide=1),
        Locator(sheet="June"),
    ],
)
def test_what_stands_elsewhere_is_a_passage_of_its_own(second: Locator) -> None:
    of = document()
    pair = [chunk("One.", of, 0, page=1), StoredChunk(2, of, 1, "Two.", second, frozenset())]
    assert [found.text for found in joined(pair, 0, 1)] == ["One.", "Two."]


def test_flagged_text_is_not_joined_with_plain_text() -> None:
    of = document()
    pair = [chunk("One", of, 0), StoredChunk(2, of, 1, "goes on.", Locator(), frozenset({HIDDEN}))]
    assert [found.text for found in joined(pair, 0, 1)] == ["One", "goes on."]


def test_chunks_apart_and_of_other_documents_stay_apart_and_no_more_than_three_are_joined() -> None:
    of, other = document(), document("b.txt", 2)
    chunks = [chunk(f"Text {n}.", of, n) for n in range(6)]
    assert [found.text for found in joined(chunks, 0, 2)] == ["Text 0.", "Text 2."]
    assert len(join([(chunks[0], 1.0), (chunk("Text.", other, 1), 0.9)], {})) == 2
    runs = [[each.ordinal for each in found.chunks] for found in joined(chunks, 2, 1, 0, 3, 4, 5)]
    assert runs == [[1, 2, 3], [0], [4, 5]]


# --- completed ---


def test_a_sentence_that_was_cut_is_completed_on_both_sides() -> None:
    long = " ".join(f"w{n}" for n in range(60)).capitalize() + "."
    chunks = stored([Unit(long, Locator(page=1))])
    assert len(chunks) == 3
    (found,) = joined(chunks, 1)
    assert found.text == long
    assert found.chunks == (chunks[1],)


def test_a_sentence_is_completed_from_the_next_page_and_cited_on_its_own() -> None:
    of = document()
    pair = [
        chunk("The valve opens. It closes", of, 0, page=1),
        chunk(f"at night. {'More of it. ' * 40}", of, 1, page=2),
    ]
    (found,) = joined(pair, 0)
    assert (found.text, found.locator.page) == ("The valve opens. It closes at night.", 1)


def test_the_short_rest_of_a_paragraph_is_shown_and_a_long_one_is_not() -> None:
    short, long = sentences(15, 12), sentences(15, 100)
    chunks = stored([Unit(" ".join(short), Locator(lines=(1, 1)))])
    assert [found.text for found in joined(chunks, 0)] == [" ".join(short)]
    assert [found.text for found in joined(chunks, 1)] == [" ".join(short)]
    of = document()
    pair = [chunk(text, of, n, lines=(1, 1)) for n, text in enumerate(long)]
    assert len(long[1]) > MAX_REST
    assert [found.text for found in joined(pair, 0)] == [long[0]]


def test_a_sentence_goes_on_over_the_lines_of_a_text_file() -> None:
    of = document()
    first = "The boiler is old.\nThe valve opens\nat night and"
    second = "is shut by\nthe porter. The pump\nruns by day."
    third = "and is shut by\nthe porter."
    pair = [chunk(first, of, 0, lines=(1, 6)), chunk(second, of, 1, lines=(1, 6))]
    assert [found.text for found in joined(pair, 0)] == [f"{first} is shut by\nthe porter."]
    assert [found.text for found in joined(pair, 1)] == [f"The valve opens\nat night and {second}"]
    last = [pair[0], chunk(third, of, 1, lines=(1, 6))]
    assert [found.text for found in joined(last, 0)] == [f"{first} {third}"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The valve opens at night.", "The pump runs by day."),
        ("Contents", "The pump runs by day."),
        ("It has three parts:", "pump, valve and hose."),
    ],
)
def test_whole_paragraphs_take_nothing_from_their_neighbours(first: str, second: str) -> None:
    of = document()
    pair = [chunk(first, of, 0, page=1), chunk(second, of, 1, page=1)]
    assert [found.text for found in joined(pair, 0)] == [first]
    assert [found.text for found in joined(pair, 1)] == [second]


def test_a_row_that_was_cut_is_completed_without_its_header() -> None:
    row = " ".join(f"cell{n}" for n in range(30))
    chunks = stored([Unit(row, Locator(page=3, rows=(1, 1)), UnitKind.TABLE_ROW, HEADER)])
    assert len(chunks) == 2
    assert [found.text for found in joined(chunks, 0)] == [f"{HEADER}\n{row}"]


def test_a_table_takes_nothing_from_the_next_one() -> None:
    of = document()
    pair = [
        chunk("Pump | 1", of, 0, heading=("Pumps",), rows=(1, 1)),
        chunk("Hose | 2", of, 1, heading=("Hoses",), rows=(1, 1)),
    ]
    assert [found.text for found in joined(pair, 0)] == ["Pump | 1"]


# --- passages ---


def test_passages_are_numbered_by_their_best_chunk_and_carry_what_their_chunks_know() -> None:
    old, new = document("keys-v1.txt", 1), document("keys-v2.txt", 2, day=3)
    ranked = [
        (chunk("The lodge is open until nine.", document("lodge.txt", 3)), 0.9),
        (chunk("It is reported to the porter.", new, 1), 0.8),
        (chunk(FEE.format(140), new, 0), 0.7),
        (chunk(FEE.format(120), old, 0), 0.6),
    ]
    kept = distinct(ranked, 5, WORDS)
    first, second = to_passages(kept, {}, {201: ["copy.txt", "keys-v1.txt"]}, lambda text: (0, len(text)))
    assert (first.number, first.path, first.older) == (1, "lodge.txt", [])
    assert (second.number, second.chunk_id, second.score) == (2, 201, 0.8)
    assert second.text == f"{FEE.format(140)}\nIt is reported to the porter."
    assert (second.older, second.also) == (["keys-v1.txt"], ["copy.txt"])
    assert second.best == (0, len(second.text))
    assert (second.version, second.modified) == ("hash of keys-v2.txt", 3 * 86_400)
