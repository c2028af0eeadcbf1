"""Frozen settings objects and the one loader: preset (TOML) < environment < arguments.

Settings are loaded once at the edge (command line, job, Serve application) and passed down; no other code reads the
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
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from finray.core.errors import SettingsError
from finray.core.method_settings import MethodParameters, Section

ENVIRONMENT_PREFIX = "FINRAY_"
_HUB_NAME = re.compile(r"[\w-][\w.-]*/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SERVER = 64
"""Requests in flight at a server whose capacity is not known."""
_ENGINE = 256
"""Requests in one batch of vLLM by default, at least (SchedulerConfig)."""
_RENAMED = {"paper": "hirec"}
"""Presets of earlier versions, and their names now."""


class FilingSettings(Section):
    """Limits on accepted filings and on the cost of reading them. None changes the stored content of an accepted
    filing."""

    max_pages: int = Field(2000, ge=1)
    """A longer filing is set aside."""
    max_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """A larger file is set aside unread."""
    max_unpaged_characters: int = Field(40_000, ge=1)
    """A document without page breaks up to this long is one page; a longer one is set aside (LOFin, section 3)."""
    max_page_characters: int = Field(200_000, ge=1)
    """A filing with a longer page is set aside: it would take long to read and could not be cited. Dense pages have
    9,000."""
    min_characters_per_page: int = Field(16, ge=0)
    """A PDF with fewer on average is image-only and set aside."""
    max_characters: int = Field(20_000_000, ge=1)
    """A filing with more is set aside: an endless table would take hours to embed. 2,000 dense pages have half."""
    parse_seconds: float = Field(300.0, gt=0)
    """Time limit for reading one filing; 2,000 pages take about 20 seconds."""
    ocr_seconds: float = Field(3600.0, ge=0)
    """Additional time for a filing that needs OCR (if Tesseract is installed): about 5 seconds a page. 0 disables OCR,
    and such filings are set aside."""
    parse_memory_gb: float = Field(4.0, gt=0)
    """GiB for reading one filing, besides the 0.2 of the idle parser. Each processor has a parser."""


class CollectionSettings(Section):
    """What the index holds."""

    profile: Literal["filings", "documents"] = "filings"
    """"filings" are SEC filings, with covers, statements and periods. "documents" are contracts, policies and other
    plain documents: no cover facts are read, pages are sections by headings, and questions name no companies or periods
    that would be looked up."""


class ChunkSettings(Section):
    """HiREC's chunking: 1,024 characters with 30 of overlap (arXiv 2505.20368, appendix C.1). That of arXiv 2602.17981
    is 1,024 tokens with 128."""

    unit: Literal["characters", "tokens"] = "characters"
    """What ``size`` and ``overlap`` count. A token is a word, up to three digits, or another character."""
    size: int = Field(1024, ge=64)
    """Length of a chunk, at most."""
    overlap: int = Field(30, ge=0)
    """Length of the end of the previous chunk that a chunk repeats."""


class EncoderSettings(Section):
    """The text encoder."""

    model: str = "minilm"
    """A sentence-transformers folder or hub name, "minilm" (the embedded all-MiniLM-L6-v2), "static" (token vectors
    distilled from it, some forty times as fast on a processor), a file that ``finray train static-encoder`` wrote
    (``.npz``), or "hash" (a fake without weights)."""
    revision: str = ""
    """A commit, branch or tag of a hub model; only a commit never changes."""
    max_tokens: int = Field(256, ge=8)
    """Longer texts are cut; a static encoder reads them whole."""
    batch_size: int = Field(64, ge=1)
    """Texts encoded at a time."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of the weights; "auto" is bfloat16 if the hardware supports it well."""
    device: str = "auto"
    """Such as "cpu" or "cuda"; "auto" takes a GPU if there is one."""
    query_prefix: str = ""
    """Prefix of a question, from the model's card ("query: " for e5)."""
    passage_prefix: str = ""
    """Prefix of a passage, from the model's card ("passage: " for e5)."""


