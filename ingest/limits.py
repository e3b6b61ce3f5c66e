"""What reading one file may cost. Bounded by real bytes read, never by what headers claim."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits of one parse child.

    Defaults were chosen on a corpus of 297 files (2026-11-30): the largest child on a good file used 88 MB.

    Attributes:
        memory_mb: address space of the child.
        timeout_s: wall time for a small file; `timeout_per_mb_s` more for each MiB, `timeout_max_s` at most.
        cpu_s: processor time of the child on a small file; grows with the wall limit.
        max_file_mb: larger files are refused unread.
        max_output_mb: of the child's JSON answer.
        legacy_encoding: what short texts without any mark are taken for, where every detector guesses.
        convert: where our reader fails on an old Office file, let LibreOffice or catdoc try, if installed.
        convert_timeout_s: wall time of such a program.
        convert_memory_mb: address space of one; LibreOffice 7.4 did with 1024, and used 350 at most.
        ocr_languages: what scans are read in, by Tesseract's names; each needs its data.
        ocr_data: folder of that data; "" looks where Debian and the installed packages put it.
        ocr_memory_mb: address space of a child that reads one scanned page.
        ocr_timeout_s: wall time of one.
        ocr_max_side: pixels of the longest side of the picture that is read.
    """

    memory_mb: int = 1024
    timeout_s: float = 30.0
    timeout_per_mb_s: float = 0.2
    timeout_max_s: float = 300.0
    max_file_mb: int = 200
    max_output_mb: int = 64
    max_zip_members: int = 5_000
    max_part_mb: int = 64
    max_zip_mb: int = 256
    max_pages: int = 5_000
    max_page_chars: int = 200_000
    legacy_encoding: str = "cp1252"
    convert: bool = True
    convert_timeout_s: float = 40.0
    convert_memory_mb: int = 2048
    ocr_languages: tuple[str, ...] = ("eng",)
    ocr_data: str = ""
    ocr_memory_mb: int = 2048
    ocr_timeout_s: float = 120.0
    ocr_max_side: int = 4000

    def wall_s(self, n_bytes: int) -> float:
        """Return the wall seconds a file of this size may take."""
        return min(
            self.timeout_s + self.timeout_per_mb_s * n_bytes / MIB, max(self.timeout_max_s, self.timeout_s)
        )
