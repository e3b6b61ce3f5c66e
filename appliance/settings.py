"""Every setting, its range and when to turn it. Reads nothing: `appliance.config` does."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


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
        default=600, ge=0, le=1_000_000,
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

    prompt_lookup: Literal["auto", "off"] = Field(
        default="auto",
        description="auto drafts what an answer quotes from its passages, where measured steps say that it pays; off "
        "to rule it out when answers seem odd.",
    )
    saved_prefixes_mb: int = Field(
        default=256, ge=0, le=100_000,
        description="Disk for the texts most asked about, as the model has read them, so that the first answers after "
        "a restart come sooner; they can be read back for a week after use. 0: keep nothing.",
    )  # fmt: skip

    blocks: Literal["auto", "exact", "blocks", "blend"] = Field(
        default="auto",
        description="Passages whose KV cells were computed before: exact computes them again, blocks joins them, blend "
        "all but their beginnings. auto: what `appliance tune blocks` found for the model.",
    )
    blend_tokens: int = Field(
        default=32, ge=1, le=1024, description="Tokens of each passage's beginning that blend computes again."
    )
    blocks_mb: int = Field(
        default=0, ge=0, le=10_000_000,
        description="Disk for passages' KV cells; 0: a tenth of what is free, 20 GB at most.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _can_be_quantised(self) -> Self:
        if self.flash_attention == "off" and self.kv_type in ("q8_0", "q4_0"):
            raise ValueError(f"kv_type {self.kv_type} needs flash_attention")
        return self


class EmbedSettings(_Section):
    """The embedding model, and the reranker."""

    backend: Literal["onnx", "sentence-transformers"] = Field(
        default="onnx",
        description="sentence-transformers runs the model uncompiled (needs the package; a GPU embedder).",
    )
    model: str = Field(
        default="auto",
        description="Embedding model; auto takes the one chosen with `appliance model use`. Another one builds a "
        "second index.",
    )
    batch: int = Field(default=8, ge=1, le=256, description="Chunks embedded at once.")
    reranker: str = Field(
        default="auto",
        description="Model that orders the best candidates anew; auto: the installed one, if any; none: the order of "
        "the search stands.",
    )
    # 20 candidates of 200 tokens, of a model of MiniLM-L6's shape in int8: 24 ms each (an EPYC core, 2026-11-30).
    rerank_ms: int = Field(
        default=500, ge=10, le=60_000,
        description="Milliseconds for it a question; what does not fit, best first, keeps its place behind the rest.",
    )  # fmt: skip


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
    max_delete_share: float = Field(
        default=0.25, ge=0, le=1,
        description="More than this share of the documents (and at least ten) missing at once are kept until "
        "`appliance ingest confirm`; 1: only those of a disk that is away.",
    )  # fmt: skip
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
    ocr_languages: tuple[str, ...] = Field(
        default=("eng",),
        min_length=1,
        strict=False,  # YAML has lists
        description="Languages of scanned pages, by Tesseract's names; each needs its data (docs/formats.md). More "
        "are slower.",
    )
    ocr_timeout_s: float = Field(
        default=120, ge=1, le=3600, description="Seconds for reading one scanned page."
    )
    office_programs: bool = Field(
        default=True,
        description="Let LibreOffice, where it is installed, read old Word and PowerPoint files.",
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
        default=0.4, ge=0, le=1,
        description="Confidence (0 to 1) below which the documents do not say; raise it for fewer wrong answers.",
    )  # fmt: skip
    compose: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether the model words answers; else they are quoted sentences. auto: unless it is too small.",
    )
    quote_above: float = Field(
        default=0.6, ge=0, le=1,
        description="Confidence from which a sentence of the documents is quoted where the model finds no answer.",
    )  # fmt: skip
    ttft_target_s: float = Field(
        default=12.0, ge=0, le=600,
        description="Seconds to the first word aimed at; on a slow box the model reads shortened passages; 0: whole.",
    )  # fmt: skip
    read_ahead: bool = Field(
        default=True,
        description="Read passages that are likely to be asked about while nobody asks; off on a battery. What was "
        "asked about once is kept all the same.",
    )
    pinned: tuple[str, ...] = Field(
        default=(),
        strict=False,  # YAML has lists
        description="Collections (folders in the documents) whose passages the model reads ahead in idle time, before "
        "others.",
    )


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