class PageEncoderSettings(EncoderSettings):
    """The encoder of the method ``page_scorer``."""

    model: str = ""
    """As for ``encoder``; empty for the index's own page vectors."""
    page_characters: int = Field(0, ge=0)
    """White space is collapsed and a longer page cut to this length (arXiv 2602.17981: 2000); 0 takes the page as it
    is."""
    store: str = Field("", pattern="^[\\w-]*$")
    """Name of the stored page vectors, to keep those of several models beside one index."""


class RerankerSettings(Section):
    """A cross-encoder that reorders retrieved documents or passages."""

    model: str = ""
    """A folder or hub name; empty for none."""
    revision: str = ""
    """As for ``encoder``."""
    max_tokens: int = Field(512, ge=8)
    """Longer texts are cut."""
    batch_size: int = Field(32, ge=1)
    """Texts in one batch."""
    device: str = "auto"
    """As for ``encoder``."""


class SparseEncoderSettings(RerankerSettings):
    """The sparse encoder of the method ``splade``."""

    model: str = "naver/splade-v3"
    """A sentence-transformers SparseEncoder folder or hub name, or "hash", a fake."""
    max_terms: int = Field(0, ge=0)
    """Terms of the largest weight that are kept of each text; 0 keeps all."""
    revision: str = "main"
    """As for ``encoder``."""


class RetrievalSettings(Section):
    """Retrieval of filings and passages."""

    method: str = "finray"
    """A name from docs/methods.md."""
    hierarchical: bool = True
    """False is the paper's ablation: passages compete over all filings."""
    oracle: Literal["none", "document", "page"] = "none"
    """Ceilings for evaluation: retrieve only from the gold filings, or only the gold pages, of each question."""
    reranked_pages: int = Field(0, ge=0)
    """Pages of the method ``finray`` whose ranking is fused with that of ``passage_reranker``; 0 reranks none. The
    small rerankers that were measured did not help (docs/training.md)."""
    page_model: str = ""
    """A file that ``jobs/train_page_ranker.py`` wrote; empty for the one that comes with finray."""
    k_candidates: int = Field(100, ge=1)
    """Filings that a reranker scores (HiREC's k'_D)."""
    k_documents: int = Field(5, ge=1)
    """Filings that passages come from (HiREC's k_D)."""
    k_passages: int = Field(10, ge=1)
    """Passages given to the curator (HiREC's k_P)."""


class LoopSettings(Section):
    """Algorithm 1 of HiREC: its roles, and its number of rounds."""

    transform: Literal["rules", "trained", "model", "hirec", "none"] = "rules"
    """The question reader. "trained" adds to the rules what a small tagger finds to be measured (it needs MiniLM).
    "model" asks the language model once what the question names, "hirec" for a query as HiREC does; "none" is the
    paper's ablation."""
    curator: Literal["rules", "model", "hirec"] = "rules"
    """The role that keeps the evidence and asks for what is missing. "model" is a language model with finray's prompts
    and with rules where its reply cannot be used, "hirec" one with HiREC's prompts and without rules."""
    answerer: Literal["statements", "model", "hirec", "plain", "method", "none"] = "statements"
    """The answering role, "model" and "hirec" as for ``curator``; "plain" is one prompt with passages and question
    (arXiv 2602.17981, appendix A); "method" is the answer that the retrieval method itself writes, if it does, without
    curation; "none" only retrieves, for evaluation."""
    generation: Literal["auto", "program", "chain"] = "auto"
    """What the answerer "hirec" asks for: a program of thought, a chain of thought, or by the question: a program if it
    asks for a figure."""
    one_call: bool = False
    """Whether ``curator`` and ``answerer``, if both are "model", are one request: the model answers if the evidence
    suffices, else asks for more."""
    i_max: int = Field(3, ge=1, le=10)
    """Rounds of curation, at most."""
    max_kept: int = Field(10, ge=1)
    """Passages that a curation keeps, at most (HiREC's k'_P)."""
    curate: bool = True
    """False is the paper's ablation: answer from the first retrieval."""
    filter: bool = True
    """False is the paper's ablation: judge whether the passages suffice, but keep them all."""
    least_confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    """A figure computed from cells is refused below this confidence; the refusal shows the cells as nearest data."""
    cells: bool = False
    """Whether the answerer "statements", if no plan gives a figure, may choose one cell of the tables on the retrieved
    pages (``finray train cell-choice``)."""
    figures: bool = False
    """Whether the answerer "statements", if neither a plan nor a cell gives a figure, may choose one that a sentence of
    the retrieved pages states (``finray train figure-choice``)."""
    confidence_model: str = ""
    """A file that ``finray train confidence`` wrote, for the ``statements`` answerer or any other; empty for the one
    that comes with finray, which was trained on the ``statements`` answerer and applies to no other."""

    @property
    def without_effect(self) -> set[str]:
        """Settings that change no answer, so that hashes from before they existed stay valid."""
        unused = set() if self.answerer == "hirec" else {"generation"}
        unused |= set() if self.cells and self.answerer == "statements" else {"cells"}
        unused |= set() if self.figures and self.answerer == "statements" else {"figures"}
        return unused if self.least_confidence else {*unused, "least_confidence"}

    @property
    def curates(self) -> bool:
        return self.curate and self.answerer != "method"

    @property
    def asks_llm(self) -> bool:
        roles = {self.transform, self.answerer, self.curator if self.curates else ""}
        return bool(roles & {"hirec", "model", "plain", "method"})

    @property
    def judged(self) -> bool:
        """Whether a model decides which company the evidence is about, so that no rule refuses a name."""
        return bool({"model", "method"} & {self.answerer, self.curator if self.curates else ""})


