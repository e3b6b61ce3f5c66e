"""E-books: chapters in the order of the spine, each under its name in the table of contents."""

from __future__ import annotations

import pytest

from ingest.formats import epub as reader
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from ingest.unit import Outcome, UnitKind
from tests.ingest.made_files import zip_of

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
NCX_TYPE = "application/x-dtbncx+xml"
OLD_DOCTYPE = '<!DOCTYPE {} PUBLIC "-//x//DTD x//EN" "http://example.org/x.dtd">'


def item(name: str, kind: str = "application/xhtml+xml", more: str = "") -> str:
    return f'<item id="{name}" href="{name}" media-type="{kind}" {more}/>'


def book(spine: list[str], items: str = "", **members: str | bytes) -> bytes:
    """Return a book; members are named by their file in OPS/, dots as "__"."""
    files = {f"OPS/{name.replace('__', '.')}": text for name, text in members.items()}
    listed = "".join(item(name) for name in spine if f'id="{name}"' not in items)
    refs = "".join(f'<itemref idref="{name}"/>' for name in spine)
    opf = f"<metadata><title>Handbook</title></metadata><manifest>{listed}{items}</manifest><spine>{refs}</spine>"
    return zip_of(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": f"<package>{opf}</package>",
            **files,
        }
    )


def page(body: str, head: str = "<title>t</title>") -> str:
    doctype = OLD_DOCTYPE.format("html")
    return f'<?xml version="1.0"?>{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'


def read(data: bytes) -> Reading:
    return reader.read(data, ParseLimits())


def places(data: bytes) -> list[tuple[str, tuple[str, ...]]]:
    return [(unit.text, unit.locator.heading) for unit in read(data).units]


def test_chapters_come_in_the_order_of_the_spine() -> None:
    found = read(book(["b.xhtml", "a.xhtml"], a__xhtml=page("<p>two</p>"), b__xhtml=page("<p>one</p>")))
    assert [unit.text for unit in found.units] == ["one", "two"]
    assert found.title == "Handbook"


def test_chapters_have_their_names_from_the_nav_document_which_is_not_read_itself() -> None:
    nav = '<nav epub:type="landmarks"><ol><li><a href="a.xhtml">Start</a></li></ol></nav><nav epub:type="toc"><ol>'
    nav += '<li><span>Part I</span><ol><li><a href="a.xhtml#x">Care</a></li></ol></li></ol></nav>'
    made = book(
        ["nav.xhtml", "a.xhtml", "b.xhtml"],
        item("nav.xhtml", more='properties="nav"'),
        nav__xhtml=page(nav),
        a__xhtml=page("<h1>Care</h1><p>x</p><h2>Nights</h2><p>y</p>"),
        b__xhtml=page("<p>goes on</p>"),
    )
    assert places(made) == [
        ("Care", ("Part I", "Care")),
        ("x", ("Part I", "Care")),
        ("Nights", ("Part I", "Care", "Nights")),
        ("y", ("Part I", "Care", "Nights")),
        ("goes on", ("Part I", "Care")),
    ]


def test_chapters_have_their_names_from_the_ncx_of_older_books() -> None:
    point = '<navPoint><navLabel><text>Chapter 1</text></navLabel><content src="a%20file.xhtml"/></navPoint>'
    ncx = f'<?xml version="1.0"?>{OLD_DOCTYPE.format("ncx")}<ncx><navMap>{point}</navMap></ncx>'
    spine = '<item id="a" href="a%20file.xhtml" media-type="application/xhtml+xml"/>'
    made = book(["a"], spine + item("toc.ncx", NCX_TYPE), toc__ncx=ncx, **{"a file__xhtml": page("<p>x</p>")})
    assert places(made) == [("x", ("Chapter 1",))]


def test_elements_that_xhtml_closes_at_once_swallow_nothing() -> None:
    head = '<title/><script src="a.js"/><link rel="x"/>'
    made = book(["a.xhtml"], a__xhtml=page('<p>one<a id="x"/></p><p/><br/><p>two</p>', head))
    assert [unit.text for unit in read(made).units] == ["one", "two"]


def test_what_looks_like_a_menu_or_aside_in_a_book_is_text() -> None:
    body = "<aside>A word of warning.</aside><p>x</p><table><tr><th>A</th></tr><tr><td>1</td></tr></table>"
    found = read(book(["a.xhtml"], a__xhtml=page(body + "<ul><li>one</li></ul>"))).units
    assert [unit.text for unit in found][:2] == ["A word of warning.", "x"]
    assert found[-1].kind is UnitKind.LIST_ITEM


def test_the_encoding_is_what_the_page_declares() -> None:
    data = '<?xml version="1.0" encoding="windows-1251"?><html><body><p>Привет</p></body></html>'.encode(
        "cp1251"
    )
    assert places(book(["a.xhtml"], a__xhtml=data)) == [("Привет", ())]


def test_a_missing_chapter_is_noted_and_the_rest_read() -> None:
    found = read(book(["a.xhtml", "gone.xhtml"], a__xhtml=page("<p>x</p>")))
    assert [unit.text for unit in found.units] == ["x"]
    assert found.notes == ["the chapter OPS/gone.xhtml is missing in the file"]


def lock(algorithm: str) -> dict[str, str | bytes]:
    method = f'<EncryptionMethod Algorithm="{algorithm}"/>'
    return {"META-INF/encryption.xml": f"<encryption><EncryptedData>{method}</EncryptedData></encryption>"}


def locked(algorithm: str) -> bytes:
    return zip_of(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": f"<package><manifest>{item('a.xhtml')}</manifest></package>",
            "OPS/a.xhtml": page("<p>x</p>"),
            **lock(algorithm),
        }
    )


def test_locked_fonts_lock_no_text() -> None:
    assert places(locked("http://www.idpf.org/2008/embedding")) == [("x", ())]


@pytest.mark.parametrize(
    ("data", "outcome", "reason"),
    [
        (
            locked("http://www.w3.org/2001/04/xmlenc#aes256-cbc"),
            Outcome.NEEDS_PASSWORD,
            "protected against copying",
        ),
        (book(["a.xhtml"])[:-40], Outcome.DAMAGED, "cut off or broken"),
        (zip_of({"mimetype": "application/epub+zip"}), Outcome.DAMAGED, "does not say which chapters"),
        (book([]), Outcome.DAMAGED, "lists no chapters"),
        (
            zip_of({"x.opf": '<!DOCTYPE a [<!ENTITY b "x">]><package>&b;</package>'}),
            Outcome.DAMAGED,
            "document type",
        ),
        (
            book(["a.xhtml"], a__xhtml="<div>" * 5000),
            Outcome.DAMAGED,
            "nested",
        ),
    ],
)
def test_locked_and_broken_books_are_refused_with_a_reason(
    data: bytes, outcome: Outcome, reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason) as refusal:
        read(data)
    assert refusal.value.outcome is outcome


def test_a_book_is_told_without_its_mimetype() -> None:
    assert sniff(zip_of({"META-INF/container.xml": CONTAINER, "OPS/book.opf": "x"}), "a.zip") == "epub"
