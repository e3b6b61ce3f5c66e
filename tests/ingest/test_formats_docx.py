"""Word documents: everything a reader of the page sees, and nothing else."""

from __future__ import annotations

import struct

import pytest

from ingest.formats import docx as reader
from ingest.formats import embedded
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.unit import HIDDEN, Outcome
from tests.ingest.made_files import docx, p, tbl, zip_of
from tests.ingest.made_ole import ole

STYLES = """
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="U2"><w:name w:val="Überschrift 2"/></w:style>
<w:style w:styleId="Mine"><w:name w:val="Chapter"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:styleId="Child"><w:name w:val="Special"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:styleId="Ring"><w:name w:val="Ring"/><w:basedOn w:val="Ring"/></w:style>
<w:style w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:styleId="Ghost"><w:name w:val="Ghost"/><w:rPr><w:vanish/></w:rPr></w:style>"""
LEVEL = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0">'
    + LEVEL.format(0, "decimal", "%1.")
    + LEVEL.format(1, "decimal", "%1.%2")
    + LEVEL.format(2, "lowerLetter", "%3)")
    + '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
    + LEVEL.format(0, "bullet", "\uf0b7")
    + '</w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="6"><w:abstractNumId w:val="1"/></w:num>'
)
BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
RENDERED = "<w:p><w:r><w:lastRenderedPageBreak/><w:t>{}</w:t></w:r></w:p>"


def number(level: int, num_id: int = 5) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num_id}"/></w:numPr>'


def read(body: str, **parts: str) -> Reading:
    return reader.read(docx(body, **parts), ParseLimits())


def texts(body: str, **parts: str) -> list[str]:
    return [unit.text for unit in read(body, **parts).units]


def test_headings_are_found_by_localised_inherited_and_outline_styles() -> None:
    body = (
        p("One", "berschrift1")
        + p("Two", "U2")
        + p("x")
        + p("Three", "Mine")
        + p("Four", "Child")
        + p("y", "Ring")
    )
    found = read(body, styles=STYLES).units
    assert [unit.kind.value for unit in found] == [
        "heading",
        "heading",
        "paragraph",
        "heading",
        "heading",
        "paragraph",
    ]
    assert found[2].locator.heading == ("One", "Two")
    assert found[5].locator.heading == ("Four",)


def test_the_title_is_the_paragraph_styled_as_one() -> None:
    assert read(p("Handbook", "T") + p("x"), styles=STYLES).title == "Handbook"


def test_list_numbers_are_counted_as_word_shows_them() -> None:
    body = p("A", properties=number(0)) + p("B", properties=number(1)) + p("C", properties=number(1))
    body += p("D", properties=number(2)) + p("E", properties=number(0)) + p("F", properties=number(1))
    assert texts(body, numbering=NUMBERING) == ["1. A", "1.1 B", "1.2 C", "a) D", "2. E", "2.1 F"]
    assert texts(p("A", properties=number(0, 6)), numbering=NUMBERING) == ["- A"]


def test_table_rows_have_their_header_and_number() -> None:
    found = read(tbl(["Grade", "Days"], ["A", "27"], ["B", "30"])).units
    assert [(unit.text, unit.header, unit.locator.rows) for unit in found] == [
        ("A | 27", "Grade | Days", (1, 1)),
        ("B | 30", "Grade | Days", (2, 2)),
    ]


def test_a_cell_merged_over_rows_is_repeated_so_that_each_row_stands_alone() -> None:
    merged = "<w:tc><w:tcPr><w:vMerge{}/></w:tcPr>{}</w:tc>"
    top, below = merged.format(' w:val="restart"', p("Grade A")), merged.format("", p(""))
    assert texts(tbl(["Grade", "Days"], [top, "27"], [below, "28"])) == ["Grade A | 27", "Grade A | 28"]


def test_a_table_of_one_column_is_read_as_paragraphs() -> None:
    assert texts(tbl([f"<w:tc>{p('one')}{p('two')}</w:tc>"])) == ["one", "two"]


def test_deleted_text_is_left_out_and_inserted_text_is_read() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = f"<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins>{run.format('new ')}</w:ins>"
    body += f"<w:moveFrom>{run.format('moved')}</w:moveFrom>{run.format('text')}</w:p>"
    assert texts(body) == ["new text"]


def flagged(body: str, **parts: str) -> list[tuple[str, bool]]:
    return [(unit.text, HIDDEN in unit.flags) for unit in read(body, **parts).units]


def test_hidden_paragraphs_are_read_and_marked() -> None:
    body = p("unseen", run="<w:vanish/>") + p("ghost", run='<w:rStyle w:val="Ghost"/>')
    body += p("styled", "Ghost")
    body += p("seen", run='<w:rStyle w:val="Ghost"/><w:vanish w:val="0"/>')
    assert flagged(body, styles=STYLES) == [
        ("unseen", True),
        ("ghost", True),
        ("styled", True),
        ("seen", False),
    ]


