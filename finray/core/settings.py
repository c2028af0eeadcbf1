"""Frozen settings objects and the one loader: preset (TOML) < environment < arguments.

Settings are read once at the edge (command line, job, Serve application) and passed down; nothing below reads the
environment. Secrets are not settings: a settings object names the environment variable that holds a key.

Environment: ``FINRAY_<SECTION>__<NAME>`` (for example ``FINRAY_LOOP__I_MAX=2``). Arguments: ``{"loop.i_max": 2}``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finray.core.errors import SettingsError
from finray.core.method_settings import MethodParameters

ENVIRONMENT_PREFIX = "FINRAY_"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FilingSettings(_Section):
    """Limits on what is accepted as a filing, and on what reading one may cost. None of them changes what is stored of
    a filing that is accepted."""

    max_pages: int = Field(2000, ge=1)
    """A longer filing is set aside."""
    max_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """A larger file is set aside unread."""
    max_unpaged_characters: int = Field(40_000, ge=1)
    """A document without page breaks up to this long is one page; a longer one is set aside (LOFin, section 3)."""
    max_page_characters: int = Field(200_000, ge=1)
    """Of one page; dense ones have 9,000. A filing with a longer page is set aside: it could not be cited either, and
    no page may take long to read."""
    min_characters_per_page: int = Field(16, ge=0)
    """A PDF with fewer on average is image-only and set aside."""
    max_characters: int = Field(20_000_000, ge=1)
    """A filing with more is set aside: an endless table would take hours to embed. 2,000 dense pages have half."""
    parse_seconds: float = Field(300.0, gt=0)
    """Time limit for reading one filing; 2,000 pages take about 20 seconds."""
    parse_memory_gb: float = Field(4.0, gt=0)
    """GiB that reading one filing may take, beside the 0.2 of the idle parser. Each processor has a parser."""


class ChunkSettings(_Section):
    """HiREC's chunking: 1,024 characters with 30 of overlap (appendix B)."""

    size: int = Field(1024, ge=64)
    """Characters of a chunk, at most."""
    overlap: int = Field(30, ge=0)
    """Characters that a chunk repeats of the one before it."""


class EncoderSettings(_Section):
    """The text encoder."""

    model: str = "minilm"
    """A sentence-transformers folder or hub name, "minilm" (the embedded all-MiniLM-L6-v2) or "hash" (a fake without
    weights)."""
    revision: str = ""
    """A commit, branch or tag of a hub name; only a commit stays what it is. The same for every model here."""
    max_tokens: int = Field(256, ge=8)
    """Longer texts are cut."""
    batch_size: int = Field(64, ge=1)
    """Texts encoded at a time."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the weights; "auto" takes bfloat16 if the hardware does it well."""
    device: str = "auto"
    """Such as "cpu" or "cuda"; "auto" takes a GPU if there is one."""
    query_prefix: str = ""
    """What the model's card asks for before a question ("query: " for e5)."""
    passage_prefix: str = ""
    """What the model's card asks for before a passage ("passage: " for e5)."""


class PageEncoderSettings(EncoderSettings):
    """The encoder of the method ``page_scorer``."""

    model: str = ""
    """As for ``encoder``; empty for the index's own page vectors."""


class SparseEncoderSettings(_Section):
    """The sparse encoder of the method ``splade``."""

    model: str = "naver/splade-v3"
    """A sentence-transformers SparseEncoder folder or hub name, or "hash", a fake."""
    revision: str = "main"
    """As for ``encoder``."""
    max_tokens: int = Field(512, ge=8)
    """Longer texts are cut."""
    batch_size: int = Field(32, ge=1)
    """Texts encoded at a time."""
    device: str = "auto"
    """As for ``encoder``."""


class RerankerSettings(_Section):
    """A cross-encoder that reorders what retrieval found."""

    model: str = ""
    """A folder or hub name; empty for none."""
    revision: str = ""
    """As for ``encoder``."""
    max_tokens: int = Field(512, ge=8)
    """Longer texts are cut."""
    batch_size: int = Field(32, ge=1)
    """Texts scored at a time."""
    device: str = "auto"
    """As for ``encoder``."""


