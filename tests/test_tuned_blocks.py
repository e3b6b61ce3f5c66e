"""What becomes of passages read before: as set, else as measured with this very file, else as the catalogue says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance import tuned_blocks
from appliance.engine.request import Reuse
from appliance.settings import EngineSettings
from appliance.tuned_blocks import TunedBlocks, chosen, read, write
from models.catalogue import CATALOGUE_FILE, Catalogue, load_catalogue
from models.errors import CatalogueError
from models.registry import InstalledModel

NAME = "smollm2-135m-instruct"
AUTO = EngineSettings()


def installed(sha256: str = "", name: str = NAME) -> InstalledModel:
    known = sha256 or load_catalogue().get(NAME).sha256 or ""
    return InstalledModel(
        name=name, role="chat", path=Path("m.gguf"), sha256=known, size=1, n_ctx_train=None,
        hash_origin="publisher", compiled=True, active=True,
    )  # fmt: skip


def measured(model: InstalledModel, mode: str = "blend", n_fresh: int = 16) -> TunedBlocks:
    values: dict[str, Any] = {"mode": mode, "n_fresh": n_fresh, "figures": {"quality_delta": -0.0167}}
    return TunedBlocks(model=model.name, sha256=model.sha256, measured="2026-11-30", **values)


def catalogue(reuse: str) -> Catalogue:
    models = [m.model_copy(update={"reuse": reuse}) if m.name == NAME else m for m in load_catalogue().models]
    return Catalogue(models=tuple(models))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (EngineSettings(blocks="exact"), Reuse()),
        (EngineSettings(blocks="blocks"), Reuse("blocks")),
        (EngineSettings(blocks="blend", blend_tokens=8), Reuse("blend", 8)),
        (AUTO, Reuse("blend", 16)),
    ],
)
def test_what_is_set_goes_before_what_was_measured(
    tmp_path: Path, settings: EngineSettings, expected: Reuse
) -> None:
    write(tmp_path, measured(installed()))
    assert chosen(settings, tmp_path, installed(), catalogue("blocks")) == expected


@pytest.mark.parametrize(
    ("reuse", "expected"),
    [("exact", Reuse()), ("blocks", Reuse("blocks")), ("blend 32", Reuse("blend", 32))],
)
def test_without_a_measurement_the_catalogue_says(tmp_path: Path, reuse: str, expected: Reuse) -> None:
    assert chosen(AUTO, tmp_path, installed(), catalogue(reuse)) == expected


def test_another_file_is_another_model(tmp_path: Path) -> None:
    write(tmp_path, measured(installed()))
    assert chosen(AUTO, tmp_path, installed(sha256="b" * 64), catalogue("blocks")) == Reuse()
    assert chosen(AUTO, tmp_path, installed(name="renamed"), catalogue("blocks")) == Reuse("blend", 16)


def test_each_model_keeps_its_own_choice_and_a_new_one_replaces_it(tmp_path: Path) -> None:
    other = installed(sha256="b" * 64, name="other")
    write(tmp_path, measured(installed()))
    write(tmp_path, measured(other, "blocks", 0))
    file = write(tmp_path, measured(installed(), "exact", 0))
    assert [(each.model, each.mode) for each in read(tmp_path)] == [("other", "blocks"), (NAME, "exact")]
    assert file.read_text().startswith("# Written by `appliance tune blocks`")
    assert [path.name for path in tmp_path.iterdir()] == [tuned_blocks.FILE_NAME]


@pytest.mark.parametrize("text", ["", "[", "models: [{model: x}]", "- 1", "models: {}\nmore: 1"])
def test_a_damaged_file_is_left_aside_and_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / tuned_blocks.FILE_NAME).write_text(text)
    assert chosen(AUTO, tmp_path, installed(), catalogue("blocks")) == Reuse("blocks")
    write(tmp_path, measured(installed()))
    assert chosen(AUTO, tmp_path, installed(), catalogue("blocks")) == Reuse("blend", 16)


@pytest.mark.parametrize("reuse", ["blend", "blend 0", "Blocks", "exact 3", "blend 12345"])
def test_a_catalogue_that_says_it_wrongly_is_refused(tmp_path: Path, reuse: str) -> None:
    file = tmp_path / "catalogue.yaml"
    text = CATALOGUE_FILE.read_text()
    assert "    reuse: blocks" in text
    file.write_text(text.replace("    reuse: blocks", f"    reuse: {reuse}", 1))
    with pytest.raises(CatalogueError, match="reuse"):
        load_catalogue(file)