def test_words_hidden_inside_a_visible_paragraph_are_left_out_and_noted() -> None:
    body = "<w:p><w:r><w:t>Call first.</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>old</w:t></w:r></w:p>"
    assert flagged(body) == [("Call first.", False)]
    assert read(body).notes == [
        "a passage inside visible paragraphs, formatted as hidden text in Word, left out"
    ]


WHITE = '<w:color w:val="FFFFFF"/>'


@pytest.mark.parametrize(
    ("body", "hidden"),
    [
        (p("x", run=WHITE), True),
        (p("x", run='<w:sz w:val="2"/>'), True),
        (p("x", run='<w:color w:val="333333"/><w:sz w:val="18"/>'), False),
        (p("x", run=WHITE + '<w:shd w:val="clear" w:fill="1F3864"/>'), False),
        (p("x", run=WHITE + '<w:highlight w:val="black"/>'), False),
        (p("x", run=WHITE, properties='<w:shd w:val="clear" w:fill="1F3864"/>'), False),
        (p("x", run=WHITE, properties='<w:shd w:val="clear" w:fill="auto"/>'), True),
        (f"<w:p><w:r><w:pict><w:txbxContent>{p('x', run=WHITE)}</w:txbxContent></w:pict></w:r></w:p>", False),
    ],
)
def test_white_and_tiny_text_is_marked_where_its_ground_is_white(body: str, hidden: bool) -> None:
    assert flagged(body) == [("x", hidden)]


def test_white_text_in_a_dark_header_row_is_as_visible_as_the_rest() -> None:
    dark = f'<w:tc><w:tcPr><w:shd w:val="clear" w:fill="000080"/></w:tcPr>{p("Grade", run=WHITE)}</w:tc>'
    assert flagged(tbl([dark, "Days"], ["A", "27"])) == [("A | 27", False)]
    plain = f"<w:tc>{p('secret', run=WHITE)}</w:tc>"
    assert flagged(tbl([plain, "Days"], ["A", "27"])) == [
        ("A | 27", False),
        ("secret", True),
    ]


def test_notes_and_comments_follow_their_paragraph() -> None:
    body = (
        '<w:p><w:r><w:t>Rule.</w:t><w:footnoteReference w:id="2"/><w:commentReference w:id="0"/></w:r></w:p>'
        + p("x")
    )
    notes = f'<w:footnote w:id="2">{p("Since 2024.")}</w:footnote>'
    comments = f'<w:comment w:id="0" w:author="Ann">{p("Check this.")}</w:comment>'
    assert texts(body, footnotes=notes, comments=comments) == [
        "Rule.",
        "Footnote 2: Since 2024.",
        "Comment by Ann: Check this.",
        "x",
    ]


def test_a_text_box_comes_once() -> None:
    box = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
    both = f"<mc:AlternateContent><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
    both += f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    assert texts(f"<w:p><w:r><w:t>Before</w:t></w:r><w:r>{both}</w:r></w:p>") == ["Before", "In the box"]


def test_content_controls_links_and_fields_are_read_but_not_field_codes() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = f"<w:sdt><w:sdtContent>{p('control')}</w:sdtContent></w:sdt>"
    body += (
        f"<w:p><w:hyperlink>{run.format('link ')}</w:hyperlink><w:fldSimple>{run.format('7')}</w:fldSimple>"
    )
    body += "<w:r><w:instrText>PAGEREF x</w:instrText></w:r></w:p>"
    assert texts(body) == ["control", "link 7"]


def test_pages_are_estimates_and_one_break_counts_once() -> None:
    found = read(p("one") + BREAK + RENDERED.format("two") + RENDERED.format("three")).units
    assert [unit.locator.page for unit in found] == [1, 2, 3]
    assert str(found[2].locator) == "about page 3"


def test_without_breaks_there_is_no_page() -> None:
    assert read(p("one")).units[0].locator.page is None


def test_headers_and_footers_come_last_and_once() -> None:
    assert texts(p("body"), header=p("Version 3"), footer=p("Version 3") + p("Confidential")) == [
        "body",
        "Version 3",
        "Confidential",
    ]


def test_a_list_of_a_style_and_a_list_that_begins_elsewhere_are_counted() -> None:
    styles = '<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="5"/></w:numPr></w:pPr>'
    linked = '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/>'
    linked += '</w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="upperRoman"/><w:pStyle w:val="H2"/><w:lvlText w:val="%1.%2"/>'
    linked += '</w:lvl></w:abstractNum><w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>'
    linked += '<w:num w:numId="6"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/>'
    linked += "</w:lvlOverride></w:num>"
    body = p("A", properties=number(0)) + p("B", "H2") + p("C", "H2") + p("D", properties=number(0, 6))
    assert texts(body, styles=styles + "</w:style>", numbering=linked) == ["1 A", "1.I B", "1.II C", "4 D"]


