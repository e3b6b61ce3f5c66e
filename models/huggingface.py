"""Downloading a model's files from its Hugging Face repository: plain https, resumed where it broke off."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from models.catalogue import CatalogueModel, HuggingFaceSource
from models.digest import BLOCK, Progress
from models.errors import FetchError

ENDPOINT = "https://huggingface.co"
# Of a connection that says nothing: without a network the next source is wanted soon.
TIMEOUT_S = 10


def from_huggingface(
    source: HuggingFaceSource,
    model: CatalogueModel,
    staging: Path,
    progress: Progress,
    endpoint: str = ENDPOINT,
) -> None:
    """Put the model's file, and for an embedder the others of its folder, into `staging`.

    Raises:
        FetchError: a file cannot be had.
    """
    for name in (*source.files, model.file):
        file = staging / name
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)

        def report(done: int, total: int, name: str = name) -> None:
            progress(f"{model.name}: {name}", done, total)

        part = file.with_name(file.name + ".part")
        _download(f"{endpoint}/{source.repo}/resolve/main/{name}", part, report)
        part.rename(file)


def _download(url: str, part: Path, report: Callable[[int, int], None]) -> None:
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            if response.status != http.client.PARTIAL_CONTENT:
                done = 0  # the server cannot resume: from the start
            expected = done + int(response.headers.get("Content-Length") or 0)
            with part.open("ab" if done else "wb") as out:
                while block := response.read(BLOCK):
                    out.write(block)
                    report(out.tell(), expected)
                done = out.tell()
    except urllib.error.HTTPError as error:
        with error:  # it is the response too, and holds the connection
            if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                return  # nothing is left to fetch; the hash tells whether what we have is right
            raise FetchError(f"{url}: {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchError(f"{url}: {reason}") from error
    if expected and done < expected:
        raise FetchError(
            f"{url}: broke off after {done} of {expected} bytes; run it again to go on from there"
        )
