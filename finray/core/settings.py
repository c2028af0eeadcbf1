"""Frozen settings objects and the one loader: preset (TOML) < environment < arguments.

Settings are read once at the edge (command line, job, Serve application) and passed down; nothing below reads the
environment. Secrets are not settings: a settings object names the environment variable that holds a key.

Environment: ``FINRAY_<SECTION>__<NAME>`` (for example ``FINRAY_LOOP__I_MAX=2``). Arguments: ``{"loop.i_max": 2}``.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from finray.core.errors import SettingsError
from finray.core.method_settings import MethodParameters

ENVIRONMENT_PREFIX = "FINRAY_"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FilingSettings(_Section):
    """Limits on what is accepted as a filing, and on what reading one may cost. None of them changes what is stored of
    a filing that is accepted."""

    max_pages: int = Field(2000, ge=1)
    max_bytes: int = Field(256 * 1024 * 1024, ge=1)
    max_unpaged_characters: int = Field(40_000, ge=1)
    """A document without page breaks up to this long is one page; a longer one is set aside (LOFin, section 3)."""
    min_characters_per_page: int = Field(16, ge=0)
    """Below this average a PDF is image-only."""
    max_characters: int = Field(20_000_000, ge=1)
    """Of all pages together: a table without end would be cut and embedded for hours. 2,000 dense pages have half."""
    parse_seconds: float = Field(300.0, gt=0)
    """For reading one filing; 2,000 pages take about 20 seconds."""
    ocr_seconds: float = Field(3600.0, ge=0)
    """More time for a filing whose pages OCR must read (where Tesseract is installed): about 5 seconds a page. With 0
    there is no OCR, and such filings are set aside."""
    parse_memory_gb: float = Field(4.0, gt=0)
    """GiB that reading one filing may take, beside the 0.2 of the idle parser. Each processor has a parser."""


class ChunkSettings(_Section):
    """HiREC's chunking: 1,024 characters with 30 of overlap (appendix B)."""

    size: int = Field(1024, ge=64)
    overlap: int = Field(30, ge=0)


class EncoderSettings(_Section):
    """The text encoder. ``model`` is ``"minilm"`` (the embedded all-MiniLM-L6-v2), ``"hash"`` (a fake without
    weights) or a sentence-transformers folder or hub name. ``dtype`` "auto" takes bf16 where the hardware does it
    well. Prefixes are what the model's card asks for (e5: "query: ", "passage: ")."""

    model: str = "minilm"
    max_tokens: int = Field(256, ge=8)
    batch_size: int = Field(64, ge=1)
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str = "auto"
    query_prefix: str = ""
    passage_prefix: str = ""


class PageEncoderSettings(EncoderSettings):
    """The ``page_scorer`` method's; an empty ``model`` means the index's own page vectors."""

    model: str = ""


class SparseEncoderSettings(_Section):
    """The ``splade`` method's: a sentence-transformers SparseEncoder folder or hub name, or "hash", a fake."""

    model: str = "naver/splade-v3"
    max_tokens: int = Field(512, ge=8)
    batch_size: int = Field(32, ge=1)
    device: str = "auto"


class RerankerSettings(_Section):
    """A cross-encoder folder or hub name; an empty ``model`` means none."""

    model: str = ""
    max_tokens: int = Field(512, ge=8)
    batch_size: int = Field(32, ge=1)
    device: str = "auto"


class RetrievalSettings(_Section):
    """``method`` is a name from finray/retrieval/methods/registry.py. ``k_candidates``, ``k_documents`` and
    ``k_passages`` are HiREC's k'_D, k_D and k_P. ``hierarchical=false`` is the paper's ablation: the method's
    passages compete over all filings."""

    method: str = "finray"
    hierarchical: bool = True
    oracle: Literal["none", "document", "page"] = "none"
    """Ceilings for evaluation: retrieve only from the gold filings, or only the gold pages, of each question."""
    reranked_pages: int = Field(0, ge=0)
    """Pages of the method ``finray`` whose order is fused with that of ``passage_reranker``; 0 reranks none. The small
    rerankers that were measured did not pay (docs/training.md)."""
    page_model: str = ""
    """A file that ``jobs/train_page_ranker.py`` wrote; empty for the one that comes with finray."""
    k_candidates: int = Field(100, ge=1)
    k_documents: int = Field(5, ge=1)
    k_passages: int = Field(10, ge=1)


