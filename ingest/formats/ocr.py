"""Words out of a picture, by Tesseract. The only importer of tesserocr; it is given pixels, never a file.

The wheel's own image libraries are old: a hostile picture is decoded by Pillow or PDFium, not by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from PIL import Image

from ingest.formats import ocr_data
from ingest.formats.pdf_rows import Word
from ingest.formats.reading import RefusedError
from ingest.formats.tidy import one_line
from ingest.limits import ParseLimits
from ingest.unit import Outcome

try:
    import tesserocr
except ImportError:  # no wheel for this kind of machine
    tesserocr = None

SURE = 85.0  # mean confidence, 0 to 100, from which a page needs no second look; upright pages have 87 to 94
MIN_SURE_CHARS = 8
THUMB_SIDE = 1_500  # pixels; enough to tell which way up a page is
DPI = 300  # what Tesseract is told; the picture's own is often wrong
MIN_TURN_SURE = 2.0
MIN_SLOPE = 0.003  # pixels down a pixel across
SMALL = 30.0  # pixels; lower lines are read better when the picture is larger
MAX_FACTOR, MIN_FACTOR = 2.0, 1.3  # by which such a picture is enlarged
Turned = Image.Transpose
TURNS = {90: Turned.ROTATE_90, 180: Turned.ROTATE_180, 270: Turned.ROTATE_270}


@dataclass(frozen=True, slots=True)
class OcrWord:
    """A word, where it stands (pixels, y down, as if the picture were upright and level), and how sure it is."""

    word: Word
    confidence: float  # 0 to 100
    line: int = 0  # number of the line it stands in, as Tesseract counts
    sideways: bool = False  # in a line that runs up or down; its box is then of no use


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in one picture."""

    words: Sequence[OcrWord]
    notes: tuple[str, ...] = ()

    @property
    def is_sure(self) -> bool:
        """Whether the level lines need no second look."""
        level = [found for found in self.words if not found.sideways]
        return confidence(level) >= SURE and sum(len(found.word.text) for found in level) >= MIN_SURE_CHARS


def confidence(words: Sequence[OcrWord]) -> float:
    """Return the mean of the words' confidence, by their length; 0 where there is none."""
    n_chars = sum(len(found.word.text) for found in words)
    return sum(found.confidence * len(found.word.text) for found in words) / n_chars if n_chars else 0.0


def recognise(image: Image.Image, limits: ParseLimits) -> Seen:
    """Read a grey picture ("L"), which may lie on its side or be small.

    Raises:
        RefusedError: OCR is not installed, or has no data for the languages.
    """
    if tesserocr is None:
        raise RefusedError(Outcome.NEEDS_OCR, "its pages are pictures, and reading those is not installed")
    data = ocr_data.find(limits)
    with _reader(data.folder, data.languages) as reader:
        seen = _read(reader, image)
        factor = min(MAX_FACTOR, limits.ocr_max_side / max(image.size))
        if not seen.is_sure and _is_small(seen) and factor >= MIN_FACTOR:
            size = round(factor * image.width), round(factor * image.height)
            seen = max(seen, _read(reader, image.resize(size, Image.Resampling.BICUBIC)), key=_worth)
        turn = 0 if seen.is_sure else _turn(reader, image, limits)
        if turn:
            seen = max(seen, _read(reader, image.transpose(TURNS[turn])), key=_worth)
    return replace(seen, notes=data.notes)


def _reader(folder: Path, languages: Sequence[str]) -> Any:
    """Return Tesseract with its neural engine and its own finding of blocks and lines."""
    try:
        return tesserocr.PyTessBaseAPI(
            path=str(folder), lang="+".join(languages), psm=tesserocr.PSM.AUTO, oem=tesserocr.OEM.LSTM_ONLY
        )
    except RuntimeError as error:  # data of another version, or cut off
        reason = f"its pages are pictures, and the language data in {folder} cannot be used"
        raise RefusedError(Outcome.NEEDS_OCR, reason) from error


def _read(reader: Any, image: Image.Image) -> Seen:
    _show(reader, image)
    if not reader.Recognize():
        return Seen(())
    return Seen(_levelled(list(_words(reader.GetIterator()))))


def _show(reader: Any, image: Image.Image) -> None:
    reader.SetImageBytes(image.tobytes(), image.width, image.height, 1, image.width)
    reader.SetSourceResolution(DPI)


def _words(found: Any) -> Iterator[tuple[OcrWord, float]]:
    """Yield (word, slope of its line, y down)."""
    level, of_line = tesserocr.RIL.WORD, tesserocr.RIL.TEXTLINE
    n_lines = 0
    baseline, row = None, {}
    while found is not None and not found.Empty(level):
        if found.IsAtBeginningOf(of_line):
            n_lines += 1
            baseline, row = found.Baseline(of_line), found.RowAttributes()
        text, box = one_line(found.GetUTF8Text(level)), found.BoundingBox(level)
        if text and box and baseline:
            # Boxes of single words differ with their letters; what their line measures does not.
            (x0, y0), (x1, y1) = baseline
            slope = (y1 - y0) / max(1, x1 - x0)
            bottom = y0 + slope * ((box[0] + box[2]) / 2 - x0) - row["descenders"]
            word = Word(text, box[0], bottom - row["row_height"], box[2], bottom)
            yield OcrWord(word, found.Confidence(level), n_lines, abs(slope) > 1), slope
        if not found.Next(level):
            return


def _levelled(words: Sequence[tuple[OcrWord, float]]) -> list[OcrWord]:
    """Turn the words of a page that lies slightly askew, so that lines are level."""
    if not words:
        return []
    slope = median(slope for _, slope in words)  # of 1 and more where all lines run up or down
    if not MIN_SLOPE <= abs(slope) <= 1:
        return [seen for seen, _ in words]
    return [replace(seen, word=_level(seen.word, slope)) for seen, _ in words]


def _level(word: Word, slope: float) -> Word:
    x = (word.x0 + word.x1) / 2
    down = -slope * x
    across = slope * word.middle
    return replace(word, x0=word.x0 + across, x1=word.x1 + across, y0=word.y0 + down, y1=word.y1 + down)


def _worth(seen: Seen) -> int:
    return sum(len(w.word.text) for w in seen.words if w.confidence >= SURE and not w.sideways)


def _is_small(seen: Seen) -> bool:
    return bool(seen.words) and median(found.word.height for found in seen.words) < SMALL


def _turn(reader: Any, image: Image.Image, limits: ParseLimits) -> int:
    """Return the degrees, against the clock, that bring a picture upright; 0 where nobody knows better."""
    folder = ocr_data.orientation(limits)
    if folder is not None:
        turn = _told_turn(folder, image)
        if turn is not None:
            return turn
    thumb = image.copy()
    thumb.thumbnail((THUMB_SIDE, THUMB_SIDE))
    worth = {turn: _worth(_read(reader, thumb.transpose(how))) for turn, how in TURNS.items()}
    best = max(worth, key=lambda turn: worth[turn])
    return best if worth[best] > _worth(_read(reader, thumb)) else 0


def _told_turn(folder: Path, image: Image.Image) -> int | None:
    """Ask Tesseract's own detector, which needs some lines of text to tell."""
    try:
        detector = tesserocr.PyTessBaseAPI(
            path=str(folder), lang=ocr_data.ORIENTATION, psm=tesserocr.PSM.OSD_ONLY
        )
    except RuntimeError:
        return None
    with detector:
        _show(detector, image)
        told = detector.DetectOrientationScript()
    return int(told["orient_deg"]) if told and told["orient_conf"] >= MIN_TURN_SURE else None