class RetrievalSettings(_Section):
    """How filings and passages are found."""

    method: str = "finray"
    """A name from docs/methods.md."""
    hierarchical: bool = True
    """False is the paper's ablation: passages compete over all filings."""
    oracle: Literal["none", "document", "page"] = "none"
    """Ceilings for evaluation: retrieve only from the gold filings, or only the gold pages, of each question."""
    reranked_pages: int = Field(0, ge=0)
    """Pages of the method ``finray`` whose order is fused with that of ``passage_reranker``; 0 reranks none. The small
    rerankers that were measured did not pay (docs/training.md)."""
    page_model: str = ""
    """A file that ``jobs/train_page_ranker.py`` wrote; empty for the one that comes with finray."""
    k_candidates: int = Field(100, ge=1)
    """Filings that a reranker looks at (HiREC's k'_D)."""
    k_documents: int = Field(5, ge=1)
    """Filings that passages come from (HiREC's k_D)."""
    k_passages: int = Field(10, ge=1)
    """Passages given to the curator (HiREC's k_P)."""


class LoopSettings(_Section):
    """Algorithm 1 of HiREC: who plays each role, and how often it asks again."""

    transform: Literal["rules", "llm", "none"] = "rules"
    """What reads the question; "none" is the paper's ablation."""
    curator: Literal["rules", "llm"] = "rules"
    """What keeps the evidence and asks for what is missing."""
    answerer: Literal["statements", "llm", "none"] = "statements"
    """What answers; "none" retrieves alone, for evaluation."""
    i_max: int = Field(3, ge=1, le=10)
    """Rounds of curation, at most."""
    max_kept: int = Field(10, ge=1)
    """Passages that a curation keeps, at most (HiREC's k'_P)."""
    curate: bool = True
    """False is the paper's ablation: answer from the first retrieval."""
    filter: bool = True
    """False is the paper's ablation: judge whether the passages suffice, but keep them all."""
    confidence_model: str = ""
    """A file that ``finray train confidence`` wrote, for the ``statements`` answerer or any other; empty for the one
    that comes with finray, which was learned from the ``statements`` answerer and says nothing of others."""

    @property
    def asks_llm(self) -> bool:
        return "llm" in (self.transform, self.answerer, self.curator if self.curate else "")


class VllmSettings(_Section):
    """vLLM's engine in this process or in a Serve replica. Names are those of its AsyncEngineArgs, but for
    ``kv_cache_gb``. Zero and "" leave the choice to vLLM."""

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Precision of the weights."""
    quantization: str = ""
    """Such as "awq" or "fp8"."""
    max_model_len: int = Field(0, ge=0)
    """Tokens of prompt and reply together."""
    max_num_seqs: int = Field(0, ge=0)
    """Requests in one batch."""
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    """Share of the GPU's memory that the engine takes."""
    kv_cache_gb: float = Field(0.0, ge=0)
    """GiB for the attention cache; 0 takes what ``gpu_memory_utilization`` leaves, on a CPU 4."""
    tensor_parallel_size: int = Field(1, ge=1)
    """GPUs that share the weights."""
    enforce_eager: bool = False
    """No compilation and no CUDA graphs: starts sooner, answers slower."""


