"""Presentations: what is on each slide, in the order a person reads it, under the slide's number."""

from __future__ import annotations

import io

import pptx as writer
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm

from ingest.formats import embedded
from ingest.formats import pptx as reader
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from ingest.unit import HIDDEN, Outcome, UnitKind
from tests.ingest.made_files import zip_of
from tests.ingest.made_slides import BLACK_AND_WHITE, FRAME, group, para, pptx, rels, slide, sp, tree


def read(data: bytes) -> Reading:
    return reader.read(data, ParseLimits())


def texts(*slides: str) -> list[str]:
    return [unit.text for unit in read(pptx(slides)).units]


def flagged(data: bytes) -> list[tuple[str, bool]]:
    return [(unit.text, HIDDEN in unit.flags) for unit in read(data).units]


def saved(deck: writer.presentation.Presentation) -> bytes:
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def test_slides_come_in_the_order_they_are_shown_and_know_their_number() -> None:
    found = read(
        pptx([slide(sp("second")), slide(sp("first")), slide(sp("never shown"))], order=[2, 1])
    ).units
    assert [(unit.text, unit.locator.slide) for unit in found] == [("first", 1), ("second", 2)]


def test_a_title_is_the_heading_of_its_slide_wherever_it_stands() -> None:
    found = read(pptx([slide(sp("Body", (1, 1)) + sp("Fire drill", (1, 15), kind="title"))])).units
    assert [(unit.text, unit.kind) for unit in found] == [
        ("Fire drill", UnitKind.HEADING),
        ("Body", UnitKind.PARAGRAPH),
    ]
    assert str(found[1].locator) == "slide 1, Fire drill"


def test_shapes_are_read_in_rows_from_the_top_and_groups_stay_together() -> None:
    inner = sp("g2", (0, 5)) + sp("g1", (0, 0))
    shapes = sp("bottom", (1, 15)) + sp("right", (10, 1.1)) + group(inner, (1, 5), 0.5) + sp("left", (1, 1.2))
    shapes += sp("between", (8, 6.5))
    assert texts(slide(shapes)) == ["left", "right", "g1", "g2", "between", "bottom"]


def test_a_placeholder_without_a_place_stands_where_its_layout_says() -> None:
    layout = tree(sp("Click to edit", (1, 12), kind="body"), "sldLayout")
    shapes = sp("below", None, kind="body") + sp("above", (1, 3))
    data = pptx(
        [slide(shapes)], {"ppt/slideLayouts/l.xml": layout}, [("slideLayout", "../slideLayouts/l.xml")]
    )
    assert [unit.text for unit in read(data).units] == ["above", "below"]


def test_bullets_and_numbers_are_written_as_the_slide_shows_them() -> None:
    number = '<a:buAutoNum type="arabicPeriod"/>'
    body = para("one", properties=number) + para("two", properties=number)
    body += para("dot", properties='<a:buChar char="•"/>') + para("plain")
    assert texts(slide(sp(body))) == ["1. one", "2. two", "- dot", "plain"]


