"""Documents to measure ingest with, the same on every machine: five formats, in a made language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from appliance.ops.made_formats import Page, csv, docx, html, markdown, pdf
from appliance.ops.made_language import Language

PAGE_WORDS = 250
PARAGRAPH_WORDS = 60
IN_A_FOLDER = 100

# One set is twenty pages of text in seven files.
SET: tuple[tuple[str, Callable[[Sequence[Page]], bytes], int], ...] = (
    ("pdf", pdf, 10), ("docx", docx, 5), ("md", markdown, 1), ("html", html, 1), ("md", markdown, 1),
    ("csv", csv, 1), ("html", html, 1),
)  # fmt: skip
SET_PAGES = sum(n for _, _, n in SET)


def write_documents(folder: Path, n_pages: int, seed: int) -> int:
    """Fill a folder with sets of documents, at least one; return the number of files."""
    language, n_sets = Language(seed), max(1, n_pages // SET_PAGES)
    for number in range(n_sets):
        below = folder / f"set-{number:02}"
        below.mkdir(parents=True)
        for place, (suffix, make, n) in enumerate(SET):
            pages = [
                [language.paragraph(PARAGRAPH_WORDS) for _ in range(PAGE_WORDS // PARAGRAPH_WORDS)]
                for _ in range(n)
            ]
            (below / f"report-{place}.{suffix}").write_bytes(make(pages))
    return n_sets * len(SET)


def write_notes(folder: Path, numbers: range, seed: int) -> None:
    """Add small files to a folder, each a paragraph long, a hundred to a sub-folder."""
    language = Language(seed + numbers.start)
    for number in numbers:
        below = folder / f"notes-{number // IN_A_FOLDER:03}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"note-{number:05}.md").write_text(f"# Note {number}\n\n{language.paragraph(40)}\n")
