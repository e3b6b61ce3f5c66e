"""The settings: one frozen tree, read once from YAML and the environment. The only reader of the environment.

Precedence: argument > environment > file > default. Unknown keys and values out of range stop the start.
Each field's description says when to turn it; docs/configuration.md is generated from them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from appliance.errors import ConfigError
from ingest.limits import ParseLimits

SERVICE_HOME = Path("/var/lib/appliance")
CONFIG_NAME = "appliance.yaml"
ENVIRONMENT_PREFIX = "APPLIANCE_"
_SECRETS = ("engine.key", "engine.url")  # values that no message may repeat
MAX_SOCKET_PATH = 107  # sun_path of sockaddr_un is 108 bytes with its final NUL: unix(7)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ModelsSettings(_Section):
    """Where model files are kept."""

    folder: str | None = Field(
        default=None,
        description="Folder of the model files; unset: models/ in the home. Set it to share models between homes.",
    )


class EngineSettings(_Section):
    """The language model."""

    backend: Literal["llama", "openai"] = Field(
        default="llama",
        description="llama runs the model here; openai asks the server at engine.url instead, which then reads every "
        "question and the passages sent with it. The only setting that makes the daemon open connections.",
    )
    url: str | None = Field(
        default=None,
        description="The server of backend openai: http(s)://host:port, or unix:/path/of/the.sock; any that speaks "
        "OpenAI's API. It is trusted with what it is sent.",
    )
    key_file: str | None = Field(
        default=None,
        description="File with the server's key, for the daemon's user only (chmod 600); set it when the server "
        "wants one.",
    )
    key: SecretStr | None = Field(
        default=None,
        description="The key itself, where there can be no file; it is never printed. engine.key_file keeps it out of "
        "this file.",
    )
    remote_model: str | None = Field(
        default=None,
        description="Model to ask for at engine.url; unset: the server's first. Set it when the server has several.",
    )
    model: str = Field(
        default="auto",
        description="Chat model to load; auto takes the one chosen with `appliance model use`.",
    )
    n_ctx: int = Field(
        default=8192, ge=512, le=1_048_576,
        description="Tokens of KV cache shared by all sequences; raise it for long conversations or more users at "
        "once, lower it on small boxes.",
    )  # fmt: skip
    max_sequences: int = Field(
        default=4, ge=1, le=64, description="Answers generated at the same time; others wait in the queue."
    )
    max_waiting: int = Field(
        default=32, ge=1, le=10_000, description="Questions that may wait; further ones are refused with 429."
    )
    n_batch: int = Field(
        default=512,
        ge=16,
        le=8192,
        description="Most tokens computed in one step when nobody is reading an answer.",
    )
    step_target_ms: float = Field(
        default=150, ge=10, le=10_000,
        description="Longest step while an answer is being read; lower is smoother for readers, slower for newcomers.",
    )  # fmt: skip
    n_ubatch: int = Field(
        default=512, ge=16, le=8192,
        description="Tokens of a step that pass through the model at once; `appliance tune` measures what suits this "
        "machine.",
    )  # fmt: skip
    threads: int = Field(
        default=0, ge=0, le=1024,
        description="Threads of the engine; 0: one a core, fast cores of one socket, no more than affinity and cgroup "
        "quota allow. Set it to leave cores to other programs.",
    )  # fmt: skip
    spin_count: int = Field(
        default=1000, ge=0, le=1_000_000,
        description="GOMP_SPINCOUNT of the engine; bounded, so that a busy neighbour does not stop it.",
    )  # fmt: skip
    kv_type: Literal["auto", "f16", "q8_0", "q4_0"] = Field(
        default="auto",
        description="Numbers of the KV cache; auto: f16, or q8_0 (half the memory) where f16 does not fit. Set q4_0 "
        "for long conversations on small boxes; answers get a little worse.",
    )
    flash_attention: Literal["auto", "on", "off"] = Field(
        default="auto", description="Turn it off only where a GPU's driver computes nonsense with it."
    )
    mlock: bool = Field(
        default=False,
        description="Keep the model's weights in memory; turn it on where other programs push them out, and raise the "
        "memlock limit to their size.",
    )
    n_gpu_layers: int = Field(
        default=-1, ge=-1, le=1000, description="Layers on the GPU; -1: as many as fit, 0: none."
    )
    gpu_split: Literal["auto", "one", "all"] = Field(
        default="auto",
        description="With several GPUs: auto takes one if the model fits there, one never takes a second, all spreads "
        "it always, in proportion to their free memory.",
    )
    kv_placement: Literal["auto", "gpu", "cpu"] = Field(
        default="auto",
        description="KV cache of the layers on the GPU; cpu leaves room for more layers and makes long prompts slow. "
        "auto: on the GPU, unless no layer fits then.",
    )

    @model_validator(mode="after")
    def _can_be_quantised(self) -> Self:
        if self.flash_attention == "off" and self.kv_type in ("q8_0", "q4_0"):
            raise ValueError(f"kv_type {self.kv_type} needs flash_attention")
        return self


class EmbedSettings(_Section):
    """The embedding model."""

    backend: Literal["onnx", "sentence-transformers"] = Field(
        default="onnx",
        description="sentence-transformers runs the model uncompiled (needs the package; a GPU embedder).",
    )
    model: str = Field(
        default="all-minilm-l6-v2", description="Embedding model; another one builds a second index."
    )
    batch: int = Field(default=8, ge=1, le=256, description="Chunks embedded at once.")


class IngestSettings(_Section):
    """The watched folder."""

    folder: str | None = Field(default=None, description="Folder to watch; unset: documents/ in the home.")
    settle_ms: int = Field(
        default=500,
        ge=0,
        le=60_000,
        description="A file counts once it has been still for so long; raise it for slow copies.",
    )
    sweep_every_s: float = Field(
        default=300,
        ge=1,
        le=86_400,
        description="Seconds between full comparisons of the folder with the record.",
    )
    parse_timeout_s: float = Field(
        default=30, ge=1, le=3600, description="Seconds for reading one file, and 0.2 more for each MB."
    )
    max_file_mb: int = Field(
        default=200, ge=1, le=10_000, description="Larger files are refused with a reason."
    )
    parse_memory_mb: int = Field(
        default=1024,
        ge=128,
        le=65_536,
        description="Memory of the process that reads one file; it is killed beyond it.",
    )
    chunk_tokens: int = Field(
        default=200, ge=32, le=8192,
        description="Longest chunk in the embedder's tokens; never above the embedder's window.",
    )  # fmt: skip


class AnswerSettings(_Section):
    """How answers are made."""

    n_passages: int = Field(
        default=4, ge=1, le=50, description="Passages shown to the model; fewer is faster."
    )
    max_tokens: int = Field(default=400, ge=16, le=8192, description="Longest answer in tokens.")
    refuse_below: float = Field(
        default=0.95, ge=0, le=2,
        description="Evidence (0 to 2) below which the documents do not say; raise it for fewer wrong answers.",
    )  # fmt: skip


class ApiSettings(_Section):
    """The unix socket."""

    socket: str | None = Field(
        default=None, description="Path of the socket, at most 107 bytes; unset: appliance.sock in the home."
    )
    group: str | None = Field(
        default=None,
        description="Group that may connect (the socket has mode 0660); unset: the daemon's own group.",
    )


class Settings(_Section):
    """Every setting; see the sections."""

    models: ModelsSettings = ModelsSettings()
    engine: EngineSettings = EngineSettings()
    embed: EmbedSettings = EmbedSettings()
    ingest: IngestSettings = IngestSettings()
    answer: AnswerSettings = AnswerSettings()
    api: ApiSettings = ApiSettings()
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO", description="How much the log says."
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of one home, and where each came from.

    Attributes:
        origins: dotted key → "default", "file" or "environment (NAME)".
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
            memory_mb=ingest.parse_memory_mb, timeout_s=ingest.parse_timeout_s, max_file_mb=ingest.max_file_mb
        )

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
    config = Config(home, _validate(tree, file), origins)
    if len(os.fsencode(config.socket)) > MAX_SOCKET_PATH:
        raise ConfigError(
            f"the socket's path is {len(os.fsencode(config.socket))} bytes long, {MAX_SOCKET_PATH} is the most: "
            f"{config.socket}; use a shorter --home or set api.socket"
        )
    return config


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
    return tree


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
    tree[name] = value


def _validate(tree: dict[str, Any], file: Path) -> Settings:
    try:
        return Settings.model_validate({k: v for k, v in tree.items() if v is not None})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        problem = "no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        # A whole section may hold the key, and so may an address that someone has written it into.
        is_secret = key in _SECRETS or isinstance(first["input"], dict | list)
        found = "" if is_secret else f" (found {first['input']!r})"
        # The cause shows every input: not chained.
        raise ConfigError(f"{file}: {key}: {problem}{found}") from None
