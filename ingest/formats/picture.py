"""Photographs, scans and screenshots: counted here, and read page by page by OCR."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

# The plugins are named so that they are loaded once, in the server, and not in each child.
from PIL import (
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    ImageOps,
    JpegImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from ingest.formats import ocr, ocr_text
from ingest.formats.reading import Reading, damaged, too_large
from ingest.limits import ParseLimits

FORMATS = tuple(
    plugin.format
    for plugin in (
        BmpImagePlugin.BmpImageFile, GifImagePlugin.GifImageFile, JpegImagePlugin.JpegImageFile,
        PngImagePlugin.PngImageFile, TiffImagePlugin.TiffImageFile, WebPImagePlugin.WebPImageFile,
    )
)  # fmt: skip
MAX_PIXELS = 60_000_000  # a page of A3 at 600 dpi has 70 million in black and white, 35 in A4
MIN_SIDE = 16  # pixels; smaller is an icon
BROKEN = "the picture is cut off or broken"
REDUCED = 254  # TIFF's tag: bit 0 marks a smaller copy of another page
HIGH_BYTE = {"I;16": 1, "I;16L": 1, "I;16B": 0}  # of the two bytes of a grey value


def read(data: bytes, limits: ParseLimits) -> Reading:
    """List a picture's pages as scans; it has no text of its own. Of an animation, the first frame counts.

    Raises:
        RefusedError: it is broken, or too large.
    """
    with _opened(data) as image:
        _check(image)
        if min(image.size) < MIN_SIDE:
            return Reading([], n_pages=1)
        scans = list(_frames(image, limits)) if image.format == TiffImagePlugin.TiffImageFile.format else [1]
    return Reading([], n_pages=max(scans, default=1), scans=scans)


def read_page(data: bytes, page: int, limits: ParseLimits) -> Reading:
    """Read a page, from 1, of a picture by OCR.

    Raises:
        RefusedError: it is broken or too large, or OCR is not installed.
    """
    with _opened(data) as image:
        try:
            image.seek(page - 1)
        except EOFError as error:
            raise damaged("this page is missing") from error
        _check(image)
        grey = _grey(image, limits.ocr_max_side)
    seen = ocr.recognise(grey, limits)
    return Reading(ocr_text.units(seen.words, page), notes=seen.notes)


@contextmanager
def _opened(data: bytes) -> Iterator[Image.Image]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd tags; sizes are checked here
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                yield image
    except Image.DecompressionBombError as error:
        raise too_large(f"the picture has more than {MAX_PIXELS // 1_000_000} million pixels") from error
    except (OSError, SyntaxError, ValueError, struct.error, EOFError) as error:
        raise damaged(BROKEN) from error


def _check(image: Image.Image) -> None:
    n_pixels = image.width * image.height
    if n_pixels > MAX_PIXELS:
        limit = MAX_PIXELS // 1_000_000
        raise too_large(
            f"{n_pixels / 1e6:.0f} million pixels, and pictures over {limit} million are not read"
        )


def _frames(image: Image.Image, limits: ParseLimits) -> Iterator[int]:
    for i in range(limits.max_pages):
        try:
            image.seek(i)
        except EOFError:
            return
        tags = getattr(image, "tag_v2", {})
        if not int(tags.get(REDUCED, 0)) & 1:
            yield i + 1


def _grey(image: Image.Image, max_side: int) -> Image.Image:
    """Return a picture in grey ("L"), upright as its camera says, transparent parts white, reduced to a size."""
    image.draft("L", (max_side, max_side))  # JPEG: decoded no larger than that
    image = ImageOps.exif_transpose(image)
    if image.mode in HIGH_BYTE:
        image = Image.frombytes("L", image.size, image.tobytes()[HIGH_BYTE[image.mode] :: 2])
    elif image.mode in ("I", "F"):
        image = _stretched(image)
    elif image.has_transparency_data:
        image = image.convert("RGBA")
    elif image.mode != "L":
        image = image.convert("RGB").convert("L")
    image.thumbnail((max_side, max_side), Image.Resampling.BICUBIC, reducing_gap=2.0)
    if image.mode != "RGBA":
        return image
    paper = Image.new("RGBA", image.size, "white")
    paper.alpha_composite(image)
    return paper.convert("L")


def _stretched(image: Image.Image) -> Image.Image:
    """Return a picture of whole or real numbers of any range in 256 greys."""
    low, high = (float(cast(float, end)) for end in image.getextrema())
    scale = 255 / max(high - low, 1e-9)
    return image.point(lambda value: value * scale + -low * scale).convert("L")