class EvidenceSettings(Section):
    """Evidence as it is shown: whole tables and prose around the passages that were retrieved."""

    max_tokens: int = Field(3_500, ge=200)
    """Rendered evidence of a question, at most, at four characters a token."""
    shown_tokens: int = Field(1_000, ge=100)
    """The same for the evidence that comes with an answer, on the command line, over HTTP and in predictions."""
    max_cells: int = Field(24, ge=0)
    """Line items that are listed with an id, so that programs and citations can name them, at most."""


class VllmSettings(Section):
    """vLLM's engine in this process or in a Serve replica. Names are those of its AsyncEngineArgs, except
    ``kv_cache_gb``. Zero and "" select vLLM's default."""

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Precision of the weights."""
    quantization: str = ""
    """Such as "awq" or "fp8"."""
    max_model_len: int = Field(0, ge=0)
    """Tokens of prompt and reply together."""
    max_num_seqs: int = Field(0, ge=0)
    """Requests in one batch, and in flight unless ``max_concurrency`` is set."""
    gpu_memory_utilization: float = Field(0.9, gt=0, le=1)
    """Share of the GPU's memory that the engine takes."""
    kv_cache_gb: float = Field(0.0, ge=0)
    """GiB for the attention cache; 0 takes what ``gpu_memory_utilization`` leaves, on a CPU 4."""
    tensor_parallel_size: int = Field(1, ge=1)
    """GPUs that share the weights."""
    enforce_eager: bool = False
    """No compilation and no CUDA graphs: starts sooner, answers slower."""