def test_tables_are_rows_under_their_header() -> None:
    deck = writer.Presentation()
    page = deck.slides.add_slide(deck.slide_layouts[5])
    page.shapes.title.text = "Rota"
    table = page.shapes.add_table(3, 2, Cm(1), Cm(5), Cm(10), Cm(3)).table
    for i, text in enumerate(["Day", "Who", "Monday", "Ann", "Tuesday", "Bob"]):
        table.cell(i // 2, i % 2).text = text
    found = [unit for unit in read(saved(deck)).units if unit.kind is UnitKind.TABLE_ROW]
    assert [(unit.text, unit.header, unit.locator.rows) for unit in found] == [
        ("Monday | Ann", "Day | Who", (1, 1)),
        ("Tuesday | Bob", "Day | Who", (2, 2)),
    ]


@pytest.mark.parametrize(
    "kind", [XL_CHART_TYPE.COLUMN_CLUSTERED, XL_CHART_TYPE.LINE_MARKERS, XL_CHART_TYPE.PIE]
)
def test_charts_are_a_title_and_a_table_of_categories_and_series(kind: XL_CHART_TYPE) -> None:
    data = CategoryChartData(number_format="0%")
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (0.25, 0.3))
    if kind is not XL_CHART_TYPE.PIE:
        data.add_series("South", (0.1, 0.2))
    deck = writer.Presentation()
    page = deck.slides.add_slide(deck.slide_layouts[6])
    chart = page.shapes.add_chart(kind, Cm(1), Cm(1), Cm(9), Cm(9), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Occupancy"
    found = read(saved(deck)).units
    south = "" if kind is XL_CHART_TYPE.PIE else " | 10%"
    assert [unit.text for unit in found[:2]] == ["Chart: Occupancy", f"Q1 | 25%{south}"]
    assert found[1].header == ("| North" if not south else "| North | South")
    assert found[1].locator.slide == 1


def chart_rows(xml: str) -> list[tuple[str, str]]:
    data = pptx(
        [slide(FRAME.format('<c:chart r:id="r1"/>'))],
        {"ppt/charts/c.xml": xml},
        [("chart", "../charts/c.xml")],
    )
    return [(unit.header, unit.text) for unit in read(data).units]


POINT = '<c:pt idx="{}"><c:v>{}</c:v></c:pt>'


def cache(kind: str, shape: str, *values: str) -> str:
    """Return one column of a chart's figures."""
    points = "".join(POINT.format(i, text) for i, text in enumerate(values))
    return f"<c:{kind}><c:f>A1</c:f><c:numCache><c:formatCode>{shape}</c:formatCode>{points}</c:numCache></c:{kind}>"


def test_charts_in_three_dimensions_are_read_like_flat_ones() -> None:
    ser = (
        f"<c:ser><c:tx><c:v>Beds</c:v></c:tx><c:cat>{cache('numRef', 'dd/mm/yyyy', '45292', '45323')}</c:cat>"
    )
    ser += f"<c:val>{cache('numRef', 'General', '12', '0.30000000000000004')}</c:val></c:ser>"
    axis = f"<c:valAx><c:title><c:tx><c:rich>{para('Number')}</c:rich></c:tx></c:title></c:valAx>"
    plot = f"<c:plotArea><c:bar3DChart>{ser}</c:bar3DChart>{axis}</c:plotArea>"
    assert chart_rows(f"<c:chartSpace><c:chart>{plot}</c:chart></c:chartSpace>") == [
        ("", "Chart (Number)"),
        ("| Beds", "2024-01-01 | 12"),
        ("| Beds", "2024-02-01 | 0.3"),
    ]


def test_an_outer_category_stands_before_each_inner_one() -> None:
    inner = "".join(POINT.format(i, quarter) for i, quarter in enumerate(["Q1", "Q2", "Q1"]))
    outer = POINT.format(0, "2024") + POINT.format(2, "2025")
    levels = f"<c:multiLvlStrCache><c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl></c:multiLvlStrCache>"
    values = f"<c:val>{cache('numRef', 'General', '1', '2', '3')}</c:val>"
    ser = f"<c:ser><c:cat><c:multiLvlStrRef>{levels}</c:multiLvlStrRef></c:cat>{values}</c:ser>"
    plot = f"<c:plotArea><c:barChart>{ser}</c:barChart></c:plotArea>"
    rows = chart_rows(f"<c:chartSpace><c:chart>{plot}</c:chart></c:chartSpace>")
    assert [text for _, text in rows] == ["2024 Q1 | 1", "2024 Q2 | 2", "2025 Q1 | 3"]


def test_the_charts_since_office_2016_are_read_too() -> None:
    points = '<c:lvl><c:pt idx="0">{}</c:pt><c:pt idx="1">{}</c:pt></c:lvl>'
    data = f'<c:data id="0"><c:strDim type="cat">{points.format("Jan", "Feb")}</c:strDim>'
    data += f'<c:numDim type="val">{points.format("5", "-2")}</c:numDim></c:data>'
    series = '<c:series><c:tx><c:txData><c:v>Change</c:v></c:txData></c:tx><c:dataId val="0"/></c:series>'
    plot = f"<c:plotArea><c:plotAreaRegion>{series}</c:plotAreaRegion></c:plotArea>"
    xml = f"<c:chartSpace><c:chartData>{data}</c:chartData><c:chart>{plot}</c:chart></c:chartSpace>"
    assert chart_rows(xml) == [("| Change", "Jan | 5"), ("| Change", "Feb | -2")]


def test_smartart_is_read_from_its_data() -> None:
    point = '<dgm:pt modelId="{}"{}><dgm:t>{}</dgm:t></dgm:pt>'
    points = (
        point.format(0, ' type="doc"', "")
        + point.format(2, "", para("Wash"))
        + point.format(1, "", para("Stop"))
    )
    points += point.format(3, "", para("20 seconds")) + point.format(4, ' type="pres"', para("drawn"))
    link = '<dgm:cxn srcId="{}" destId="{}" srcOrd="{}"/>'
    links = link.format(0, 1, 0) + link.format(0, 2, 1) + link.format(2, 3, 0)
    data = f"<dgm:dataModel><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"
    frame = FRAME.format('<dgm:relIds r:dm="r1"/>')
    made = pptx([slide(frame)], {"ppt/diagrams/data1.xml": data}, [("diagramData", "../diagrams/data1.xml")])
    assert [unit.text for unit in read(made).units] == ["Stop", "Wash", "- 20 seconds"]


def test_speaker_notes_say_that_they_are_notes() -> None:
    deck = writer.Presentation()
    page = deck.slides.add_slide(deck.slide_layouts[5])
    page.shapes.title.text = "Welcome"
    page.notes_slide.notes_text_frame.text = "Mention the parking permit."
    found = read(saved(deck)).units[-1]
    assert (found.text, found.locator.slide) == ("Mention the parking permit.", 1)
    assert found.locator.heading == ("Welcome", "Notes")


def test_comments_of_both_kinds_name_who_made_them() -> None:
    parts: dict[str, str | bytes] = {
        "ppt/commentAuthors.xml": '<p:cmAuthorLst><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>',
        "ppt/authors.xml": '<p:authorLst><p:author id="{B}" name="Bob"/></p:authorLst>',
        "ppt/c1.xml": '<p:cmLst><p:cm authorId="0"><p:text>Is this right?</p:text></p:cm></p:cmLst>',
        "ppt/c2.xml": '<p:cmLst><p:cm authorId="{B}"><p:replyLst><p:reply authorId="0"><p:txBody>'
        + f"{para('Yes.')}</p:txBody></p:reply></p:replyLst><p:txBody>{para('Still so?')}</p:txBody></p:cm></p:cmLst>",
    }
    found = read(pptx([slide(sp("x"))], parts, [("comments", "../c1.xml"), ("comments", "../c2.xml")])).units
    assert [unit.text for unit in found[1:]] == [
        "Comment by Ann: Is this right?",
        "Comment by Bob: Still so?",
        "Reply by Ann: Yes.",
    ]
    assert {unit.locator.heading for unit in found[1:]} == {("Comments",)}


def test_footers_are_read_once_and_slide_numbers_not_at_all() -> None:
    margins = sp("Confidential", (1, 18), kind="ftr") + sp("7", (9, 18), kind="sldNum")
    assert texts(slide(sp("a") + margins), slide(sp("b") + margins)) == ["a", "Confidential", "b"]


def test_what_stands_on_the_master_is_read_once_and_last() -> None:
    layout = tree(sp("Ward 4 only") + sp("Click to edit", kind="body"), "sldLayout")
    data = pptx([slide(sp("a"))], {"ppt/l.xml": layout}, [("slideLayout", "../l.xml")])
    assert [unit.text for unit in read(data).units] == ["a", "Ward 4 only"]


def test_hidden_slides_are_read_marked_and_noted() -> None:
    found = read(pptx([slide(sp("old"), 'show="0"'), slide(sp("new"))]))
    assert [(unit.text, HIDDEN in unit.flags, unit.locator.slide) for unit in found.units] == [
        ("old", True, 1),
        ("new", False, 2),
    ]
    assert found.notes == ["slide 1 is hidden; its text is read all the same"]


SOLID = '<a:solidFill><a:srgbClr val="{}"/></a:solidFill>'
WHITE_TEXT = para("x", SOLID.format("FFFFFF"))
WHITE_GROUND = f"<p:bgPr>{SOLID.format('FFFFFF')}</p:bgPr>"
DARK = SOLID.format("202060")


@pytest.mark.parametrize(
    ("shapes", "background", "hidden"),
    [
        (sp("x", (-9, 1)), "", True),
        (sp("x", (1, 30)), "", True),
        (sp("x", (-2, 1)), "", False),
        (sp("x", off=True), "", True),
        (sp(para("x", size=100)), "", True),
        (sp(para("x", size=1200)), "", False),
        (sp(para("x", "<a:noFill/>")), "", True),
        (sp(WHITE_TEXT), WHITE_GROUND, True),
        (sp(WHITE_TEXT), "", False),
        (sp(WHITE_TEXT), f"<p:bgPr>{DARK}</p:bgPr>", False),
        (sp(WHITE_TEXT, look=DARK), WHITE_GROUND, False),
        (sp(WHITE_TEXT, look=SOLID.format("FFFFFF")), "", True),
    ],
)
def test_text_that_nobody_can_see_is_marked(shapes: str, background: str, hidden: bool) -> None:
    assert flagged(pptx([slide(shapes, background=background)])) == [("x", hidden)]


def test_white_text_over_a_dark_shape_is_as_visible_as_the_rest() -> None:
    data = pptx([slide(sp("<a:p/>", (1, 1), look=DARK) + sp(WHITE_TEXT, (2, 1)), background=WHITE_GROUND)])
    assert flagged(data) == [("x", False)]


def test_a_colour_of_the_theme_is_compared_as_the_master_maps_it() -> None:
    master = tree("", "sldMaster", background='<p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef>')
    master = master.replace("</p:cSld>", '</p:cSld><p:clrMap bg1="lt1" tx1="dk1"/>')
    parts: dict[str, str | bytes] = {
        "ppt/l.xml": tree("", "sldLayout"),
        "ppt/_rels/l.xml.rels": rels(("slideMaster", "m.xml")),
        "ppt/m.xml": master,
        "ppt/_rels/m.xml.rels": rels(("theme", "t.xml")),
        "ppt/t.xml": BLACK_AND_WHITE,
    }
    body = para("seen", "<a:solidFill><a:schemeClr val='tx1'/></a:solidFill>")
    body += para("unseen", "<a:solidFill><a:schemeClr val='bg1'/></a:solidFill>")
    data = pptx([slide(sp(body))], parts, [("slideLayout", "../l.xml")])
    assert flagged(data) == [("seen", False), ("unseen", True)]


def test_unseen_words_inside_a_paragraph_stand_alone() -> None:
    paragraph = "<a:p><a:r><a:t>Seen </a:t></a:r><a:r><a:rPr sz='100'/><a:t>obey me</a:t></a:r></a:p>"
    assert flagged(pptx([slide(sp(paragraph))])) == [("Seen", False), ("obey me", True)]


def test_one_of_two_alternatives_is_read() -> None:
    both = f"<mc:AlternateContent><mc:Choice>{sp('new')}</mc:Choice><mc:Fallback>{sp('old')}</mc:Fallback>"
    assert texts(slide(both + "</mc:AlternateContent>")) == ["new"]


def test_the_main_part_may_have_any_name_and_any_namespace() -> None:
    data = pptx([slide(sp("x"))], folder="slides-of-ours")
    assert [unit.text for unit in read(data).units] == ["x"]
    strict = slide(sp("y")).replace("http://schemas.openxmlformats.org/", "http://purl.oclc.org/ooxml/")
    assert texts(strict) == ["y"]


def types(kind: str) -> dict[str, str | bytes]:
    return {
        "[Content_Types].xml": f'<Types><Override ContentType="application/vnd.{kind}"/></Types>',
        "a/b.xml": "x",
    }


OPEN = "openxmlformats-officedocument"


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        (types(f"{OPEN}.presentationml.slideshow.main+xml"), "pptx"),
        (types(f"{OPEN}.presentationml.template.main+xml"), "pptx"),
        (types("ms-powerpoint.presentation.macroEnabled.main+xml"), "pptx"),
        (types("ms-word.document.macroEnabled.main+xml"), "docx"),
        (types(f"{OPEN}.wordprocessingml.template.main+xml"), "docx"),
        (types(f"{OPEN}.spreadsheetml.sheet.main+xml"), "xlsx"),
        (types("ms-excel.sheet.binary.macroEnabled.main"), "xlsb"),
        ({"word/letter.txt": "x", "xl/costs.csv": "y"}, "zip"),
    ],
)
def test_a_package_is_what_its_main_part_is_whatever_its_members_are_called(
    members: dict[str, str | bytes], kind: str
) -> None:
    assert sniff(zip_of(members), "a.pptm") == kind


