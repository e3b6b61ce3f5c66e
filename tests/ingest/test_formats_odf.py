"""OpenDocument texts and presentations: what a reader of the page or slide sees, and what is kept from sight marked."""

from __future__ import annotations

import pytest

from ingest.formats import odp, odt
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from ingest.unit import HIDDEN, Outcome, UnitKind
from tests.ingest.made_files import zip_of
from tests.ingest.made_odf import (
    NAMESPACES,
    content,
    flat,
    frame,
    h,
    locked,
    odf,
    p,
    page,
    rows,
    style,
    table,
    text_style,
)

OUTLINE = (
    "<office:styles><text:outline-style>"
    '<text:outline-level-style text:level="1" style:num-format="1"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    "</text:outline-style></office:styles>"
)
LISTS = (
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"'
    ' style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '</text:list-style><text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def read(body: str, **more: str) -> Reading:
    return odt.read(odf(body, **more), ParseLimits())  # type: ignore[arg-type]


def texts(body: str, **more: str) -> list[str]:
    return [unit.text for unit in read(body, **more).units]


def flagged(body: str, styles: str = "") -> list[tuple[str, bool]]:
    return [(unit.text, HIDDEN in unit.flags) for unit in read(body, styles=styles).units]


def items(*texts: str, more: str = "", name: str = "N", attributes: str = "") -> str:
    """Return a list; `more` goes into its last item."""
    made = [f"<text:list-item>{p(text)}</text:list-item>" for text in texts]
    made[-1] = made[-1].replace("</text:list-item>", f"{more}</text:list-item>")
    named = f'text:style-name="{name}"' if name else ""
    return f"<text:list {named} {attributes}>{''.join(made)}</text:list>"


def test_headings_make_a_path_and_carry_their_numbers() -> None:
    found = read(h("Leave", 1) + h("Sick leave", 2) + p("Call first.") + h("Pay", 1), common=OUTLINE).units
    assert [unit.text for unit in found] == ["1 Leave", "1.1 Sick leave", "Call first.", "2 Pay"]
    assert found[2].locator.heading == ("1 Leave", "1.1 Sick leave")
    assert found[1].kind is UnitKind.HEADING


def test_the_title_is_the_paragraph_styled_as_one() -> None:
    styles = style("P1", "paragraph", "", "Title")
    common = f"<office:styles>{style('Title', 'paragraph', '')}</office:styles>"
    assert read(p("Handbook", "P1") + p("x"), styles=styles, common=common).title == "Handbook"


def test_lists_are_numbered_by_level_and_go_on_where_they_say_so() -> None:
    inner = items("c", "d", name="")
    body = items("a", "b", more=inner) + p("between")
    body += items("e", attributes='text:continue-numbering="true"') + items("f") + items("g", name="B")
    assert texts(body, styles=LISTS) == ["1. a", "2. b", "a) c", "b) d", "between", "3. e", "1. f", "- g"]


def test_spaces_tabs_and_line_breaks_part_words() -> None:
    assert texts(p("a<text:s text:c='3'/>b<text:tab/>c<text:line-break/>d <text:span>e</text:span> f")) == [
        "a b c d e f"
    ]


def test_tables_are_rows_under_their_header() -> None:
    marked = f"<table:table-header-rows>{rows(['Grade', '27'])}</table:table-header-rows>{rows(['A', '28'])}"
    found = read(table(["Grade", "Days"], ["A", "27"]) + f"<table:table>{marked}</table:table>").units
    assert [(unit.text, unit.header, unit.locator.rows) for unit in found] == [
        ("A | 27", "Grade | Days", (1, 1)),
        ("A | 28", "Grade | 27", (1, 1)),
    ]


def test_a_cell_over_several_rows_is_repeated_and_a_repeated_cell_is_bounded() -> None:
    top = f'<table:table-cell table:number-rows-spanned="2">{p("Grade A")}</table:table-cell>'
    body = table(["Grade", "Days"], [top, "27"], ["<table:covered-table-cell/>", "28"])
    assert texts(body) == ["Grade A | 27", "Grade A | 28"]
    many = f'<table:table-cell table:number-columns-repeated="1000000">{p("7")}</table:table-cell>'
    assert texts(table([many], ["x"]))[0].count("7") == 50


def test_notes_and_comments_follow_their_paragraph() -> None:
    note = f"<text:note><text:note-citation>1</text:note-citation><text:note-body>{p('Since 2024.')}</text:note-body>"
    comment = f"<office:annotation><dc:creator>Ann</dc:creator>{p('Check this.')}</office:annotation>"
    assert texts(p(f"Rule{note}</text:note> holds{comment}.")) == [
        "Rule holds.",
        "Footnote 1: Since 2024.",
        "Comment by Ann: Check this.",
    ]


def test_deleted_text_is_left_out_and_inserted_text_is_read() -> None:
    gone = f"<text:changed-region><text:deletion>{p('old rule')}</text:deletion></text:changed-region>"
    body = f"<text:tracked-changes>{gone}</text:tracked-changes>"
    assert texts(body + p("The <text:change-start/>new<text:change-end/> rule")) == ["The new rule"]


STYLES = (
    text_style("off", 'text:display="none"')
    + text_style("white", 'fo:color="#ffffff"')
    + text_style("tiny", 'fo:font-size="1pt"')
    + text_style("badge", 'fo:color="#ffffff" fo:background-color="#000080"')
    + text_style("offP", 'text:display="none"', "paragraph")
    + style("dark", "table-cell", '<style:table-cell-properties fo:background-color="#000080"/>')
)


@pytest.mark.parametrize(
    ("name", "hidden"), [("off", True), ("white", True), ("tiny", True), ("badge", False), ("", False)]
)
def test_text_that_nobody_can_see_is_marked(name: str, hidden: bool) -> None:
    assert flagged(p(f'<text:span text:style-name="{name}">x</text:span>'), STYLES) == [("x", hidden)]


def test_hidden_paragraphs_and_sections_are_marked() -> None:
    body = p("a", "offP") + f'<text:section text:display="none">{p("b")}</text:section>'
    assert flagged(body + p("c"), STYLES) == [("a", True), ("b", True), ("c", False)]


def test_white_text_in_a_dark_cell_or_a_box_is_as_visible_as_the_rest() -> None:
    white = p('<text:span text:style-name="white">Grade</text:span>')
    dark = f'<table:table-cell table:style-name="dark">{white}</table:table-cell>'
    assert flagged(table([dark, "Days"], ["A", "27"]), STYLES) == [("A | 27", False)]
    box = f"<draw:frame><draw:text-box>{white}</draw:text-box></draw:frame>"
    assert flagged(p(f"Before{box}"), STYLES) == [("Before", False), ("Grade", False)]


def test_headers_and_footers_come_last_and_once() -> None:
    masters = "".join(
        f'<style:master-page style:name="{name}"><style:header>{p("Version 3")}</style:header>'
        f"<style:footer>{p(name)}</style:footer></style:master-page>"
        for name in ("Internal", "Confidential")
    )
    common = f"<office:master-styles>{masters}</office:master-styles>"
    assert texts(p("body"), common=common) == ["body", "Version 3", "Internal", "Confidential"]


def test_pages_are_estimates_from_breaks_of_both_kinds() -> None:
    hard = style("new", "paragraph", '<style:paragraph-properties fo:break-before="page"/>')
    body = (
        p("one", "new")
        + p("two", "new")
        + "<text:soft-page-break/>"
        + p("three<text:soft-page-break/>")
        + p("four")
    )
    found = read(body, styles=hard).units
    assert [unit.locator.page for unit in found] == [1, 2, 3, 4]
    assert str(found[1].locator) == "about page 2"
    assert read(p("x")).units[0].locator.page is None


def test_a_chart_is_its_title_and_its_table() -> None:
    chart = f"<chart:chart><chart:title>{p('Beds')}</chart:title>{table(['', 'North'], ['Q1', '12'])}</chart:chart>"
    body = p('<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>')
    data = odf(body, parts={"Object 1/content.xml": content(chart, "chart")})
    assert [(unit.text, unit.header) for unit in odt.read(data, ParseLimits()).units] == [
        ("Chart: Beds", ""),
        ("Q1 | 12", "| North"),
    ]


def slides(*pages: str, **more: str) -> Reading:
    return odp.read(odf("".join(pages), "presentation", **more), ParseLimits())  # type: ignore[arg-type]


def test_slides_are_numbered_and_read_from_the_top_under_their_title() -> None:
    first = page(
        frame("low", (1, 9))
        + frame("right", (9, 5.1))
        + frame("left", (1, 5))
        + frame("Rota", (1, 12), "title")
    )
    second = page(frame("x") + frame("Ann's page", kind="page-number"), attributes='draw:name="Summary"')
    found = slides(first, second).units
    assert [(unit.text, str(unit.locator)) for unit in found] == [
        ("Rota", "slide 1, Rota"),
        ("left", "slide 1, Rota"),
        ("right", "slide 1, Rota"),
        ("low", "slide 1, Rota"),
        ("x", "slide 2, Summary"),
    ]


def test_notes_comments_shapes_and_groups_of_a_slide_are_read() -> None:
    shape = f"<draw:custom-shape>{p('Stop')}</draw:custom-shape>"
    comment = f"<office:annotation><dc:creator>Ann</dc:creator>{p('Sure?')}</office:annotation>"
    found = slides(page(f"<draw:g>{shape}</draw:g>{comment}", frame("Speak slowly.", kind="notes"))).units
    assert [(unit.text, unit.locator.heading) for unit in found] == [
        ("Stop", ()),
        ("Comment by Ann: Sure?", ("Comments",)),
        ("Speak slowly.", ("Notes",)),
    ]


def test_hidden_slides_and_shapes_off_the_slide_are_marked() -> None:
    hidden = style("dp1", "drawing-page", '<style:drawing-page-properties presentation:visibility="hidden"/>')
    size = '<style:page-layout-properties fo:page-width="28cm" fo:page-height="21cm"/>'
    common = f'<office:automatic-styles><style:page-layout style:name="L">{size}</style:page-layout>'
    common += '</office:automatic-styles><office:master-styles><style:master-page style:name="M"'
    common += ' style:page-layout-name="L"/></office:master-styles>'
    seen = page(frame("far", (30, 1)) + frame("near"), attributes='draw:master-page-name="M"')
    found = slides(page(frame("old"), attributes='draw:style-name="dp1"'), seen, styles=hidden, common=common)
    assert {unit.text: HIDDEN in unit.flags for unit in found.units} == {
        "old": True,
        "far": True,
        "near": False,
    }
    assert found.notes == ["slide 1 is hidden; its text is read all the same"]


def test_flat_files_are_read_like_packed_ones() -> None:
    assert [unit.text for unit in odt.read(flat(p("x")), ParseLimits()).units] == ["x"]
    assert odp.read(flat(page(frame("y")), "presentation"), ParseLimits()).units[0].locator.slide == 1


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (odf(p("x")), "odt"),
        (odf("", "presentation"), "odp"),
        (odf("", "spreadsheet"), "ods"),
        (odf("", "graphics"), "odg"),
        (zip_of({"mimetype": "application/vnd.oasis.opendocument.text-template", "content.xml": "x"}), "odt"),
        (flat(p("x")), "odt"),
        (flat(page(""), "presentation"), "odp"),
        (
            zip_of(
                {
                    "content.xml": "x",
                    "META-INF/manifest.xml": '<m:file-entry m:full-path="/" m:media-type='
                    '"application/vnd.oasis.opendocument.text"/>',
                }
            ),
            "odt",
        ),
    ],
)
def test_content_tells_the_kind_of_open_document(data: bytes, kind: str) -> None:
    assert sniff(data, "a.bin") == kind


@pytest.mark.parametrize(
    ("data", "outcome", "reason"),
    [
        (locked(), Outcome.NEEDS_PASSWORD, "password"),
        (odf(p("x"))[:-40], Outcome.DAMAGED, "cut off or broken"),
        (zip_of({"mimetype": "x"}), Outcome.DAMAGED, "content.xml is missing"),
        (
            zip_of({"content.xml": f"<office:document-content {NAMESPACES}/>"}),
            Outcome.DAMAGED,
            "no text body",
        ),
        (
            zip_of({"content.xml": '<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'}),
            Outcome.DAMAGED,
            "document type",
        ),
        (odf("<text:section>" * 300 + "</text:section>" * 300), Outcome.DAMAGED, "content.xml is broken"),
    ],
)
def test_locked_and_broken_files_are_refused_with_a_reason(
    data: bytes, outcome: Outcome, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refusal:
        odt.read(data, ParseLimits())
    assert refusal.value.outcome is outcome