class LlmSettings(Section):
    """The language model of the roles that are set to "model" or "hirec", and of cover summaries."""

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
    """As for ``encoder``, if vLLM loads ``model`` from a hub."""
    api_key_env: str = "FINRAY_LLM_API_KEY"
    """The variable that holds the key."""
    temperature: float = Field(0.01, ge=0.0)
    """Sampling temperature; the paper's is 0.01."""
    seed: int | None = None
    """Seed of sampling, for servers that take one; None sends none."""
    max_tokens: int = Field(1024, ge=1)
    """Length of a reply, at most."""
    timeout_s: float = Field(120.0, gt=0)
    """Time limit of one request."""
    max_retries: int = Field(4, ge=0)
    """How often a failed or throttled request is sent again."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Wait before the first retry; doubled for each further one, up to 30 s, with jitter."""
    max_concurrency: int = Field(0, ge=0)
    """Requests in flight from one process. 0 is what the engine batches (``vllm.max_num_seqs``) for the backend "vllm",
    no limit for "serve", whose replicas take as many and let the others wait, and 64 for "openai"."""
    structured_output: Literal["auto", "json_schema", "none"] = "auto"
    """Whether the server enforces a JSON schema; "auto" requests it until the server rejects that."""
    replay_cache: str = ""
    """Folder of replies by hash of the request, which spares repeated requests. Empty for none."""
    replay_cache_mb: int = Field(1024, ge=1)
    """Maximum size of that folder; the least recently used replies are deleted."""
    prompt_price: float = Field(0.0, ge=0)
    """Price of a million tokens read, in any currency; gives ``usage`` its cost."""
    completion_price: float = Field(0.0, ge=0)
    """Price of a million tokens written."""
    vllm: VllmSettings = VllmSettings()

    @property
    def in_flight(self) -> int:
        """Requests in flight at a server, or at one engine whose own limit is not known yet."""
        return self.max_concurrency or self.vllm.max_num_seqs or (_SERVER if self.backend == "openai" else _ENGINE)

    def identity(self) -> dict[str, Any]:
        """The settings that can change a reply: the key of cached replies and resumed answers."""
        names = {"model", "temperature", "max_tokens", "structured_output"} | (
            {"seed"} if self.seed is not None else set()
        )
        if self.backend == "openai":
            return self.model_dump(include=names | {"base_url"})
        if self.backend == "serve":
            return self.model_dump(include=names | {"backend", "serve_app"})
        own = self.model_dump(include={*names, "backend", "revision"})
        engine = self.vllm.model_dump(include={"dtype", "quantization", "max_model_len"})
        return _without_default_revisions(own | {"vllm": engine})

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost of one reply at the configured prices."""
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / 1e6


class AnswerLlmSettings(LlmSettings):
    """The language model of the answering role, and of the methods zero_shot, long_context and ircot, if it is another
    one than that of ``llm``."""

    model: str = ""
    """As for ``llm``; empty to answer with ``llm``."""


class HubSettings(Section):
    """Models from a hub."""

    unpinned: Literal["warn", "error"] = "warn"
    """Action if the ``revision`` of a model is not a commit: "warn" warns if there is none at all, "error" also refuses
    a branch or tag, which may change."""


class SandboxSettings(Section):
    """Sandbox for programs that a language model wrote (``finray.sandbox``)."""

    isolation: Literal["auto", "process", "seccomp", "bubblewrap", "wasi"] = "auto"
    """Isolation of a program: "auto" is bubblewrap if it works here, else a limited process, both with a system call
    filter if the machine supports it. If any other is not available, that is an error. "seccomp" is a limited process
    with the filter; "seccomp" and "bubblewrap" require the filter for parsers and page images too."""
    seconds: float = Field(2.0, gt=0, le=60)
    """Limit of processor time, and of wall time after the process has started."""
    memory_mb: int = Field(256, ge=64)
    """Memory limit of the process."""
    wasi_runtime: str = "wasmtime"
    """The wasmtime command, for "wasi"."""
    wasi_python: str = ""
    """Path of a CPython compiled for WASI, for "wasi"."""


class IndexSettings(Section):
    """Writing and reading of the index tables."""

    ann_rows: int = Field(2_000_000, ge=1)
    """Number of chunks above which an approximate vector index is built; fewer are searched exactly."""
    ann_pages: int = Field(100_000, ge=1)
    """Number of pages, and of filings, above which an approximate index of their vectors is built."""
    ann_recall: float = Field(0.95, gt=0, le=1)
    """Recall@10 against exact search below which `finray maintain` retrains an approximate index."""
    write_rows: int = Field(20_000, ge=1)
    """Chunks in one commit: many small commits bloat a Lance table."""
    cache_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """Memory in which an engine, or a bulk worker, keeps what it has read of filings, about 11 MB for a 10-K. Those
    that were last asked about longest ago go first. Raise it if questions jump between hundreds of filings."""
    in_process: bool = False
    """Index and extend without Ray, one filing at a time: for the few filings of a nightly sync on one machine."""


class IndexJobSettings(Section):
    """The index job on Ray, and `finray extend`."""

    embed_workers_min: int = Field(0, ge=0)
    """Embedding workers to keep. 0 is one if ``embed_workers_max`` is set, else as many as that."""
    embed_workers_max: int = Field(0, ge=0)
    """Embedding workers, at most; Ray adds workers while work waits, and nodes if the cluster has an autoscaler. 0 is
    as many as the present cluster has room for: one for each ``gpus_per_worker``, or for each CPU without a GPU."""
    gpus_per_worker: Literal["auto"] | float = "auto"
    """GPUs of an embedding worker: a share of one, such as 0.5, or a whole number. "auto" is 1 if the cluster has a GPU
    or ``encoder.device`` is one. Set it if the nodes with GPUs come only with the job. With 0, workers use the CPU."""
    batch_filings: Literal["auto"] | int = "auto"
    """Filings that a worker gets at a time, at most; small jobs pass on fewer, to finish evenly. "auto" is 64 if
    ``batch_tokens`` is above 0, else 4."""
    batch_tokens: Literal["auto"] | int = "auto"
    """Filings of a batch are encoded together until they have this many tokens (estimated from their length), in
    forward passes of a few fixed shapes, so that vectors do not depend on what else is in the batch. 0 encodes each
    filing alone. "auto" is 65536 on a GPU, else 0."""

    show_ray: bool = False
    """Show Ray Data's own progress, plans and warnings, and what workers print (`--show-ray`)."""

    @field_validator("gpus_per_worker")
    @classmethod
    def _divides_gpus(cls, value: Literal["auto"] | float) -> Literal["auto"] | float:
        if value != "auto" and not (0 <= value <= 1 or (value > 1 and value == int(value))):
            raise ValueError("must be a share of one GPU (0 to 1) or a whole number of GPUs")
        return value

    @field_validator("batch_filings", "batch_tokens")
    @classmethod
    def _counts(cls, value: Literal["auto"] | int, field: ValidationInfo) -> Literal["auto"] | int:
        least = 1 if field.field_name == "batch_filings" else 0
        if value != "auto" and value < least:
            raise ValueError(f"must be at least {least}")
        return value

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if 0 < self.embed_workers_max < self.embed_workers_min:
            raise ValueError(
                f"embed_workers_max = {self.embed_workers_max} is below embed_workers_min = {self.embed_workers_min}"
            )
        return self


