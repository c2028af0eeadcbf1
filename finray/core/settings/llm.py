"""Settings of language models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from finray.core.method_settings import Section
from finray.core.settings.hashes import without_default_revisions

_SERVER = 64
"""Requests in flight at a server whose capacity is not known."""
_ENGINE = 256
"""Requests in one batch of vLLM by default, at least (SchedulerConfig)."""


class VllmSettings(Section):
    """vLLM's engine in this process or in a Serve replica. Names are those of its AsyncEngineArgs, except
    ``kv_cache_gb``. Zero and "" select vLLM's default."""

    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Precision of the weights. "auto" is that of the saved model; float32 for an unquantized model in a folder on an
    x86 processor without AMX and AVX512-BF16."""
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
        names = {"model", "temperature", "max_tokens", "structured_output"}
        if self.seed is not None:
            names.add("seed")
        if self.backend == "openai":
            return self.model_dump(include=names | {"base_url"})
        if self.backend == "serve":
            return self.model_dump(include=names | {"backend", "serve_app"})
        own = self.model_dump(include=names | {"backend", "revision"})
        engine = self.vllm.model_dump(include={"dtype", "quantization", "max_model_len"})
        return without_default_revisions(own | {"vllm": engine})

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost of one reply at the configured prices."""
        return (prompt_tokens * self.prompt_price + completion_tokens * self.completion_price) / 1e6


class AnswerLlmSettings(LlmSettings):
    """The language model of the answering role, and of the methods zero_shot, long_context and ircot, if it is another
    one than that of ``llm``."""

    model: str = ""
    """As for ``llm``; empty to answer with ``llm``."""
