"""The chunker: what joins, what parts, and what never gets lost."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunk import Chunk, cut
from ingest.locator import Locator
from ingest.unit import Unit, UnitKind


class Words:
    """A tokenizer with pieces of at most four letters, as word pieces are: half a word counts more than its share."""

    PIECE = re.compile(r"\w{1,4}|[^\w\s]")

    def count_tokens(self, text: str) -> int:
        return len(self.token_spans(text))

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in self.PIECE.finditer(text)]


def chunks(units: list[Unit], max_tokens: int = 60, title: str = "") -> list[Chunk]:
    return cut(units, Words(), max_tokens, title)


def heading(text: str, *above: str, page: int | None = None) -> Unit:
    return Unit(text, Locator(page=page, heading=(*above, text)), UnitKind.HEADING)


def para(text: str, *path: str, page: int | None = None, flags: frozenset[str] = frozenset()) -> Unit:
    return Unit(text, Locator(page=page, heading=path), flags=flags)


def rows(n: int, header: str = "Item | Price", text: str = "bolt {} | {}") -> list[Unit]:
    return [
        Unit(text.format(i, i), Locator(rows=(i, i)), UnitKind.TABLE_ROW, header) for i in range(1, n + 1)
    ]


def texts(found: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in found]


LONG = "one two three four five six seven eight nine ten " * 3


def test_small_neighbours_of_one_section_are_joined() -> None:
    found = chunks([para("one two", "A"), para("three", "A")])
    assert texts(found) == ["one two\nthree"]
    assert found[0].locator == Locator(heading=("A",))


def test_a_chunk_keeps_to_its_section() -> None:
    found = chunks([heading("A"), para(LONG, "A"), heading("B"), para(LONG, "B")])
    assert [chunk.locator.heading for chunk in found] == [("A",), ("B",)]
    assert [chunk.text.split("\n")[0] for chunk in found] == ["A", "B"]


def test_a_tiny_section_joins_the_next() -> None:
    found = chunks([heading("A"), para("short", "A"), heading("B"), para("text here", "B")])
    assert texts(found) == ["A\nshort\nB\ntext here"]
    assert found[0].locator.heading == ()


def test_a_heading_stays_with_what_follows_when_the_chunk_is_full() -> None:
    found = chunks([para(LONG, "A"), heading("Sub", "A"), para(LONG, "A", "Sub")])
    assert found[0].text == LONG.strip() or found[0].text == LONG
    assert found[1].text.startswith("Sub\none two")


def test_a_heading_stays_with_a_paragraph_that_has_to_be_cut() -> None:
    found = chunks([heading("Rules"), para("This is a rule of the house. " * 20, "Rules")], max_tokens=40)
    assert found[0].text.startswith("Rules\nThis is")
    assert len(found) > 2


def test_a_page_border_is_a_chunk_border() -> None:
    found = chunks([para("one", page=3), para("two", page=4)])
    assert [chunk.locator.page for chunk in found] == [3, 4]


def test_an_estimated_page_border_is_none() -> None:
    pages = [Locator(page=n, page_estimated=True) for n in (3, 4)]
    found = chunks([Unit("one", pages[0]), Unit("two", pages[1])])
    assert [(chunk.text, chunk.locator.page) for chunk in found] == [("one\ntwo", 3)]


def test_rows_stay_whole_and_carry_their_header() -> None:
    found = chunks(rows(30), max_tokens=40)
    assert len(found) > 3
    assert all(chunk.text.startswith("Item | Price\nbolt") for chunk in found)
    assert all(
        re.fullmatch(r"(Item \| Price|bolt \d+ \| \d+)", line)
        for chunk in found
        for line in chunk.text.split("\n")
    )


def test_row_locators_span_first_to_last() -> None:
    found = chunks(rows(30), max_tokens=40)
    spans = [chunk.locator.rows for chunk in found]
    assert spans[0] is not None
    assert spans[0][0] == 1
    assert spans[-1] is not None
    assert spans[-1][1] == 30
    assert all(a and b and a[1] + 1 == b[0] for a, b in itertools.pairwise(spans))


def test_rows_of_two_tables_have_no_common_row_numbers() -> None:
    found = chunks([*rows(2), *rows(2, header="Name | Room", text="Ann {} | {}")])
    assert len(found) == 1
    assert found[0].locator.rows is None
    assert found[0].text.count("Item | Price") == found[0].text.count("Name | Room") == 1


def test_a_header_too_long_to_repeat_is_given_once_in_full_and_then_shortened() -> None:
    header = " | ".join(f"column number {i}" for i in range(20))
    found = chunks(rows(3, header=header), max_tokens=60)
    whole = " ".join(" ".join(texts(found)).split())
    assert all(f"column number {i}" in whole for i in range(20))
    assert all(chunk.n_tokens <= 60 for chunk in found)


def test_long_paragraphs_are_cut_at_sentence_ends() -> None:
    found = chunks([para("The door is green. The lamp is red! Is the roof new? " * 6)], max_tokens=32)
    assert all(chunk.text.endswith((".", "!", "?")) for chunk in found)


def test_a_sentence_without_end_is_cut_between_words() -> None:
    found = chunks([para(" ".join(f"word{i}" for i in range(100)))], max_tokens=32)
    assert " ".join(texts(found)).split() == [f"word{i}" for i in range(100)]


def test_title_and_headings_stand_in_front_of_what_is_embedded_but_not_twice() -> None:
    found = chunks([heading("Leave"), para("27 days", "Leave"), para(LONG, "Leave")], title="Handbook")
    assert found[0].embed_text.startswith("Handbook\nLeave\n27 days")
    assert found[0].text.startswith("Leave\n27 days")


def test_later_chunks_of_a_section_name_it_where_they_are_embedded() -> None:
    found = chunks(
        [heading("Leave"), para("Staff have days. " * 30, "Leave")], title="Handbook", max_tokens=40
    )
    assert found[-1].embed_text.startswith("Handbook › Leave\nStaff")
    assert not found[-1].text.startswith("Leave")


def test_sheet_and_message_stand_in_front_of_what_is_embedded() -> None:
    place = Locator(part=("message 3: Rent",), sheet="Budget 2026", heading=("Costs",))
    (found,) = chunks([Unit("1,200 a month", place)], title="mail")
    assert found.embed_text == "mail › message 3: Rent › Budget 2026 › Costs\n1,200 a month"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Locator(slide=1), Locator(slide=2)),
        (Locator(sheet="A"), Locator(sheet="B")),
        (Locator(part=("a.txt",)), Locator(part=("b.txt",))),
    ],
)
def test_a_chunk_keeps_to_one_slide_sheet_and_part(one: Locator, other: Locator) -> None:
    assert [chunk.locator for chunk in chunks([Unit("x", one), Unit("y", other)])] == [one, other]


def test_cells_and_times_span_all_units() -> None:
    rows = [Unit(f"row {n}", Locator(sheet="A", cells=(n, 2, n, 2 + n))) for n in (3, 4)]
    assert str(chunks(rows)[0].locator) == "A!B3:F4"
    cues = [Unit("so", Locator(time=(61.0, 64.5))), Unit("it is", Locator(time=(64.5, 3700.0)))]
    assert str(chunks(cues)[0].locator) == "0:01:01–1:01:40"


def test_hidden_text_is_not_mixed_with_visible_text() -> None:
    found = chunks([para("seen"), para("unseen", flags=frozenset({"hidden"})), para("seen again")])
    assert [chunk.flags for chunk in found] == [frozenset(), frozenset({"hidden"}), frozenset()]


def test_lines_span_all_units() -> None:
    found = chunks([Unit("a", Locator(lines=(1, 2))), Unit("b", Locator(lines=(4, 9)))])
    assert found[0].locator.lines == (1, 9)


def test_an_empty_document_has_no_chunks() -> None:
    assert chunks([]) == []
    assert chunks([para("  ")]) == []


def test_a_window_too_small_for_any_text_is_refused() -> None:
    with pytest.raises(ValueError, match="max_tokens is 8"):
        cut([para("x")], Words(), 8)


words = st.text(st.sampled_from("abcdefghij .!?\n|;:é日。"), min_size=0, max_size=400)
paths = st.lists(st.sampled_from(["A", "Bee", "A heading of some length", "x" * 60]), max_size=3).map(tuple)


@st.composite
def documents(draw: st.DrawFn) -> list[Unit]:
    found = []
    page = 1
    for _ in range(draw(st.integers(0, 14))):
        page += draw(st.sampled_from([0, 0, 0, 1]))
        kind = draw(st.sampled_from(UnitKind))
        header = draw(words) if kind is UnitKind.TABLE_ROW else ""
        locator = Locator(page=page, heading=draw(paths))
        flags = draw(st.sampled_from([frozenset[str](), frozenset({"hidden"})]))
        found.append(Unit(draw(words), locator, kind, " ".join(header.split()), flags))
    return found


@settings(max_examples=200, deadline=None)
@given(documents(), st.integers(16, 80), words)
def test_no_text_is_lost_none_is_too_long_and_order_is_kept(
    units: list[Unit], max_tokens: int, title: str
) -> None:
    found = chunks(units, max_tokens, " ".join(title.split()))
    assert all(chunk.n_tokens <= max_tokens for chunk in found)
    assert all(Words().count_tokens(chunk.embed_text) <= max_tokens for chunk in found)
    assert all(chunk.text.replace("\n", "") in chunk.embed_text.replace("\n", "") for chunk in found)
    whole = iter("".join("".join(chunk.text for chunk in found).split()))
    wanted = "".join("".join(unit.text for unit in units).split())
    assert all(char in whole for char in wanted), "each unit's characters appear in order"
    for chunk in found:
        pages = {unit.locator.page for unit in units if unit.text.strip()}
        assert chunk.locator.page in pages


@settings(max_examples=50, deadline=None)
@given(documents(), st.integers(16, 80))
def test_pages_are_exact(units: list[Unit], max_tokens: int) -> None:
    for page in {unit.locator.page for unit in units}:
        own = [unit for unit in units if unit.locator.page == page]
        on_page = "".join(
            "".join(c.text for c in chunks(units, max_tokens) if c.locator.page == page).split()
        )
        left = iter(on_page)
        assert all(char in left for char in "".join("".join(unit.text for unit in own).split()))


def test_a_text_of_one_endless_line_is_never_counted_at_once() -> None:
    class Careful(Words):
        def token_spans(self, text: str) -> list[tuple[int, int]]:
            assert len(text) <= 20_000
            return super().token_spans(text)

    found = cut([para("x" * 100_000), *rows(2, header="h" * 100_000)], Careful(), 250)
    assert sum(chunk.text.count("x") for chunk in found) == 100_000
    assert "".join(texts(found)).count("h") >= 100_000


def test_words_that_the_embedder_does_not_know_do_not_make_endless_chunks() -> None:
    class Unknowing(Words):
        PIECE = re.compile(r"\S+")

    found = cut([para(" ".join(["x" * 3000] * 20))], Unknowing(), 100)
    assert max(len(chunk.text) for chunk in found) <= 100 * 20
    assert sum(chunk.text.count("x") for chunk in found) == 60_000


def test_time_grows_with_the_text_and_no_faster() -> None:
    def seconds(n: int) -> float:
        units = [
            para("word " * 2000 * n),
            *rows(200 * n),
            *(para("A sentence. " * 20, f"H{i}") for i in range(20 * n)),
        ]
        began = time.process_time()
        chunks(units, 256)
        return time.process_time() - began

    seconds(1)
    assert seconds(16) < 16 * 5 * seconds(1) + 0.5