class BulkSettings(Section):
    """Bulk answering."""

    concurrency: int = Field(256, ge=1)
    """Questions in flight. Without a language model a worker gets two at a time: the current and the next one."""
    question_seconds: float = Field(0.0, ge=0)
    """Time limit of one question, also in `finray ask`; a longer one becomes an error. 0 means 300, or 3600 with a
    language model, for which hundreds of questions wait together."""
    flush_seconds: float = Field(5.0, gt=0)
    """Interval between writes of finished predictions."""
    max_question_characters: int = Field(8_000, ge=1)
    """A longer question is an error."""
    max_table_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """A larger table of questions (.csv, or .xlsx unpacked) is refused."""


class ServingSettings(Section):
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
    """Requests with questions in progress of one key in one replica; the same limit applies to its reads and to its
    images."""
    max_in_flight: int = Field(64, ge=1)
    """Questions in progress or waiting in one replica; more are refused at once (429)."""
    max_waiting_reads: int = Field(64, ge=1)
    """Reads that wait for a thread in one replica, and images that wait for a process."""
    read_threads: int = Field(4, ge=1)
    """Threads of a replica for filings and the text of pages. One key gets at most all but one."""
    image_processes: int = Field(2, ge=1)
    """Images that a replica renders at a time. One key gets at most all but one."""
    cache_bytes: int = Field(128 * 1024 * 1024, ge=0)
    """Memory of a replica for rendered images, and the same for their PDFs."""
    timeout_s: float = Field(120.0, gt=0)
    """Time limit of one request. If a question runs on after it, or after its client disconnects, the engine's process
    is killed."""
    grace_s: float = Field(5.0, ge=0)
    """Time before that for a question to stop: stages are not interrupted."""
    engines: int = Field(1, ge=1)
    """Engines in a replica, each in a process of its own, which takes about 1 GB."""
    watch_seconds: float = Field(5.0, gt=0)
    """Interval between checks for a new version of the index and for changed keys."""
    image_dpi: int = Field(110, ge=36, le=200)
    """Resolution of page images, unless the request says otherwise."""
    mcp: bool = False
    """Whether agents find an MCP server at ``/mcp``, with the same keys and limits. Needs the extra ``mcp``."""
    batches: str = ""
    """Folder or s3:// prefix for the files and batches of keys; empty for ``INDEX-batches``, beside the index."""
    max_file_bytes: int = Field(16 * 1024 * 1024, ge=1024)
    """A larger question file is refused."""
    file_timeout_s: float = Field(120.0, gt=0)
    """Time for a question file to arrive."""
    max_files: int = Field(200, ge=1)
    """Files that a key may keep, and the same for its batches."""
    max_batch_questions: int = Field(10_000, ge=1)
    """A batch with more questions fails."""
    max_running_batches: int = Field(2, ge=1)
    """Unfinished batches of one key."""
    batch_in_flight: int = Field(4, ge=1)
    """Questions of all batches in progress at a time. Questions of other requests wait behind at most these."""


