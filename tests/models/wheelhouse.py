"""Makes small model files, catalogue entries and wheels that pip accepts, for the tests of fetching."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.catalogue import CatalogueModel


def entry(content: bytes, sources: Sequence[Mapping[str, Any]], **changes: Any) -> CatalogueModel:
    """Return the catalogue entry of a chat model of these bytes."""
    fields: dict[str, Any] = {
        "name": "tiny",
        "role": "chat",
        "about": "made by a test",
        "quantisation": "Q4_0",
        "file": "tiny.gguf",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "n_ctx": 512,
        "licence": "Apache-2.0",
        "min_memory_gb": 1,
        "sources": list(sources),
    }
    return CatalogueModel.model_validate(fields | changes)


def wheels_source(n_parts: int) -> dict[str, Any]:
    """Return the source that `make_parts` makes the wheels of."""
    return {
        "kind": "wheels",
        "package": "tiny-part{n}",
        "version": "1.0",
        "member": "tiny_part{n}/data/part{n:02}.bin",
        "n_parts": n_parts,
    }


def make_parts(folder: Path, parts: Sequence[bytes]) -> None:
    """Write one wheel a part."""
    for n, part in enumerate(parts, start=1):
        make_wheel(folder, f"tiny_part{n}", {f"tiny_part{n}/data/part{n:02}.bin": part})


def make_wheel(folder: Path, package: str, members: Mapping[str, bytes]) -> Path:
    """Write a wheel whose package cannot be imported: `raise` is all it does."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{package}-1.0-py3-none-any.whl"
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            f"{package}/__init__.py", "raise RuntimeError('a package with a model was imported')"
        )
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel
