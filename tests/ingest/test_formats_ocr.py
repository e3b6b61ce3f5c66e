"""Pictures and scanned pages: what is read in them, what is not, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingest.formats import ocr, ocr_data, ocr_text, pdf_scan, picture
from ingest.formats.ocr import OcrWord
from ingest.formats.pdf_rows import Word
from ingest.formats.reading import Reading, RefusedError
from ingest.limits import ParseLimits
from ingest.sniff import sniff
from ingest.unit import Outcome, Unit
from tests.ingest.made_files import lines_at, pdf, text_at

LINES = ["The pump must be checked every morning", "before the first shift begins in the hall."]
SENTENCE = " ".join(LINES)

needs_data = pytest.mark.skipif(
    ocr.tesserocr is None
    or not any(ocr_data.has(folder, "eng") for folder in ocr_data.folders(ParseLimits())),
    reason="no English data for OCR on this machine",
)


def drawn(*lines: str, size: tuple[int, int] = (1400, 500), height: int = 40, mode: str = "L") -> Image.Image:
    """Return a white picture with lines of black text."""
    image = Image.new("L", size, 255)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(height)
    for i, line in enumerate(lines):
        pen.text((60, 60 + 1.5 * height * i), line, fill=0, font=font)
    return image.convert(mode)


def saved(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def read_first(data: bytes) -> Reading:
    return picture.read_page(data, 1, ParseLimits())


def texts(units: list[Unit]) -> list[str]:
    return [unit.text for unit in units]


@needs_data
def test_lines_in_a_picture_become_a_paragraph_flagged_as_ocr() -> None:
    data = saved(drawn(*LINES))
    listed = picture.read(data, ParseLimits())
    assert (listed.units, list(listed.scans), listed.n_pages) == ([], [1], 1)
    found = read_first(data).units
    assert [(unit.text, str(unit.locator), sorted(unit.flags)) for unit in found] == [
        (SENTENCE, "page 1", ["ocr"])
    ]


@needs_data
@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("PNG", "1"), ("PNG", "P"), ("PNG", "LA"), ("PNG", "I;16"), ("JPEG", "RGB"), ("JPEG", "CMYK"), ("GIF", "P"),
        ("BMP", "RGB"), ("WEBP", "RGB"), ("TIFF", "RGB"), ("TIFF", "I;16"), ("TIFF", "F"), ("TIFF", "CMYK"),
    ],
)  # fmt: skip
def test_pictures_of_any_kind_and_depth_are_read(kind: str, mode: str) -> None:
    image = drawn(*LINES)
    if mode == "I;16":
        pixels = bytes(byte for grey in image.tobytes() for byte in (grey, grey))
        image = Image.frombytes("I;16", image.size, pixels)
    data = saved(image.convert(mode) if image.mode != mode else image, kind)
    assert sniff(data, "scan.bin") == kind.lower()
    assert texts(read_first(data).units) == [SENTENCE]


@needs_data
def test_transparent_parts_are_paper() -> None:
    image = Image.new("RGBA", (1400, 500), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), mask=drawn(*LINES).point(lambda grey: 255 - grey))
    assert texts(read_first(saved(image)).units) == [SENTENCE]


@needs_data
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_picture_on_its_side_is_turned(degrees: int) -> None:
    image = drawn(*LINES * 4, size=(1400, 700)).rotate(degrees, expand=True)
    assert texts(read_first(saved(image)).units)[0].startswith(SENTENCE)


@needs_data
def test_a_camera_says_which_way_up_it_was_held() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = saved(drawn(*LINES).transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif.tobytes())
    assert texts(read_first(data).units) == [SENTENCE]


@needs_data
def test_a_page_that_lies_askew_is_levelled() -> None:
    image = drawn(*LINES * 3, size=(1400, 700)).rotate(2, fillcolor=255, resample=Image.Resampling.BICUBIC)
    assert texts(read_first(saved(image)).units) == [" ".join([SENTENCE] * 3)]


@needs_data
def test_small_letters_are_read_enlarged() -> None:
    found = texts(read_first(saved(drawn(*LINES, size=(420, 160), height=13))).units)
    assert len(set(SENTENCE.split()) & set(" ".join(found).split())) >= 9  # of 15


@needs_data
def test_each_page_of_a_fax_is_read_and_small_copies_are_not() -> None:
    pages = [drawn(f"This is page number {i} of the fax", mode="1") for i in (1, 2, 3)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:], compression="group4")
    listed = picture.read(data, ParseLimits())
    assert (list(listed.scans), listed.n_pages) == ([1, 2, 3], 3)
    found = picture.read_page(data, 2, ParseLimits()).units
    assert [(unit.text, unit.locator.page) for unit in found] == [("This is page number 2 of the fax", 2)]
    with pytest.raises(RefusedError, match="missing"):
        picture.read_page(data, 4, ParseLimits())


@needs_data
@pytest.mark.parametrize("strength", [20, 90])
def test_a_picture_without_text_gives_none(strength: int) -> None:
    noise = Image.effect_noise((900, 700), strength)
    for image in (noise, noise.point(lambda grey: 255 if grey > 128 else 0), Image.new("L", (900, 700), 255)):
        assert read_first(saved(image)).units == []


def test_an_icon_is_no_scan() -> None:
    assert list(picture.read(saved(Image.new("L", (8, 8))), ParseLimits()).scans) == []


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    for side in (8_000, 20_000):
        with pytest.raises(RefusedError, match="million pixels") as refusal:
            picture.read(saved(Image.new("1", (side, side))), ParseLimits())
        assert refusal.value.outcome is Outcome.TOO_LARGE


def test_a_picture_that_is_cut_off_is_damaged() -> None:
    data = saved(Image.effect_noise((300, 300), 50))
    for cut, read in ((20, picture.read), (len(data) // 2, lambda data, limits: read_first(data))):
        with pytest.raises(RefusedError, match="cut off or broken") as refusal:
            read(data[:cut], ParseLimits())
        assert refusal.value.outcome is Outcome.DAMAGED


@needs_data
def test_a_page_of_a_pdf_is_drawn_and_read_with_its_label() -> None:
    data = pdf("", lines_at(72, 700, LINES), catalog="/PageLabels << /Nums [0 << /S /r >>] >>")
    found = pdf_scan.read_page(data, 2, ParseLimits()).units
    assert [(unit.text, str(unit.locator), unit.locator.page) for unit in found] == [(SENTENCE, "page ii", 2)]


@needs_data
def test_a_page_as_large_as_a_field_is_drawn_small() -> None:
    data = pdf(text_at(72, 700, "words")).replace(b"[0 0 595 842]", b"[0 0 2000000 900]")
    assert pdf_scan.read_page(data, 1, ParseLimits(ocr_max_side=1000)).units == []


def test_a_page_that_is_not_there_is_damaged() -> None:
    with pytest.raises(RefusedError, match="broken"):
        pdf_scan.read_page(pdf(""), 2, ParseLimits())


@pytest.mark.skipif(ocr.tesserocr is None, reason="OCR is not installed")
def test_a_language_without_data_names_its_package(tmp_path: Path) -> None:
    limits = ParseLimits(ocr_data=str(tmp_path), ocr_languages=("chi_sim",))
    with pytest.raises(RefusedError, match="apt install tesseract-ocr-chi-sim") as refusal:
        picture.read_page(saved(drawn("words")), 1, limits)
    assert refusal.value.outcome is Outcome.NEEDS_OCR


def test_languages_are_read_with_the_data_that_there_is(tmp_path: Path) -> None:
    (tmp_path / "deu.traineddata").write_bytes(b"x")
    data = ocr_data.find(ParseLimits(ocr_data=str(tmp_path), ocr_languages=("eng", "deu")))
    assert (data.folder, data.languages, data.missing) == (tmp_path, ("deu",), ("eng",))
    assert data.notes == (
        "scans are read without language data for eng (Debian: apt install tesseract-ocr-eng)",
    )


@pytest.mark.skipif(ocr.tesserocr is None, reason="OCR is not installed")
def test_data_that_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "eng.traineddata").write_bytes(b"not data")
    with pytest.raises(RefusedError, match="cannot be used"):
        ocr.recognise(drawn("words"), ParseLimits(ocr_data=str(tmp_path)))


def test_a_language_cannot_point_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "eng.traineddata").write_bytes(b"x")
    assert not ocr_data.has(tmp_path / "deeper", "../eng")


def at(x: float, y: float, text: str, confidence: float = 95, line: int = 1) -> OcrWord:
    return OcrWord(Word(text, x, y, x + 22 * len(text), y + 40), confidence, line)


def test_wide_gaps_make_rows() -> None:
    seen = [
        at(100, 60 * i, name, line=i) for i, name in enumerate(["Part", "Bolt", "Screw"])
    ] + [at(700, 60 * i, price, line=i) for i, price in enumerate(["Price", "0.10", "0.20"])]  # fmt: skip
    assert texts(ocr_text.units(seen, 1)) == ["Bolt | 0.10", "Screw | 0.20"]


def test_lines_that_nobody_is_sure_of_and_ruled_lines_are_dropped() -> None:
    seen = [at(100, 0, "Readable"), at(300, 0, "words"), at(500, 0, "|"), at(100, 60, "xq;te", 35, line=2)]
    assert texts(ocr_text.units(seen, 1)) == ["Readable words"]


def test_a_page_of_guesses_is_empty() -> None:
    assert ocr_text.units([at(100, 0, "wordy", 62), at(300, 0, "guess", 62)], 1) == []


def test_lines_beside_the_page_come_last() -> None:
    side = OcrWord(Word("stamped", 0, 0, 10, 300), 95, 1, sideways=True)
    assert texts(ocr_text.units([side, at(100, 0, "Readable", line=2), at(300, 0, "words", line=2)], 1)) == [
        "Readable words",
        "stamped",
    ]