def test_embedded_files_are_parts_and_come_out_whole() -> None:
    found_in = pptx(
        [slide(sp("x"))],
        {"ppt/embeddings/Costs.xlsx": b"PK the workbook"},
        [("package", "../embeddings/Costs.xlsx")],
    )
    parts = read(found_in).parts
    assert [(part.key, part.name) for part in parts] == [("ppt/embeddings/Costs.xlsx", ("Costs.xlsx",))]
    assert embedded.extract(found_in, parts[0].key, ParseLimits()) == b"PK the workbook"


def test_a_broken_slide_costs_only_itself() -> None:
    found = read(pptx([slide(sp("x")), "<p:sld>"]))
    assert [unit.text for unit in found.units] == ["x"]
    assert "ppt/slides/slide2.xml" in found.notes[0]


@pytest.mark.parametrize(
    ("data", "outcome", "reason"),
    [
        (pptx([slide(sp("x"))])[:-60], Outcome.DAMAGED, "cut off or broken"),
        (pptx([]), Outcome.DAMAGED, "no slides"),
        (zip_of({"ppt/other.xml": "x"}), Outcome.DAMAGED, "ppt/presentation.xml is missing"),
        (
            zip_of({"ppt/presentation.xml": '<!DOCTYPE a [<!ENTITY b "x">]><a>&b;</a>'}),
            Outcome.DAMAGED,
            "document type",
        ),
        (
            pptx([slide(sp("x")), " " * (65 * 1024 * 1024)]),
            Outcome.TOO_LARGE,
            "more than 64 MB",
        ),
    ],
)
def test_broken_and_hostile_presentations_are_refused_with_a_reason(
    data: bytes, outcome: Outcome, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refusal:
        read(data)
    assert refusal.value.outcome is outcome
