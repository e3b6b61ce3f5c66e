"""What /proc says of processes that a test starts and kills."""

from __future__ import annotations

from pathlib import Path


def has_ended(pid: int) -> bool:
    """Tell whether a process has ended; one that its parent has not waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def children(pid: int, needle: str) -> list[int]:
    """Return the pids of the processes below `pid` whose command line holds `needle`."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            if needle.encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found