class LlmSettings(_Section):
    """The language model of the roles that are set to "llm", and where it runs."""

    backend: Literal["openai", "vllm", "serve"] = "openai"
    """Where it runs: "openai" asks an OpenAI-compatible server at ``base_url``, "vllm" runs ``model`` in this process,
    "serve" asks the replicas of ``serve_app``."""
    base_url: str = "http://127.0.0.1:8000/v1"
    """Address of the server, for the backend "openai"."""
    serve_app: str = "llm"
    """An application on the Ray cluster (serve/llm.py), for the backend "serve"."""
    model: str = "Qwen/Qwen2.5-7B-Instruct"
    """The name that the server knows; a folder or hub name for vLLM."""
    revision: str = ""
    """If vLLM loads ``model`` from a hub."""
    api_key_env: str = "FINRAY_LLM_API_KEY"
    """The variable that holds the key."""
    temperature: float = Field(0.01, ge=0.0)
    """Sampling temperature; the paper's is 0.01."""
    max_tokens: int = Field(1024, ge=1)
    """Length of a reply, at most."""
    timeout_s: float = Field(120.0, gt=0)
    """Time limit of one request."""
    max_retries: int = Field(4, ge=0)
    """How often a failed or throttled request is sent again."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Wait before the first retry; doubled for each further one, up to 30 s, with jitter."""
    max_concurrency: int = Field(64, ge=1)
    """Requests in flight."""
    structured_output: Literal["auto", "json_schema", "none"] = "auto"
    """Whether the server enforces a JSON schema; "auto" asks for it until a server says that it cannot."""
    replay_cache: str = ""
    """Folder of replies by the hash of what was asked: what was asked before is not asked again. Empty for none."""
    replay_cache_mb: int = Field(1024, ge=1)
    """Size of that folder; what was used longest ago goes first."""
    prompt_price: float = Field(0.0, ge=0)
    """Price of a million tokens read, in any currency; gives ``usage`` its cost."""
    completion_price: float = Field(0.0, ge=0)
    """Price of a million tokens written."""
    vllm: VllmSettings = VllmSettings()

    def identity(self) -> dict[str, Any]:
        """What can change a reply: replayed replies and resumed answers are keyed by it."""
        names = {"model", "temperature", "max_tokens", "structured_output"}
        if self.backend == "openai":
            return self.model_dump(include=names | {"base_url"})
        if self.backend == "serve":
            return self.model_dump(include=names | {"backend", "serve_app"})
        own = self.model_dump(include={*names, "backend", "revision"})
        engine = self.vllm.model_dump(include={"dtype", "quantization", "max_model_len"})
        return _without_default_revisions(own | {"vllm": engine})

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Of one reply, at the prices of the settings."""
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / 1e6


class HubSettings(_Section):
    """Models that are named by hub."""

    unpinned: Literal["warn", "error"] = "warn"
    """What happens if the ``revision`` of a model is no commit: "warn" warns if there is none at all, "error" refuses a
    branch or tag too, which may be another model tomorrow."""


class SandboxSettings(_Section):
    """Where programs that a language model wrote run (``finray.sandbox``)."""

    isolation: Literal["auto", "process", "seccomp", "bubblewrap", "wasi"] = "auto"
    """What contains a program: "auto" takes bubblewrap if it works here and else a limited process, both under a filter
    of system calls if the machine has one; any other is required, and its absence an error. "seccomp" is a limited
    process under that filter, "bubblewrap" has it too, and with these two neither a parser nor a page image does
    without."""
    seconds: float = Field(2.0, gt=0, le=60)
    """Limit of processor time, and of wall time once the process has started."""
    memory_mb: int = Field(256, ge=64)
    """Memory limit of the process."""
    wasi_runtime: str = "wasmtime"
    """The wasmtime command, for "wasi"."""
    wasi_python: str = ""
    """Path of a CPython compiled for WASI, for "wasi"."""


class IndexSettings(_Section):
    """How tables are written."""

    ann_rows: int = Field(2_000_000, ge=1)
    """Vectors past which an approximate index is built; fewer are searched exactly."""
    ann_recall: float = Field(0.95, gt=0, le=1)
    """Recall@10 against exact search below which `finray maintain` trains the approximate index anew."""
    write_rows: int = Field(20_000, ge=1)
    """Chunks gathered before one commit: many small commits bloat a Lance table."""
    in_process: bool = False
    """Index without Ray, one filing after another: for the few filings of a night on one machine."""


class BulkSettings(_Section):
    """Bulk answering."""

    concurrency: int = Field(256, ge=1)
    """Questions in flight at once. By rules a worker is handed two at a time: the one that it works on and the next."""
    question_seconds: float = Field(0.0, ge=0)
    """Time limit of one question, also of `finray ask`; one that takes longer is an error, whatever it does. 0 stands
    for 300, or 3600 if a language model is asked: hundreds of questions wait for it together."""
    flush_seconds: float = Field(5.0, gt=0)
    """How often finished predictions are written."""
    max_question_characters: int = Field(8_000, ge=1)
    """A longer question is an error."""


class ServingSettings(_Section):
    """The HTTP service."""

    keys: str = ""
    """File of API keys, local or s3://; empty for ``keys.json`` in the user's configuration folder."""
    max_body_bytes: int = Field(262_144, ge=1024)
    """A larger request is refused."""
    body_timeout_s: float = Field(10.0, gt=0)
    """Time for the body of a request to arrive."""
    max_question_characters: int = Field(2_000, ge=1)
    """A longer question is refused."""
    max_questions: int = Field(16, ge=1)
    """Questions in one request; use bulk answering for more."""
    questions_per_minute: float = Field(600.0, gt=0)
    """Rate limit of one key."""
    reads_per_minute: float = Field(3_000.0, gt=0)
    """Rate limit of one key for filings, pages, images and metrics."""
    max_concurrent: int = Field(16, ge=1)
    """Requests of one key with questions in progress at a time; and as many reads, and as many images, in one
    replica."""
    max_in_flight: int = Field(64, ge=1)
    """Questions in progress or waiting in one replica; more are refused at once (429)."""
    max_waiting_reads: int = Field(64, ge=1)
    """Reads that wait for a thread in one replica, and images that wait for a process."""
    read_threads: int = Field(4, ge=1)
    """Threads of a replica for filings and the text of pages. One key gets all but one of them."""
    image_processes: int = Field(2, ge=1)
    """Images that a replica draws at a time. One key gets all but one of them."""
    cache_bytes: int = Field(128 * 1024 * 1024, ge=0)
    """Memory of a replica for images that were drawn, and as much for the PDFs that they are drawn from."""
    timeout_s: float = Field(120.0, gt=0)
    """Time limit of one request. A question that goes on after it, or after its client has left, has its engine's
    process ended."""
    grace_s: float = Field(5.0, ge=0)
    """Time before that for a question to stop by itself: stages are not interrupted."""
    engines: int = Field(1, ge=1)
    """Engines in a replica, each in a process of its own, which takes about 1 GB."""
    watch_seconds: float = Field(5.0, gt=0)
    """How often to look for a new version of the index, and for changed keys."""
    image_dpi: int = Field(110, ge=36, le=200)
    """Resolution of page images, unless the request says otherwise."""