def test_ticks_symbols_choices_and_ruby_are_read_as_they_look() -> None:
    box = '<w:fldChar><w:ffData><w:checkBox><w:default w:val="0"/>{}</w:checkBox></w:ffData></w:fldChar>'
    choice = '<w:fldChar><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="yes"/>'
    ruby = "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"
    sign = '<w:sym w:font="Wingdings" w:char="F0FC"/>'
    body = (
        f"{box.format('')}{box.format('<w:checked/>')}{choice}</w:ddList></w:ffData></w:fldChar>{sign}{ruby}"
    )
    assert texts(f"<w:p><w:r>{body}</w:r></w:p>") == ["\u2610\u2612yes\u2713漢"]


def test_charts_and_smartart_follow_their_paragraph() -> None:
    chart = '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><a:p><a:t>Beds</a:t></a:p></c:title>'
    point = '<d:pt modelId="{}" type="{}"><d:t><a:p><a:t>{}</a:t></a:p></d:t></d:pt>'
    data = (
        f'<d:dataModel xmlns:d="d" xmlns:a="a">{point.format(0, "doc", "")}{point.format(1, "node", "Wash")}'
    )
    extra = (
        ("chart", "c.xml", f"{chart}</c:chart></c:chartSpace>"),
        ("diagramData", "d.xml", f"{data}</d:dataModel>"),
    )
    inside = '<c:chart xmlns:c="c" r:id="x0"/><d:relIds xmlns:d="d" r:dm="x1"/>'
    body = f"<w:p><w:r><w:t>Before</w:t><w:drawing>{inside}</w:drawing></w:r></w:p>" + p("after")
    found = reader.read(docx(body, extra), ParseLimits()).units
    assert [unit.text for unit in found] == ["Before", "Chart: Beds", "Wash", "after"]


def native(name: str, data: bytes) -> bytes:
    """Return the stream in which Office packs any file: label, path, temporary path, bytes."""
    path = f"C:\\Users\\ann\\{name}".encode("cp1252") + b"\0"
    inside = (
        struct.pack("<H", 2) + name.encode("cp1252") + b"\0" + path + struct.pack("<II", 3, len(path)) + path
    )
    inside += struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(inside)) + inside


def test_embedded_files_are_parts_and_come_out_whole() -> None:
    extra = (
        ("package", "embeddings/Sheet1.xlsx", b"PK workbook"),
        (
            "oleObject",
            "embeddings/oleObject1.bin",
            ole({"\x01Ole10Native": native("plan.pdf", b"%PDF-1.7 plan")}),
        ),
        ("oleObject", "embeddings/oleObject2.bin", ole({"Equation Native": b"x"})),
        ("oleObject", "embeddings/oleObject3.bin", ole({"CONTENTS": b"%PDF-1.4 other"})),
        ("aFChunk", "chunk.docx", docx(p("from the chunk"))),
    )
    data = docx(p("x"), extra)
    parts = reader.read(data, ParseLimits()).parts
    assert [part.name for part in parts] == [
        ("Sheet1.xlsx",),
        ("plan.pdf",),
        ("oleObject3.bin",),
        ("chunk.docx",),
    ]
    assert parts[1].key == "word/embeddings/oleObject1.bin/plan.pdf"
    found = [embedded.extract(data, part.key, ParseLimits()) for part in parts]
    assert found[:2] == [b"PK workbook", b"%PDF-1.7 plan"]
    assert found[2].startswith(b"%PDF-1.4 other")


def test_a_web_page_taken_in_is_read_where_it_stands() -> None:
    data = docx(p("a") + '<w:altChunk r:id="x0"/>' + p("c"), [("aFChunk", "b.html", "<p>b</p>")])
    found = reader.read(data, ParseLimits())
    assert [unit.text for unit in found.units] == ["a", "b", "c"]
    assert not found.parts


def test_a_broken_side_part_costs_only_itself() -> None:
    found = read(p("x"), footnotes="<w:footnote>")
    assert [unit.text for unit in found.units] == ["x"]
    assert "word/footnotes.xml" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "outcome", "reason"),
    [
        (docx(p("x"))[:-40], Outcome.DAMAGED, "cut off or broken"),
        (zip_of({"word/other.xml": "x"}), Outcome.DAMAGED, "word/document.xml is missing"),
        (docx("<w:p>"), Outcome.DAMAGED, "word/document.xml is broken"),
        (docx("<w:sdt>" * 300 + "</w:sdt>" * 300), Outcome.DAMAGED, "word/document.xml is broken"),
        (zip_of({f"word/{i}": b"" for i in range(5001)}), Outcome.TOO_LARGE, "5001 parts"),
        (zip_of({"word/document.xml": b" " * (65 * 1024 * 1024)}), Outcome.TOO_LARGE, "more than 64 MB"),
        (
            zip_of({"word/document.xml": '<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'}),
            Outcome.DAMAGED,
            "document type",
        ),
        (
            zip_of(
                {"word/document.xml": "<!--" + "x" * 9000 + '--><!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'}
            ),
            Outcome.DAMAGED,
            "document type",
        ),
    ],
)
def test_broken_and_hostile_documents_are_refused_with_a_reason(
    data: bytes, outcome: Outcome, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refusal:
        reader.read(data, ParseLimits())
    assert refusal.value.outcome is outcome
