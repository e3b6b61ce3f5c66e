"""JSON, XML, notebooks, YAML, code and subtitles: records that read alone, and nothing that a hostile file can do."""

from __future__ import annotations

import json

import pytest

from ingest.formats import code, ipynb, json_data, subtitles, txt, xml_data
from ingest.formats.reading import Reading, RefusedError
from ingest.formats.records import MAX_UNITS
from ingest.limits import ParseLimits
from ingest.unit import Outcome, Unit, UnitKind

LIMITS = ParseLimits()


def of_json(value: object) -> Reading:
    return json_data.read(json.dumps(value).encode(), LIMITS)


def of_xml(text: str, encoding: str = "utf-8") -> Reading:
    return xml_data.read(text.encode(encoding), LIMITS)


def shown(units: list[Unit]) -> list[tuple[str, str]]:
    return [(str(unit.locator), unit.text) for unit in units]


def test_records_of_a_list_stand_alone() -> None:
    units = of_json({"users": [{"name": "Ann", "floor": 1}, {"name": "Bob", "ok": True, "note": None}]}).units
    assert shown(units) == [
        ("users", "users"),
        ("users, row 1", "name: Ann · floor: 1"),
        ("users, row 2", "name: Bob · ok: yes"),
    ]
    assert units[1].kind is UnitKind.TABLE_ROW


def test_a_small_file_of_settings_is_one_unit_with_its_keys() -> None:
    units = of_json({"server": {"host": "a", "ports": [80, 443]}, "debug": False}).units
    assert shown(units) == [("", "server.host: a · server.ports: 80, 443 · debug: no")]


def test_numbers_stay_as_they_were_written() -> None:
    assert (
        json_data.read(b'{"price": 1.10, "big": 1e400}', LIMITS).units[0].text == "price: 1.10 · big: 1e400"
    )


def test_a_long_record_is_read_field_by_field_under_its_title() -> None:
    story = "The pump runs well. " * 60
    reading = of_json([{"title": "Pump", "site": "Bonn", "story": story + "\n\n" + story}, {"title": "Fan"}])
    assert [(str(unit.locator), unit.text[:12]) for unit in reading.units] == [
        ("Pump, row 1", "Pump"),
        ("Pump, row 1", "site: Bonn"),
        ("Pump › story", "The pump run"),
        ("Pump › story", "The pump run"),
        ("row 2", "title: Fan"),
    ]


def test_json_lines_know_their_lines_and_survive_a_broken_one() -> None:
    reading = json_data.read(b'{"a": 1}\n\n{"a": 2}\n{"a": \n', LIMITS)
    assert shown(reading.units) == [("line 1", "a: 1"), ("line 3", "a: 2")]
    assert reading.notes == ["lines that are broken and not read: 1"]


