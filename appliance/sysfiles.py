"""Reading the kernel's small files under /proc and /sys: what is missing or unreadable is None."""

from __future__ import annotations

from pathlib import Path


def read_text(file: Path) -> str | None:
    """Return a file's text, stripped."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip("\0 \t\n")
    except OSError:
        return None


def read_int(file: Path) -> int | None:
    """Return a file's number."""
    text = read_text(file) or ""
    return int(text) if text.lstrip("-").isdecimal() else None


def read_field(file: Path, name: str) -> str | None:
    """Return the value of the first line `name: value`."""
    for line in (read_text(file) or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def parse_cpus(ranges: str) -> tuple[int, ...]:
    """Return the numbers of a list as the kernel writes it: "0-3,8" is 0, 1, 2, 3, 8."""
    numbers: list[int] = []
    for part in filter(None, ranges.strip().split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return tuple(numbers)