class LoopSettings(_Section):
    """Algorithm 1. ``max_kept`` is k'_P. Ablations of the paper: ``curate=false`` (no curation), ``filter=false``
    (judge answerability but keep every passage)."""

    transform: Literal["rules", "llm", "none"] = "rules"
    curator: Literal["rules", "llm"] = "rules"
    answerer: Literal["statements", "llm", "none"] = "statements"
    """"none" asks for no answer: retrieval alone, for evaluation."""
    i_max: int = Field(3, ge=1, le=10)
    max_kept: int = Field(10, ge=1)
    curate: bool = True
    filter: bool = True
    confidence_model: str = ""
    """A file that ``finray train confidence`` wrote, for the ``statements`` answerer or any other; empty for the one
    that comes with finray, which was learned from the ``statements`` answerer and says nothing of others."""


class VllmSettings(_Section):
    """vLLM's engine in this process or in a Serve replica: arguments of its AsyncEngineArgs by the names they have
    there, and ``kv_cache_gb``. Zero and "" leave the choice to vLLM."""

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    quantization: str = ""
    max_model_len: int = Field(0, ge=0)
    """Tokens of prompt and reply together."""
    max_num_seqs: int = Field(0, ge=0)
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    kv_cache_gb: float = Field(0.0, ge=0)
    """GiB for the attention cache; 0 takes what ``gpu_memory_utilization`` leaves, on a CPU 4."""
    tensor_parallel_size: int = Field(1, ge=1)
    enforce_eager: bool = False
    """No compilation and no CUDA graphs: starts sooner, answers slower."""