class EdgarSettings(Section):
    """Access of ``finray sync`` to EDGAR. edgartools' EDGAR_BASE_URL and EDGAR_DATA_URL select another server."""

    contact: str = ""
    """Company and e-mail address, sent as User-Agent; SEC refuses requests without it, so there is no default."""
    requests_per_second: float = Field(8.0, gt=0)
    """For the whole cluster together; SEC's limit is 10."""
    connections: int = Field(4, ge=1, le=64)
    """Simultaneous downloads, which share the rate limit."""
    timeout_s: float = Field(60.0, gt=0)
    """Time limit of one request."""
    attempts: int = Field(6, ge=1)
    """Attempts at one request in one run."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Wait before the second attempt; doubled for each further one, up to 60 s, with jitter."""
    blocked_pause_s: float = Field(610.0, gt=0)
    """Pause of all requests after EDGAR reports an exceeded rate: SEC's own period, and a little."""
    give_up_after: int = Field(10, ge=1)
    """Failed runs after which a missing filing no longer keeps its day incomplete."""
    recheck_days: float = Field(7.0, ge=0)
    """Interval between comparisons with the quarterly index, which SEC rebuilds weekly without deleted filings."""
    max_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """A larger submission is skipped."""
    max_index_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """Largest decompressed size of an index or a list of companies; EDGAR's are under 60 MB."""
    scratch: str = ""
    """Folder for partial downloads; empty for one beside a local raw store, or in the system's temporary folder."""


