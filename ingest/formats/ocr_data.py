"""Where the data of the languages that scans are read in lies on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.formats.reading import RefusedError
from ingest.limits import ParseLimits
from ingest.unit import Outcome

ORIENTATION = "osd"
# Debian's packages tesseract-ocr-*, one folder a version; then the same with another layout; then Python packages.
DEBIAN = Path("/usr/share/tesseract-ocr")
SHARED = Path("/usr/share/tessdata")


@dataclass(frozen=True, slots=True)
class LanguageData:
    """A folder, the languages that are read with it, and those that were asked for and have no data in it."""

    folder: Path
    languages: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"scans are read without {_wanted(self.missing)}",) if self.missing else ()


def find(limits: ParseLimits) -> LanguageData:
    """Return the first folder with all languages, else the one with most of them: the reader takes only one folder.

    Raises:
        RefusedError: no folder has any of the languages.
    """
    best: LanguageData | None = None
    for folder in folders(limits):
        there = tuple(language for language in limits.ocr_languages if has(folder, language))
        if best is None or len(there) > len(best.languages):
            missing = tuple(language for language in limits.ocr_languages if language not in there)
            best = LanguageData(folder, there, missing)
    if best is None or not best.languages:
        raise RefusedError(
            Outcome.NEEDS_OCR, f"its pages are pictures, and there is no {_wanted(limits.ocr_languages)}"
        )
    return best


def orientation(limits: ParseLimits) -> Path | None:
    """Return the folder with the data that tells which way up a page is, None where no folder has it."""
    return next((folder for folder in folders(limits) if has(folder, ORIENTATION)), None)


def folders(limits: ParseLimits) -> list[Path]:
    """Return the folders that may hold data, the first choice first."""
    if limits.ocr_data:
        return [Path(limits.ocr_data)]
    packaged = Path(sys.prefix) / "share" / "tessdata"
    return [*sorted(DEBIAN.glob("*/tessdata"), reverse=True), SHARED, packaged]


def has(folder: Path, language: str) -> bool:
    """Tell whether a folder has a language's data; a name with a slash in it has none."""
    return "/" not in language and (folder / f"{language}.traineddata").is_file()


def _wanted(languages: Sequence[str]) -> str:
    packages = " ".join(f"tesseract-ocr-{language.replace('_', '-').lower()}" for language in languages)
    return f"language data for {', '.join(languages)} (Debian: apt install {packages})"