class LlmSettings(_Section):
    """The language model of the roles that are set to "llm", and where it runs: ``backend`` "openai" asks an
    OpenAI-compatible server at ``base_url``, "vllm" runs ``model`` (a folder or hub name) in this process, "serve" asks
    the replicas of ``serve_app``, an application on the Ray cluster (serve/llm.py)."""

    backend: Literal["openai", "vllm", "serve"] = "openai"
    base_url: str = "http://127.0.0.1:8000/v1"
    serve_app: str = "llm"
    model: str = "Qwen/Qwen2.5-7B-Instruct"
    api_key_env: str = "FINRAY_LLM_API_KEY"
    temperature: float = Field(0.01, ge=0.0)
    max_tokens: int = Field(1024, ge=1)
    timeout_s: float = Field(120.0, gt=0)
    max_retries: int = Field(4, ge=0)
    retry_wait_s: float = Field(1.0, ge=0)
    """Before the first retry; doubled for each further one, up to 30 s, with jitter."""
    max_concurrency: int = Field(64, ge=1)
    structured_output: Literal["auto", "json_schema", "none"] = "auto"
    """Whether the server enforces a JSON schema; "auto" asks for it until a server says that it cannot."""
    replay_cache: str = ""
    """Folder of replies by the hash of what was asked: what was asked before is not asked again. Empty for none."""
    replay_cache_mb: int = Field(1024, ge=1)
    prompt_price: float = Field(0.0, ge=0)
    """Of a million tokens read, in whatever currency; with ``completion_price`` it gives ``usage`` its cost."""
    completion_price: float = Field(0.0, ge=0)
    vllm: VllmSettings = VllmSettings()

    def identity(self) -> dict[str, Any]:
        """What can change a reply: replayed replies and resumed answers are keyed by it."""
        names = {"model", "temperature", "max_tokens", "structured_output"}
        if self.backend == "openai":
            return self.model_dump(include=names | {"base_url"})
        if self.backend == "serve":
            return self.model_dump(include=names | {"backend", "serve_app"})
        return self.model_dump(include={*names, "backend"}) | {
            "vllm": self.vllm.model_dump(include={"dtype", "quantization", "max_model_len"})
        }

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Of one reply, at the prices of the settings."""
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / 1e6


class SandboxSettings(_Section):
    """Where programs of thought run (``finray.sandbox``). ``isolation`` "auto" takes bubblewrap where it works and else
    a limited process; any other name is required, and its absence an error. "wasi" needs ``wasi_runtime``, the
    wasmtime command, and ``wasi_python``, the path of a CPython compiled for WASI."""

    isolation: Literal["auto", "process", "bubblewrap", "wasi"] = "auto"
    seconds: float = Field(2.0, gt=0, le=60)
    """Of processor time, and of wall time once the process has started."""
    memory_mb: int = Field(256, ge=64)
    wasi_runtime: str = "wasmtime"
    wasi_python: str = ""


class IndexSettings(_Section):
    """How tables are written. ``ann_rows`` is the number of vectors past which an approximate index is built."""

    ann_rows: int = Field(2_000_000, ge=1)
    ann_recall: float = Field(0.95, gt=0, le=1)
    """Recall@10 against exact search below which `finray maintain` trains the approximate index anew."""
    write_rows: int = Field(20_000, ge=1)
    """Chunks gathered before one commit: many small commits bloat a Lance table."""
    in_process: bool = False
    """Index without Ray, one filing after another: for the few filings of a night on one machine."""


class BulkSettings(_Section):
    """Bulk answering: questions in flight at once, and how often finished ones are written."""

    concurrency: int = Field(256, ge=1)
    flush_seconds: float = Field(5.0, gt=0)
    max_question_characters: int = Field(8_000, ge=1)


class ServingSettings(_Section):
    """The HTTP service. Rates and concurrency are of one key; ``max_in_flight`` questions are at work or waiting in one
    replica, and more are refused at once (429)."""

    keys: str = ""
    """File of API keys, local or s3://; empty for ``keys.json`` in the user's configuration folder."""
    max_body_bytes: int = Field(262_144, ge=1024)
    max_question_characters: int = Field(2_000, ge=1)
    max_questions: int = Field(16, ge=1)
    """Of one request; for more there is bulk answering."""
    questions_per_minute: float = Field(600.0, gt=0)
    reads_per_minute: float = Field(3_000.0, gt=0)
    """Filings, pages and images."""
    max_concurrent: int = Field(16, ge=1)
    max_in_flight: int = Field(64, ge=1)
    timeout_s: float = Field(120.0, gt=0)
    threads: int = Field(1, ge=1)
    """Engines of a replica, each in a thread of its own."""
    watch_seconds: float = Field(5.0, gt=0)
    """How often to look for a new version of the index, and for changed keys."""
    image_dpi: int = Field(110, ge=36, le=200)


class EdgarSettings(_Section):
    """How ``finray sync`` reads EDGAR. EDGAR_BASE_URL and EDGAR_DATA_URL of edgartools point it elsewhere."""

    contact: str = ""
    """Company and e-mail address, sent as User-Agent; SEC refuses requests without. There is no default on purpose."""
    requests_per_second: float = Field(8.0, gt=0)
    """Of the whole cluster together; SEC's limit is 10."""
    connections: int = Field(4, ge=1, le=64)
    """Downloads at a time, all under the one limit."""
    timeout_s: float = Field(60.0, gt=0)
    attempts: int = Field(6, ge=1)
    """Of one request in one run."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Before the second attempt; doubled for each further one, up to 60 s, with jitter."""
    blocked_pause_s: float = Field(610.0, gt=0)
    """How long every request waits after a page that says the rate was exceeded: SEC's own period, and a little."""
    give_up_after: int = Field(10, ge=1)
    """Runs that may fail to get a filing before it no longer holds up its day."""
    recheck_days: float = Field(7.0, ge=0)
    """How often the quarterly index is compared with what is there: SEC rebuilds it weekly, without deleted filings."""
    max_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """Of one full submission; a longer one is skipped."""
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
            "encoder": self.encoder.model_dump(include={"model", "max_tokens", "passage_prefix"}),
        }
        return _digest(payload)[:12]


def _digest(payload: object) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


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
        return Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        given = first.get("input")
        raise SettingsError(f"setting {where!r} = {given!r}: {first['msg']} (preset {preset!r})") from error


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
