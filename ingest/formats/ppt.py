"""Old PowerPoint presentations (PPT, 97 to 2003): slides in their order, tables, notes and comments.

Charts and embedded objects are pictures to this reader, and what the slide master says is not read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ingest.formats.ole import Ole
from ingest.formats.ppt_records import CONTAINER, PptFile, Record
from ingest.formats.ppt_shapes import LIST_KINDS, TITLE_KINDS, Shape, Text, shapes, texts
from ingest.formats.reading import Reading, damaged
from ingest.formats.table import looks_like_header, row_text
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.locator import Locator
from ingest.unit import HIDDEN, Unit, UnitKind

SLIDE_LIST, SLIDE_OF_LIST, SLIDES, NOTES = 0x0FF0, 0x03F3, 0, 2
DRAWING, SLIDE_SHOW, NOTES_OF = 0x040C, 0x03F9, 0x03F1
TAGS, TAG, TAG_DATA, COMMENT, STRING = 0x1388, 0x138A, 0x138B, 0x2EE0, 0x0FBA
HIDDEN_SLIDE = 0x0004
FIELD = "*"  # stands for a slide's number, a date or a footer that PowerPoint fills in
MAX_TITLE = 200


def read(data: bytes, limits: ParseLimits) -> Reading:
    """Read an old presentation; locators have slides.

    Raises:
        RefusedError: it is locked, broken or over a limit.
    """
    ole = Ole(data, limits)
    try:
        slides = _slides(PptFile(ole))
        units = [unit for slide in slides for unit in slide.units()]
    except struct.error as error:
        raise damaged("it is cut off: open it in PowerPoint and save it as PPTX") from error
    title = ole.title()
    if not title or title.lower() in ("powerpoint presentation", "slide 1", "no slide title"):
        title = next((unit.text for unit in units if unit.kind is UnitKind.HEADING), "")
    return Reading(units, title, n_pages=len(slides))


def _slides(file: PptFile) -> list[_Slide]:
    document = file.object(file.document_id)
    if document is None or document.version != CONTAINER:
        raise damaged("its list of slides is missing: open it in PowerPoint and save it as PPTX")
    lists = {record.instance: record for record in document.children() if record.kind == SLIDE_LIST}
    notes = dict(_notes(file, lists[NOTES])) if NOTES in lists else {}
    listed = _listed(lists[SLIDES]) if SLIDES in lists else []
    return [
        _Slide(number, file.object(item.persist_id), item.outline, notes.get(item.slide_id))
        for number, item in enumerate(listed, 1)
    ]


@dataclass(frozen=True, slots=True)
class _Listed:
    """An entry of a list of slides: what it points at, and the texts of the slide that are kept in the list."""

    persist_id: int
    slide_id: int
    outline: list[Text]


def _listed(slide_list: Record) -> list[_Listed]:
    found = []
    starts = [record for record in slide_list.children() if record.kind == SLIDE_OF_LIST]
    ends = [*(record.start for record in starts[1:]), slide_list.end][: len(starts)]
    for record, end in zip(starts, ends, strict=True):
        persist_id, _, _, slide_id = struct.unpack_from("<IIII", record.data, record.start)
        behind = Record(record.data, 0, CONTAINER, 0, record.end, max(record.end, end))
        found.append(_Listed(persist_id, slide_id, texts(behind)))
    return found


def _notes(file: PptFile, notes_list: Record) -> Iterator[tuple[int, Record]]:
    """Yield (the slide's id, its page of notes)."""
    for item in _listed(notes_list):
        page = file.object(item.persist_id)
        about = page.first(NOTES_OF) if page is not None else None
        if page is not None and about is not None:
            yield int.from_bytes(about.body[:4], "little"), page


@dataclass(frozen=True, slots=True)
class _Slide:
    number: int
    record: Record | None
    outline: Sequence[Text]
    notes: Record | None

    def units(self) -> Iterator[Unit]:
        """Read the slide: its title, its texts and tables, its notes, its comments."""
        found = self._shapes()
        titles = [shape for shape in found if shape.text.kind in TITLE_KINDS and not shape.rows]
        heading = next((shape.text.line for shape in titles if shape.text.line), "")
        place = Locator(slide=self.number, heading=(heading[:MAX_TITLE],) if heading else ())
        for shape in titles + [shape for shape in found if shape not in titles]:
            flags = frozenset({HIDDEN} if shape.is_hidden or self._is_hidden() else ())
            yield from _table(shape, place, flags) if shape.rows else _paragraphs(shape.text, place, flags)
        for text in self._note_texts():
            yield from _paragraphs(text, replace(place, heading=(*place.heading, "Notes")), frozenset())
        for comment in self._comments():
            yield Unit(comment, replace(place, heading=(*place.heading, "Comments")))

    def _shapes(self) -> list[Shape]:
        drawing = self.record.first(DRAWING) if self.record is not None else None
        if drawing is None:  # what the list of slides keeps of it
            return [Shape(0, 0, text) for text in self.outline]
        return shapes(drawing, self.outline)

    def _is_hidden(self) -> bool:
        show = self.record.first(SLIDE_SHOW) if self.record is not None else None
        return show is not None and bool(int.from_bytes(show.body[10:12], "little") & HIDDEN_SLIDE)

    def _note_texts(self) -> Iterator[Text]:
        drawing = self.notes.first(DRAWING) if self.notes is not None else None
        for shape in shapes(drawing, ()) if drawing is not None else ():
            if not shape.is_margin:
                yield shape.text

    def _comments(self) -> Iterator[str]:
        for tags in self.record.all(TAGS) if self.record is not None else ():
            for data in tags.all(TAG_DATA):
                for comment in data.children():
                    if comment.kind == COMMENT and comment.version == CONTAINER:
                        yield from _comment(comment)


def _comment(comment: Record) -> Iterator[str]:
    said = {
        record.instance: one_line(record.body.decode("utf-16-le", "replace"))
        for record in comment.children()
        if record.kind == STRING
    }
    if said.get(1):
        yield f"Comment by {said[0]}: {said[1]}" if said.get(0) else f"Comment: {said[1]}"


def _paragraphs(text: Text, place: Locator, flags: frozenset[str]) -> Iterator[Unit]:
    kind = UnitKind.LIST_ITEM if text.kind in LIST_KINDS else UnitKind.PARAGRAPH
    if text.kind in TITLE_KINDS:
        if text.line:
            yield Unit(text.line, place, UnitKind.HEADING, flags=flags)
        return
    for paragraph in text.text.split("\r"):
        said = one_line(paragraph.replace("\x0b", "\n"))
        if said and said != FIELD:
            yield Unit(said, place, kind, flags=flags)


def _table(shape: Shape, place: Locator, flags: frozenset[str]) -> Iterator[Unit]:
    rows = [row for row in shape.rows if row_text(row)]
    header = row_text(rows[0]) if rows and looks_like_header(rows[0], rows[1:]) else ""
    for number, row in enumerate(rows[1:] if header else rows, 1):
        yield Unit(row_text(row), replace(place, rows=(number, number)), UnitKind.TABLE_ROW, header, flags)
