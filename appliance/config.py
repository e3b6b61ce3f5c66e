"""The settings: one frozen tree, read once from YAML and the environment. The only reader of the environment.

Precedence: argument > environment > file > default. Unknown keys and values out of range stop the start.
Each field's description says when to turn it; docs/configuration.md is generated from them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from appliance import tuned
from appliance.errors import ConfigError
from appliance.settings import Settings
from ingest.limits import ParseLimits

log = logging.getLogger(__name__)

SERVICE_HOME = Path("/var/lib/appliance")
CONFIG_NAME = "appliance.yaml"
ENVIRONMENT_PREFIX = "APPLIANCE_"
_SECRETS = ("engine.key", "engine.url")  # values that no message may repeat
MAX_SOCKET_PATH = 107  # sun_path of sockaddr_un is 108 bytes with its final NUL: unix(7)


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one home, and where each came from.

    Attributes:
        origins: dotted key → "default", "tuned", the file or the environment variable.
    """

    home: Path
    settings: Settings
    origins: Mapping[str, str]

    @property
    def socket(self) -> Path:
        """Path of the unix socket."""
        return Path(self.settings.api.socket) if self.settings.api.socket else self.home / "appliance.sock"

    @property
    def documents(self) -> Path:
        """The watched folder."""
        return Path(self.settings.ingest.folder) if self.settings.ingest.folder else self.home / "documents"

    @property
    def models(self) -> Path:
        """Folder of the model files."""
        return Path(self.settings.models.folder) if self.settings.models.folder else self.home / "models"

    @property
    def parse_limits(self) -> ParseLimits:
        """What reading one file may cost."""
        ingest = self.settings.ingest
        return ParseLimits(
            memory_mb=ingest.parse_memory_mb, timeout_s=ingest.parse_timeout_s, max_file_mb=ingest.max_file_mb,
            ocr_languages=ingest.ocr_languages, ocr_timeout_s=ingest.ocr_timeout_s, convert=ingest.office_programs,
        )  # fmt: skip

    @property
    def state(self) -> Path:
        """Folder of the record, the journal and the vector index."""
        return self.home / "state"


def find_home(argument: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the home folder: --home, $APPLIANCE_HOME, the service's own, or the user's data folder."""
    if argument is not None:
        return argument.expanduser().absolute()
    if named := environment.get("APPLIANCE_HOME"):
        return Path(named).expanduser().absolute()
    if SERVICE_HOME.is_dir():
        return SERVICE_HOME
    data = environment.get("XDG_DATA_HOME") or str(Path(environment.get("HOME", "/")) / ".local/share")
    return Path(data).absolute() / "appliance"


def load(home: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """Read the settings of a home.

    Args:
        home: the --home argument.
        environment: `os.environ` where not given; `APPLIANCE_ENGINE__N_CTX=4096` sets `engine.n_ctx`.
    Raises:
        ConfigError: the file cannot be read, or a value is unknown, of the wrong type or out of range.
    """
    environment = os.environ if environment is None else environment
    home = find_home(home, environment)
    file = home / CONFIG_NAME
    tree = _read_file(file)
    origins = {key: "default" for key, _ in walk(Settings())}
    origins |= {key: str(file) for key in _keys(tree)}
    for variable, key in _variables(environment):
        _assign(tree, key, _parse_variable(variable, environment[variable]))
        origins[key] = variable
    config = _with_tuned(Config(home, _validate(tree, file), origins), tree)
    if len(os.fsencode(config.socket)) > MAX_SOCKET_PATH:
        raise ConfigError(
            f"the socket's path is {len(os.fsencode(config.socket))} bytes long, {MAX_SOCKET_PATH} is the most: "
            f"{config.socket}; use a shorter --home or set api.socket"
        )
    return config


def _with_tuned(config: Config, tree: dict[str, Any]) -> Config:
    """Put what `appliance tune` measured in place of defaults."""
    if not (config.state / tuned.FILE_NAME).exists():
        return config
    from models.registry import Registry  # only here: most homes have nothing measured

    engine = config.settings.engine
    chosen = Registry(config.models).active("chat") if engine.model == "auto" else None
    found = tuned.read(config.state, chosen.name if chosen else engine.model)
    taken = {f"engine.{name}": value for name, value in found.items()}
    taken = {key: value for key, value in taken.items() if config.origins.get(key) == "default"}
    for key, value in taken.items():
        _assign(tree, key, value)
    try:
        settings = _validate(tree, config.state / tuned.FILE_NAME)
    except ConfigError as error:
        log.warning("%s: left aside", error)
        return config
    return replace(
        config, settings=settings, origins={**config.origins, **dict.fromkeys(taken, tuned.ORIGIN)}
    )


def walk(section: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) of every setting, in the order they are declared."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from walk(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _read_file(file: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        raise ConfigError(
            f"you may not read {file}: ask the administrator to add you to the group of {file.parent}"
        ) from error
    except yaml.MarkedYAMLError as error:
        # Without the line itself: it may hold the key.
        line = "" if error.problem_mark is None else f"line {error.problem_mark.line + 1}: "
        raise ConfigError(f"{file}: cannot be read: {line}{error.problem}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{file}: must be a mapping of sections (engine:, ingest:, …)")
    return {name: value for name, value in tree.items() if value is not None}  # a bare `engine:` says nothing


def _keys(tree: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = {ENVIRONMENT_PREFIX + key.upper().replace(".", "__"): key for key, _ in walk(Settings())}
    for variable in environment:
        if variable in known:
            yield variable, known[variable]
        elif variable.startswith(ENVIRONMENT_PREFIX) and "__" in variable:
            raise ConfigError(f"environment variable {variable}: no such setting")


def _parse_variable(variable: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(
            f"environment variable {variable}: is no YAML; quote it"
        ) from None  # may be the key


def _assign(tree: dict[str, Any], key: str, value: Any) -> None:
    *sections, name = key.split(".")
    for section in sections:
        tree = tree.setdefault(section, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"{section}: must be a section of settings")
    tree[name] = value


def _validate(tree: dict[str, Any], file: Path) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        problem = "no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        # A whole section may hold the key, and so may an address that someone has written it into.
        is_secret = key in _SECRETS or isinstance(first["input"], dict | list)
        found = "" if is_secret else f" (found {first['input']!r})"
        # The cause shows every input: not chained.
        raise ConfigError(f"{file}: {key}: {problem}{found}") from None