class Settings(Section):
    filings: FilingSettings = FilingSettings()
    collection: CollectionSettings = CollectionSettings()
    chunks: ChunkSettings = ChunkSettings()
    encoder: EncoderSettings = EncoderSettings()
    document_reranker: RerankerSettings = RerankerSettings()
    passage_reranker: RerankerSettings = RerankerSettings()
    page_encoder: PageEncoderSettings = PageEncoderSettings()
    sparse_encoder: SparseEncoderSettings = SparseEncoderSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    methods: MethodParameters = MethodParameters()
    loop: LoopSettings = LoopSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    llm: LlmSettings = LlmSettings()
    answer_llm: AnswerLlmSettings = AnswerLlmSettings()
    hub: HubSettings = HubSettings()
    sandbox: SandboxSettings = SandboxSettings()
    index: IndexSettings = IndexSettings()
    index_job: IndexJobSettings = IndexJobSettings()
    bulk: BulkSettings = BulkSettings()
    edgar: EdgarSettings = EdgarSettings()
    serving: ServingSettings = ServingSettings()

    def answer_hash(self) -> str:
        """12 hex digits over every setting that can change an answer; resume is keyed by it."""
        payload = self.model_dump(
            include={"encoder", "document_reranker", "passage_reranker", "retrieval", "loop", "evidence"},
            exclude={
                "evidence": {"shown_tokens"},
                "loop": self.loop.without_effect,
                "encoder": {"batch_size", "device", "dtype"},
                "document_reranker": {"batch_size", "device"},
                "passage_reranker": {"batch_size", "device"},
            },
        )
        evidence = {} if self.evidence == EvidenceSettings() else {"evidence": self.evidence.model_dump()}
        llms = {name: llm.identity() for name, llm in self.llms.items()}
        return _digest(payload | evidence | self._collection() | llms | self._method_identity())[:12]

    @property
    def llms(self) -> dict[str, LlmSettings]:
        """The language models: ``llm``, and ``answer_llm`` if there is one."""
        return {"llm": self.llm} | ({"answer_llm": self.answer_llm} if self.answer_llm.model else {})

    @property
    def generator(self) -> LlmSettings:
        """The language model that writes answers: ``answer_llm`` if there is one, else ``llm``."""
        return self.answer_llm if self.answer_llm.model else self.llm

    def _method_identity(self) -> dict[str, Any]:
        """Settings of the chosen method: those of others change no answer."""
        first, *parts = self.retrieval.method.split("+")
        models = {"page_scorer": self.page_encoder, "splade": self.sparse_encoder}
        unchanging = {"batch_size", "device", "dtype", "store"}
        model = (
            _without_defaults(models[first], unchanging, {"page_characters", "max_terms"}) if first in models else None
        )
        own = {"parameters": self._parameters(first), "method_model": model}
        return own | ({"composed": {part: self._parameters(part) for part in parts}} if parts else {})

    def _parameters(self, method: str) -> dict[str, Any] | None:
        own = getattr(self.methods, method, None)
        return _without_defaults(own, set(), {"sampled"}) if own else None

    def index_hash(self) -> str:
        """12 hex digits over every setting that changes the content of an index."""
        payload = {
            "chunks": self.chunks.model_dump(exclude=set() if self.chunks.unit == "tokens" else {"unit"}),
            "encoder": self.encoder.model_dump(include={"model", "revision", "max_tokens", "passage_prefix"}),
        }
        return _digest(payload | self._collection())[:12]

    def _collection(self) -> dict[str, Any]:
        """Nothing for filings, so that hashes from before there were other collections stay valid."""
        return {} if self.collection == CollectionSettings() else {"collection": self.collection.model_dump()}

    def hub_models(self) -> dict[str, EncoderSettings | RerankerSettings | LlmSettings]:
        """The sections of the models in use that come from a hub: neither folders nor served by others."""
        used: dict[str, EncoderSettings | RerankerSettings | LlmSettings] = {
            "encoder": self.encoder,
            "document_reranker": self.document_reranker,
            "passage_reranker": self.passage_reranker,
        }
        method = self.retrieval.method.partition("+")[0]
        if method == "page_scorer":
            used["page_encoder"] = self.page_encoder
        if method == "splade":
            used["sparse_encoder"] = self.sparse_encoder
        used |= {name: llm for name, llm in self.llms.items() if llm.backend == "vllm"}
        return {name: section for name, section in used.items() if is_hub_name(section.model)}

    def unpinned(self) -> dict[str, str]:
        """The hub models in use without a commit as revision: ``{"encoder": "owner/name@main"}``."""
        return {
            name: f"{section.model}@{section.revision}" if section.revision else section.model
            for name, section in self.hub_models().items()
            if not _COMMIT.fullmatch(section.revision)
        }


def _without_defaults(section: Section, left_out: set[str], newer: set[str]) -> dict[str, Any]:
    """The section's values, without ``left_out`` and without ``newer`` ones at their default: a setting that did not
    exist changes no older hash."""
    unset = {name for name in newer & type(section).model_fields.keys() if not getattr(section, name)}
    return section.model_dump(exclude=left_out | unset)


def _digest(payload: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(_without_default_revisions(payload), sort_keys=True).encode()).hexdigest()


def _without_default_revisions(payload: dict[str, Any]) -> dict[str, Any]:
    """Omit the revisions "" and ``main``, so that hashes from before there were revisions stay valid."""
    return {
        name: _without_default_revisions(value) if isinstance(value, dict) else value
        for name, value in payload.items()
        if not (name == "revision" and value in ("", "main"))
    }


def is_hub_name(model: str) -> bool:
    """Whether ``model`` has the form of a hub name and is no folder here."""
    return bool(_HUB_NAME.fullmatch(model)) and not model.endswith(".npz") and not Path(model).is_dir()


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
            f"hub.unpinned = 'error', but {named}: set the `revision` of each model to a commit (40 hex digits), or "
            "use a folder"
        )
    return settings


def _read_preset(preset: str) -> dict[str, Any]:
    if preset.endswith(".toml"):
        path = Path(preset)
        if not path.is_file():
            raise SettingsError(f"no settings file at {preset!r}")
        text = path.read_text(encoding="utf-8")
    elif preset in _RENAMED:
        name = _RENAMED[preset]
        raise SettingsError(f"the preset {preset!r} is now called {name!r}; docs/systems/{name}.md describes it")
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
