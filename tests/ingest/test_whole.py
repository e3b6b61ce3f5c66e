"""A file with everything in it: parts and scanned pages are asked for one by one, and joined in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.locator import Locator
from ingest.unit import OCR, Outcome, Parsed, Part, Unit
from ingest.whole import Step, read_whole

Asked = tuple[str | None, int | None]


def unit(text: str, page: int | None = None) -> Unit:
    return Unit(text, Locator(page=page))


def ok(*units: Unit, **more: object) -> Parsed:
    return Parsed(Outcome.OK, units=units, sha256="0a", **more)  # type: ignore[arg-type]


class Scripted:
    """Answers by (part, page); counts what was asked."""

    def __init__(self, answers: dict[Asked, Parsed]) -> None:
        self.answers = answers
        self.asked: list[Asked] = []

    def parse(self, path: Path, part: str | None = None, page: int | None = None) -> Parsed:
        self.asked.append((part, page))
        return self.answers[part, page]


class Shelf(dict[tuple[str, str, int], Sequence[Unit]]):
    def page_text(self, sha256: str, part: str, page: int) -> Sequence[Unit] | None:
        return self.get((sha256, part, page))

    def keep_page_text(self, sha256: str, part: str, page: int, units: Sequence[Unit]) -> None:
        self[sha256, part, page] = units


def whole(answers: dict[Asked, Parsed], shelf: Shelf | None = None) -> Parsed:
    return read_whole(Scripted(answers), Path("a"), shelf)


def texts(parsed: Parsed) -> list[str]:
    return [f"{unit.locator}: {unit.text}" for unit in parsed.units]


def test_scanned_pages_come_between_the_pages_around_them() -> None:
    outer = ok(unit("one", 1), unit("four", 4), scans=(2, 3, 5), n_pages=5)
    found = whole(
        {
            (None, None): outer,
            (None, 2): ok(unit("two", 2)),
            (None, 3): Parsed(Outcome.EMPTY, "nothing"),
            (None, 5): ok(unit("five", 5)),
        }
    )
    assert texts(found) == ["page 1: one", "page 2: two", "page 4: four", "page 5: five"]
    assert found.notes == ("pages 2, 5 are read from pictures: letters and figures may be wrong",)
    assert found.scans == ()


def test_a_scan_of_many_pages_says_so_once() -> None:
    answers: dict[Asked, Parsed] = {(None, n): ok(unit(str(n), n)) for n in (1, 2, 3)}
    found = whole({(None, None): ok(scans=(1, 2, 3), n_pages=3), **answers})
    assert found.outcome is Outcome.OK
    assert found.notes == ("all its pages are read from pictures: letters and figures may be wrong",)


def test_parts_are_placed_under_their_names_after_the_file_itself() -> None:
    outer = ok(unit("Dear all"), parts=(Part("1", ("bill.pdf",)), Part("2", ("message 2", "b.txt"))))
    found = whole(
        {
            (None, None): outer,
            ("1", None): ok(unit("12 EUR", 3), notes=("page 9 is damaged",)),
            ("2", None): ok(unit("later")),
        }
    )
    assert texts(found) == [": Dear all", "bill.pdf, page 3: 12 EUR", "message 2 › b.txt: later"]
    assert found.notes == ("bill.pdf: page 9 is damaged",)
    assert found.parts == ()


def test_a_part_that_cannot_be_read_costs_a_note_and_not_the_file() -> None:
    locked = Parsed(Outcome.NEEDS_PASSWORD, "it has a password: save a copy without one")
    found = whole({(None, None): ok(unit("Hello"), parts=(Part("1", ("a.pdf",)),)), ("1", None): locked})
    assert found.outcome is Outcome.OK
    assert found.notes == ("a.pdf: it has a password: save a copy without one",)


def test_a_file_with_nothing_but_failed_parts_ends_as_the_first_of_them() -> None:
    locked = Parsed(Outcome.NEEDS_PASSWORD, "it has a password: save a copy without one")
    found = whole({(None, None): ok(parts=(Part("1", ("a.pdf",)),)), ("1", None): locked})
    assert (found.outcome, found.reason) == (locked.outcome, locked.reason)


def test_scans_inside_parts_are_read_too() -> None:
    found = whole(
        {
            (None, None): ok(unit("Hello"), parts=(Part("1", ("scan.pdf",)),)),
            ("1", None): ok(scans=(1,), n_pages=1),
            ("1", 1): ok(Unit("stamp", Locator(page=1), flags=frozenset({OCR}))),
        }
    )
    assert texts(found) == [": Hello", "scan.pdf, page 1: stamp"]


def test_files_two_deep_are_named_and_not_opened() -> None:
    inner = ok(unit("inner"), parts=(Part("1", ("deep.zip",)),))
    found = whole({(None, None): ok(parts=(Part("m", ("a.eml",)),)), ("m", None): inner})
    assert texts(found) == ["a.eml: inner"]
    assert found.notes == ("a.eml: deep.zip: not opened, it lies two files deep",)


def test_without_ocr_no_further_page_is_asked_for() -> None:
    refused = Parsed(Outcome.NEEDS_OCR, "reading scans is not installed")
    answers: dict[Asked, Parsed] = {(None, None): ok(scans=(1, 2, 3), n_pages=3), (None, 1): refused}
    parser = Scripted(answers)
    found = read_whole(parser, Path("a"))
    assert parser.asked == [(None, None), (None, 1)]
    assert (found.outcome, found.reason) == (Outcome.NEEDS_OCR, refused.reason)


def test_pages_with_text_are_kept_where_others_need_ocr() -> None:
    refused = Parsed(Outcome.NEEDS_OCR, "reading scans is not installed")
    found = whole({(None, None): ok(unit("one", 1), scans=(2, 3), n_pages=3), (None, 2): refused})
    assert found.outcome is Outcome.OK
    assert found.notes == ("pages 2–3: reading scans is not installed",)


def test_pages_without_words_make_an_empty_file() -> None:
    found = whole({(None, None): ok(scans=(1,), n_pages=1), (None, 1): Parsed(Outcome.EMPTY, "nothing")})
    assert found.outcome is Outcome.EMPTY


def test_what_every_page_says_is_said_once() -> None:
    missing = "no data for Korean"
    answers: dict[Asked, Parsed] = {(None, n): ok(unit(str(n), n), notes=(missing,)) for n in (2, 3)}
    found = whole({(None, None): ok(unit("one", 1), scans=(2, 3), n_pages=3), **answers})
    assert found.notes == ("pages 2–3 are read from pictures: letters and figures may be wrong", missing)


def test_a_page_that_fails_is_named() -> None:
    slow = Parsed(Outcome.TIMEOUT, "reading it took too long")
    found = whole({(None, None): ok(unit("one", 1), scans=(2,), n_pages=2), (None, 2): slow})
    assert found.notes == ("page 2 is a picture that was not read: reading it took too long",)


def test_a_stopped_reading_goes_on_at_the_next_page() -> None:
    answers: dict[Asked, Parsed] = {(None, n): ok(unit(str(n), n)) for n in (1, 2, 3)}
    answers[None, None] = ok(scans=(1, 2, 3), n_pages=3)
    shelf = Shelf()

    def stop_at_three(step: Step) -> None:
        if step.page == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        read_whole(Scripted(answers), Path("a"), shelf, stop_at_three)
    again = Scripted(answers)
    found = read_whole(again, Path("a"), shelf)
    assert again.asked == [(None, None), (None, 3)]
    assert texts(found) == ["page 1: 1", "page 2: 2", "page 3: 3"]


def test_steps_count_pages_and_parts() -> None:
    steps: list[Step] = []
    answers: dict[Asked, Parsed] = {
        (None, None): ok(scans=(1, 2), n_pages=2, parts=(Part("1", ("b.txt",)),)),
        (None, 1): ok(unit("1", 1)),
        (None, 2): ok(unit("2", 2)),
        ("1", None): ok(unit("b")),
    }
    read_whole(Scripted(answers), Path("a"), None, steps.append)
    assert [(step.part, step.page, step.n_done, step.n_steps) for step in steps] == [
        ((), None, 0, 1),
        ((), 1, 1, 4),
        ((), 2, 2, 4),
        (("b.txt",), None, 3, 4),
    ]


def test_parts_beyond_the_limit_of_text_are_left_out_and_counted() -> None:
    answers: dict[Asked, Parsed] = {(str(n), None): ok(unit("x" * 30_000_000)) for n in (1, 2, 3)}
    answers[None, None] = ok(parts=tuple(Part(str(n), (f"{n}.txt",)) for n in (1, 2, 3)))
    found = whole(answers)
    assert [unit.locator.part for unit in found.units] == [("1.txt",), ("2.txt",)]
    assert found.notes == ("left out for holding too much text together: 1 of the files inside it",)


@pytest.mark.parametrize("damaged", [Outcome.DAMAGED, Outcome.NEEDS_PASSWORD, Outcome.EMPTY])
def test_what_the_file_itself_says_is_final(damaged: Outcome) -> None:
    parser = Scripted({(None, None): Parsed(damaged, "why")})
    assert read_whole(parser, Path("a")).reason == "why"
    assert parser.asked == [(None, None)]