class EdgarSettings(_Section):
    """How ``finray sync`` reads EDGAR. EDGAR_BASE_URL and EDGAR_DATA_URL of edgartools point it elsewhere."""

    contact: str = ""
    """Company and e-mail address, sent as User-Agent; SEC refuses requests without. There is no default on purpose."""
    requests_per_second: float = Field(8.0, gt=0)
    """For the whole cluster together; SEC's limit is 10."""
    connections: int = Field(4, ge=1, le=64)
    """Downloads at a time, all under the one limit."""
    timeout_s: float = Field(60.0, gt=0)
    """Time limit of one request."""
    attempts: int = Field(6, ge=1)
    """Attempts at one request in one run."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Wait before the second attempt; doubled for each further one, up to 60 s, with jitter."""
    blocked_pause_s: float = Field(610.0, gt=0)
    """How long every request waits after a page that says the rate was exceeded: SEC's own period, and a little."""
    give_up_after: int = Field(10, ge=1)
    """Runs that may fail to get a filing before it no longer holds up its day."""
    recheck_days: float = Field(7.0, ge=0)
    """How often the quarterly index is compared with what is there: SEC rebuilds it weekly, without deleted filings."""
    max_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """A larger submission is skipped."""
    max_index_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """Size of an index or a list of companies, decompressed; EDGAR's are under 60 MB."""
    scratch: str = ""
    """Folder for partial downloads; empty for one beside a local raw store, or in the system's temporary folder."""


