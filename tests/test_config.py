"""Settings: strict, from four places, with their origin."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from appliance import show
from appliance.config import MAX_SOCKET_PATH, SERVICE_HOME, Config, find_home, load, walk
from appliance.errors import ConfigError


def load_text(home: Path, text: str, **environment: str) -> Config:
    (home / "appliance.yaml").write_text(text, encoding="utf-8")
    return load(home, environment)


def test_defaults_serve_a_home_without_a_file(tmp_path: Path) -> None:
    config = load(tmp_path, {})
    assert config.settings.engine.n_ctx == 8192
    assert config.origins["engine.n_ctx"] == "default"
    assert config.socket == tmp_path / "appliance.sock"
    assert config.documents == tmp_path / "documents"


def test_the_environment_beats_the_file_and_the_file_beats_the_default(tmp_path: Path) -> None:
    config = load_text(tmp_path, "engine: {n_ctx: 4096, threads: 3}", APPLIANCE_ENGINE__N_CTX="2048")
    assert (config.settings.engine.n_ctx, config.settings.engine.threads) == (2048, 3)
    assert config.origins["engine.n_ctx"] == "APPLIANCE_ENGINE__N_CTX"
    assert config.origins["engine.threads"] == str(tmp_path / "appliance.yaml")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("engine: {n_ctxx: 4096}", "engine.n_ctxx: no such setting"),
        ("engine: {n_ctx: 1}", "engine.n_ctx: "),
        ("engine: {n_ctx: many}", "engine.n_ctx: "),
        ("engine: {n_ctx: '4096'}", "engine.n_ctx: "),
        ("nonsense: 1", "nonsense: no such setting"),
        ("- a list", "must be a mapping"),
        ("engine: [", "cannot be read"),
        ("!!python/object/apply:os.getcwd []", "cannot be read"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, text)
    assert named in str(caught.value)


def test_an_unknown_environment_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="APPLIANCE_ENGINE__NCTX"):
        load(tmp_path, {"APPLIANCE_ENGINE__NCTX": "1"})


@pytest.mark.parametrize(
    "text",
    [
        "engine: {key: 1234567, backend: openai}",
        "engine: {key: [sk-secret-1234567]}",
        "engine: {key: sk-secret-1234567, flash_attention: 'off', kv_type: q8_0}",
        "engine: [sk-secret-1234567]",
        "engine:\n  key: sk-secret: 1234567",
        "engine:\n  key: @sk-secret-1234567",
    ],
)
def test_no_message_repeats_the_key_of_a_remote_server(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, text)
    shown = "".join(traceback.format_exception(caught.value))
    assert "1234567" not in shown
    assert "secret" not in shown


def test_nor_does_one_of_the_environment(tmp_path: Path) -> None:
    environment = {"APPLIANCE_ENGINE__KEY": "@sk-secret-1234567"}
    with pytest.raises(ConfigError, match="APPLIANCE_ENGINE__KEY: is no YAML") as caught:
        load(tmp_path, environment)
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_the_key_is_shown_as_stars(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = load_text(tmp_path, "engine: {backend: openai, url: 'http://box:8000', key: sk-secret-1234567}")
    for as_json in (False, True):
        show.settings(config, list(walk(config.settings)), as_json)
    shown = capsys.readouterr().out
    assert "secret" not in shown + repr(config)
    assert shown.count('"**********"') == 2
    assert '"http://box:8000"' in shown


def test_a_socket_path_that_no_kernel_takes_is_refused_with_its_length(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * MAX_SOCKET_PATH)
    with pytest.raises(ConfigError, match="bytes long, 107 is the most"):
        load(deep, {})
    assert load(deep, {"APPLIANCE_API__SOCKET": "/run/a.sock"}).socket == Path("/run/a.sock")


def test_the_home_is_the_argument_then_the_environment_then_the_users_data_folder() -> None:
    environment = {"APPLIANCE_HOME": "/srv/a", "HOME": "/home/u"}
    assert find_home(Path("/srv/b"), environment) == Path("/srv/b")
    assert find_home(None, environment) == Path("/srv/a")
    if not SERVICE_HOME.is_dir():
        assert find_home(None, {"HOME": "/home/u"}) == Path("/home/u/.local/share/appliance")
        assert find_home(None, {"HOME": "/home/u", "XDG_DATA_HOME": "/data"}) == Path("/data/appliance")


def test_every_setting_says_when_to_turn_it(tmp_path: Path) -> None:
    settings = load(tmp_path, {}).settings
    for key, _ in walk(settings):
        section: object = settings
        *path, name = key.split(".")
        for part in path:
            section = getattr(section, part)
        assert type(section).model_fields[name].description, key  # type: ignore[attr-defined]