def test_geojson_features_are_read_by_their_properties_without_their_outlines() -> None:
    ring = [[7.1 + i / 100, 50.2] for i in range(100)]
    feature = {
        "type": "Feature",
        "properties": {"name": "Zone 4"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
    units = of_json({"type": "FeatureCollection", "features": [feature, feature]}).units
    assert units[-1].text == "name: Zone 4 · geometry.type: Polygon · geometry.coordinates: (many numbers)"


def test_packed_data_is_counted_and_not_read() -> None:
    assert of_json({"image": "iVBOR" * 200}).units[0].text == "image: (1,000 characters of packed data)"


def test_broken_json_is_read_as_its_lines_with_a_note() -> None:
    reading = json_data.read(b'{"a": 1,\n  // the port\n  "b": 2}', LIMITS)
    assert [unit.locator.lines for unit in reading.units] == [(1, 3)]
    assert reading.notes == ["its JSON is broken, line 2: it is read as plain text"]


@pytest.mark.parametrize("data", [b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 300 + b"1" + b"}" * 300])
def test_json_nested_deeper_than_data_for_people_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError, match="nested more than 100 deep") as refusal:
        json_data.read(data, LIMITS)
    assert refusal.value.outcome is Outcome.DAMAGED


def test_of_very_many_records_the_first_are_read_and_a_note_says_so() -> None:
    reading = of_json([{"n": n} for n in range(MAX_UNITS + 5)])
    assert len(reading.units) == MAX_UNITS
    assert reading.notes == ["only the first 20,000 entries are read"]


FACTBOOK = """<?xml version="1.0" encoding="UTF-8"?>
<factbook><country code="CA"><name>Canada</name><capital>Ottawa</capital></country>
<country><name>Trinidad &amp; Tobago</name><capital>Port of Spain</capital></country></factbook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-8-sig"])
def test_xml_records_are_rows_even_where_the_file_is_wrong_about_its_encoding(encoding: str) -> None:
    assert shown(of_xml(FACTBOOK, encoding).units) == [
        ("country", "country"),
        ("country, row 1", "code: CA · name: Canada · capital: Ottawa"),
        ("country, row 2", "name: Trinidad & Tobago · capital: Port of Spain"),
    ]


def test_xml_says_its_own_legacy_encoding() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-2"?><a><b>Škoda</b></a>'
    assert of_xml(text, "iso-8859-2").units[0].text == "b: Škoda"


def test_a_feed_is_read_item_by_item_with_the_pages_in_it() -> None:
    body = "&lt;p&gt;The roof is new.&lt;/p&gt;&lt;h2&gt;Costs&lt;/h2&gt;&lt;p&gt;9 €&lt;/p&gt;"
    item = f"<item><title>Roof</title><pubDate>1 May</pubDate><description>{body}</description></item>"
    reading = of_xml(
        f"<rss><channel><title>News</title>{item}<item><title>Door</title></item></channel></rss>"
    )
    assert reading.title == "News"
    assert shown(reading.units) == [
        ("News", "News"),
        ("News › Roof, row 1", "Roof"),
        ("News › Roof, row 1", "pubDate: 1 May"),
        ("News › Roof", "The roof is new."),
        ("News › Roof › Costs", "Costs"),
        ("News › Roof › Costs", "9 €"),
        ("News, row 2", "title: Door"),
    ]


def test_a_document_in_xml_is_read_as_sections_and_paragraphs() -> None:
    para = (
        "<para>Open the <emphasis>inlet</emphasis>&nbsp;valve slowly, and watch the gauge while it opens. "
        * 2
    )
    para = para.replace("opens. <para>", "opens. ", 1) + "</para>"
    dtd = '<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://example/docbook.dtd">'
    page = f"{dtd}<article><title>Pumps</title><section><title>Start</title>{para}{para}</section></article>"
    found = [(str(unit.locator), unit.text[:20]) for unit in of_xml(page).units]
    assert found == [
        ("Pumps", "Pumps"),
        ("Pumps › Start", "Start"),
        ("Pumps › Start", "Open the inlet valve"),
        ("Pumps › Start", "Open the inlet valve"),
    ]


@pytest.mark.parametrize(
    "dtd",
    [
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE r [<!ENTITY a "lol"><!ENTITY x "&a;&a;">]>',
        '<!DOCTYPE r [<!entity % p SYSTEM "http://example/x.dtd"> %p;]>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_defines_entities_is_refused(dtd: str, encoding: str) -> None:
    with pytest.raises(RefusedError, match="defines entities"):
        of_xml(f"{dtd}<r>&x;</r>", encoding)


def test_xml_nested_too_deep_is_refused() -> None:
    with pytest.raises(RefusedError, match="nested more than 100 deep"):
        of_xml("<a>" * 10_000 + "</a>" * 10_000)


def test_broken_xml_is_read_as_far_as_it_goes() -> None:
    reading = of_xml("<r><a><n>one</n><m>1</m></a><a><n>two</n><m>2</m></a><a><n>thr")
    assert [unit.text for unit in reading.units][1:3] == ["n: one · m: 1", "n: two · m: 2"]
    assert reading.notes == ["its XML is broken in line 1: what follows may be missing"]


def test_a_notebook_is_read_cell_by_cell() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Pumps\n", "Some **text**"]},
        {
            "cell_type": "code",
            "source": "x = 1\nprint(x)",
            "outputs": [
                {"output_type": "stream", "text": ["\x1b[31m1\x1b[0m\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
            ],
        },
    ]
    reading = ipynb.read(json.dumps({"cells": cells, "nbformat": 4}).encode(), LIMITS)
    assert reading.title == "Pumps"
    assert shown(reading.units) == [
        ("Pumps › cell 1", "Pumps"),
        ("Pumps › cell 1", "Some text"),
        ("Pumps › cell 2", "x = 1\nprint(x)"),
        ("Pumps › cell 2", "1"),
        ("Pumps › cell 2", "<Figure>"),
        ("Pumps › cell 2", "ValueError: bad"),
    ]
    assert reading.units[2].kind is UnitKind.CODE


@pytest.mark.parametrize("data", [b"[1]", b"{", b"[" * 100_000])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError) as refusal:
        ipynb.read(data, LIMITS)
    assert refusal.value.outcome is Outcome.DAMAGED


def test_a_notebook_of_the_wrong_shape_is_empty() -> None:
    assert ipynb.read(b'{"cells": 5}', LIMITS).units == []


def test_yaml_keeps_its_lines_under_the_key_they_belong_to() -> None:
    text = b"site: Bonn\npumps:\n  - name: P1\n    flow: 3\n  - name: P2\nfans:\n  F1: {speed: 2}\n"
    assert shown(code.read_yaml(text, LIMITS).units) == [
        ("line 1", "site: Bonn"),
        ("pumps, lines 2–5", "pumps:\n  - name: P1\n    flow: 3\n  - name: P2"),
        ("fans, lines 6–7", "fans:\n  F1: {speed: 2}"),
    ]


def test_settings_are_read_by_sections() -> None:
    units = code.read_config(b"a = 1\n[net]\nport = 80\n[[log.file]]\npath = x\n", LIMITS).units
    assert [str(unit.locator) for unit in units] == ["line 1", "net, lines 2–3", "log.file, lines 4–5"]


PYTHON = b'''import os


@cache
def first(x):
    return x


class Pump:
    """A pump."""

    def start(self):
        self.on = True

    def stop(self):
        self.on = False
'''
JAVA = b"""public class Pump {
    private int speed;

    public void start(int speed) {
        this.speed = speed;
        run();
    }
}
"""


def test_code_is_cut_at_its_definitions_and_knows_what_encloses_it() -> None:
    assert [str(unit.locator) for unit in code.read(PYTHON, LIMITS).units] == [
        "line 1",
        "def first, lines 4–6",
        "class Pump, lines 9–13",
        "class Pump › def stop, lines 15–16",
    ]
    assert code.read(JAVA, LIMITS).units[0].locator.heading == ("class Pump",)
    assert all(unit.kind is UnitKind.CODE for unit in code.read(JAVA, LIMITS).units)


def test_code_keeps_every_line_and_its_indentation() -> None:
    lines = [line for unit in code.read(PYTHON, LIMITS).units for line in unit.text.split("\n") if line]
    assert lines == [line for line in PYTHON.decode().split("\n") if line]


SRT = """1
00:00:01,000 --> 00:00:02,500
Hello <i>there</i>,

2
00:00:02,600 --> 00:00:04,000
{\\an8}how are you?

3
01:10:10,500 --> 01:10:12,000
Later.
"""


def test_subtitles_become_paragraphs_with_their_times() -> None:
    units = subtitles.read(SRT.encode("utf-8-sig"), LIMITS).units
    assert [(unit.text, unit.locator.time) for unit in units] == [
        ("Hello there, how are you?", (1.0, 4.0)),
        ("Later.", (4210.5, 4212.0)),
    ]


def test_speakers_part_paragraphs_and_rolling_captions_are_said_once() -> None:
    vtt = (
        "WEBVTT\n\nNOTE made by hand\n\n00:01.000 --> 00:02.000 align:start\n<v Ann>The pump\n\n"
        "00:02.000 --> 00:03.000\n<v Ann>The pump\n<v Ann>is new.\n\n00:03.000 --> 00:04.000\n<v Bob>Good."
    )
    assert shown(subtitles.read(vtt.encode(), LIMITS).units) == [
        ("0:00:01–0:00:03", "Ann: The pump is new."),
        ("0:00:03–0:00:04", "Bob: Good."),
    ]


def test_plain_text_under_an_office_name_is_refused_with_what_to_do() -> None:
    with pytest.raises(RefusedError, match=r"name it \.txt"):
        txt.read_misnamed(b"404", LIMITS)