class Settings(_Section):
    filings: FilingSettings = FilingSettings()
    chunks: ChunkSettings = ChunkSettings()
    encoder: EncoderSettings = EncoderSettings()
    document_reranker: RerankerSettings = RerankerSettings()
    passage_reranker: RerankerSettings = RerankerSettings()
    page_encoder: PageEncoderSettings = PageEncoderSettings()
    sparse_encoder: SparseEncoderSettings = SparseEncoderSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    methods: MethodParameters = MethodParameters()
    loop: LoopSettings = LoopSettings()
    llm: LlmSettings = LlmSettings()
    hub: HubSettings = HubSettings()
    sandbox: SandboxSettings = SandboxSettings()
    index: IndexSettings = IndexSettings()
    bulk: BulkSettings = BulkSettings()
    edgar: EdgarSettings = EdgarSettings()
    serving: ServingSettings = ServingSettings()

    def answer_hash(self) -> str:
        """12 hex digits over every setting that can change an answer; resume is keyed by it."""
        payload = self.model_dump(
            include={"encoder", "document_reranker", "passage_reranker", "retrieval", "loop"},
            exclude={
                "encoder": {"batch_size", "device", "dtype"},
                "document_reranker": {"batch_size", "device"},
                "passage_reranker": {"batch_size", "device"},
            },
        )
        return _digest(payload | {"llm": self.llm.identity()} | self._of_the_method())[:12]

    def _of_the_method(self) -> dict[str, Any]:
        """What the chosen method alone depends on: the numbers of the others change no answer."""
        name = self.retrieval.method
        own = getattr(self.methods, name, None)
        models = {"page_scorer": self.page_encoder, "splade": self.sparse_encoder}
        model = models[name].model_dump(exclude={"batch_size", "device", "dtype"}) if name in models else None
        return {"parameters": own.model_dump() if own else None, "method_model": model}

    def index_hash(self) -> str:
        """12 hex digits over every setting that changes what is stored: an index is built with one of them."""
        payload = {
            "chunks": self.chunks.model_dump(),
            "encoder": self.encoder.model_dump(include={"model", "revision", "max_tokens", "passage_prefix"}),
        }
        return _digest(payload)[:12]

    def unpinned(self) -> dict[str, str]:
        """The hub models that these settings use and do not name by commit: ``{"encoder": "owner/name@main"}``."""
        used: dict[str, EncoderSettings | RerankerSettings | SparseEncoderSettings | LlmSettings] = {
            "encoder": self.encoder,
            "document_reranker": self.document_reranker,
            "passage_reranker": self.passage_reranker,
        }
        if self.retrieval.method == "page_scorer":
            used["page_encoder"] = self.page_encoder
        if self.retrieval.method == "splade":
            used["sparse_encoder"] = self.sparse_encoder
        if self.llm.backend == "vllm":
            used["llm"] = self.llm
        return {
            name: f"{section.model}@{section.revision}" if section.revision else section.model
            for name, section in used.items()
            if _is_hub_name(section.model) and not _COMMIT.fullmatch(section.revision)
        }


def _digest(payload: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(_without_default_revisions(payload), sort_keys=True).encode()).hexdigest()


def _without_default_revisions(payload: dict[str, Any]) -> dict[str, Any]:
    """No revision and ``main`` are the same, and what was built before there were revisions still counts."""
    return {
        name: _without_default_revisions(value) if isinstance(value, dict) else value
        for name, value in payload.items()
        if not (name == "revision" and value in ("", "main"))
    }


def _is_hub_name(model: str) -> bool:
    return bool(_HUB_NAME.fullmatch(model)) and not Path(model).is_dir()


def preset_names() -> list[str]:
    return sorted(
        p.name.removesuffix(".toml") for p in resources.files("finray.presets").iterdir() if p.name.endswith(".toml")
    )


def load_settings(
    preset: str = "local",
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings of ``preset`` (a shipped name or a path ending in .toml), then environment, then ``overrides``.

    ``overrides`` maps dotted names to values: ``{"loop.i_max": 2}``. Raises SettingsError for an unknown preset,
    an unknown name or a value out of range.
    """
    tree = _read_preset(preset)
    for dotted, value in _from_environment(os.environ if environment is None else environment).items():
        _assign(tree, dotted, value)
    for dotted, value in (overrides or {}).items():
        _assign(tree, dotted, value)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        given = first.get("input")
        raise SettingsError(f"setting {where!r} = {given!r}: {first['msg']} (preset {preset!r})") from error
    if settings.hub.unpinned == "error" and (unpinned := settings.unpinned()):
        named = ", ".join(f"{name}.model = {model!r}" for name, model in unpinned.items())
        raise SettingsError(
            f"hub.unpinned = 'error', but {named}: set `revision` beside each model to a commit (40 hex digits), or "
            "name a folder"
        )
    return settings


def _read_preset(preset: str) -> dict[str, Any]:
    if preset.endswith(".toml"):
        path = Path(preset)
        if not path.is_file():
            raise SettingsError(f"no settings file at {preset!r}")
        text = path.read_text(encoding="utf-8")
    elif preset in preset_names():
        text = (resources.files("finray.presets") / f"{preset}.toml").read_text(encoding="utf-8")
    else:
        raise SettingsError(
            f"unknown preset {preset!r}; shipped are {', '.join(preset_names())}, or give a path that ends in .toml"
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{preset}: not valid TOML: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX) and "__" in name
    }


def _assign(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *sections, leaf = dotted.split(".")
    node = tree
    for section in sections:
        node = node.setdefault(section, {})
        if not isinstance(node, dict):
            raise SettingsError(f"setting {dotted!r}: {section!r} is a value, not a section")
    node[leaf] = value
