"""A small language model that writes plans over the rows of a sheet (``finray.answering.written_plans``).

It runs in this process with llama.cpp, or behind an OpenAI-compatible server that has the adapter. The prompt is the
sheet alone: the adapter was trained on sheets, and a model without it does not know what to do. The grammar of each
sheet (GBNF) names its cells, so that a plan names no other.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import httpx

from finray.core.errors import ModelUnavailableError
from finray.core.predictions import TokenUsage
from finray.core.question_fields import excerpt
from finray.core.settings import PlanWriterSettings, is_hub_name

MAX_TOKENS: Final = 64
"""The longest plan of the training data has some 60 tokens."""
CONTEXT: Final = 1536
"""Tokens of a sheet and its plan; sheets have 350 on average, 900 at most."""
ADAPTER: Final = "plan_adapter.gguf"
_NO_TOKENS: Final = TokenUsage()
_FETCH: Final = "run finray fetch-models small, or set plan_writer.model to a GGUF file"


@dataclass(frozen=True, slots=True)
class WrittenPlan:
    """``text`` as written; ``log_probability`` is the sum over its tokens."""

    text: str
    log_probability: float
    usage: TokenUsage = _NO_TOKENS


class PlanWriter(Protocol):
    def write(self, sheet: str, grammar: str) -> Sequence[WrittenPlan]:
        """Plans for ``sheet``, the likeliest first, of those that ``grammar`` (GBNF) allows. Raises
        ModelUnavailableError."""
        ...


def load_plan_writer(settings: PlanWriterSettings) -> PlanWriter:
    """The writer that ``settings`` choose. Raises ModelUnavailableError if its model is not there."""
    if settings.backend == "openai":
        return ServedPlans(settings)
    return LlamaPlans(gguf_of(settings), adapter_of(settings), settings.threads)


class LlamaPlans:
    """llama.cpp in this process, one model for all; calls wait for each other."""

    def __init__(self, model: Path, adapter: Path | None, threads: int) -> None:
        """Raises ModelUnavailableError if llama.cpp is not installed, or a file cannot be loaded."""
        self._server = _llama(model, adapter, threads)
        self._lock = threading.Lock()

    def write(self, sheet: str, grammar: str) -> Sequence[WrittenPlan]:
        request = {"prompt": sheet, "n_predict": MAX_TOKENS, "temperature": 0.0, "n_probs": 1, "grammar": grammar}
        with self._lock:
            reply = self._server.handle_completions(request)
        try:
            (choice,) = reply["choices"]
            logarithms = [float(token["logprob"]) for token in choice["logprobs"]["content"]]
            return [WrittenPlan(str(choice["text"]).strip(), sum(logarithms), _usage(reply))]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelUnavailableError(f"llama.cpp wrote no plan: {excerpt(str(reply))!r}") from error


class ServedPlans:
    """The completions of an OpenAI-compatible server."""

    def __init__(self, settings: PlanWriterSettings, client: httpx.Client | None = None) -> None:
        key = os.environ.get(settings.api_key_env, "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._settings = settings
        self._client = client or httpx.Client(
            base_url=settings.base_url.rstrip("/") + "/", headers=headers, timeout=settings.timeout_s
        )

    def write(self, sheet: str, grammar: str) -> Sequence[WrittenPlan]:
        body = {
            "model": self._settings.model,
            "prompt": sheet,
            "max_tokens": MAX_TOKENS,
            "temperature": 0.0,
            "logprobs": 1,
            "grammar": grammar,  # llama-server
            "structured_outputs": {"grammar": grammar},  # vLLM
        }
        try:
            response = self._client.post("completions", json=body)
            response.raise_for_status()
            (choice, *_) = response.json()["choices"]
            tokens = [float(each) for each in choice["logprobs"]["token_logprobs"]]
            return [WrittenPlan(str(choice["text"]).strip(), sum(tokens), _usage(response.json()))]
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailableError(
                f"the server at plan_writer.base_url wrote no plan: {type(error).__name__}; is it running, and does it "
                "know plan_writer.model?"
            ) from error


def _usage(payload: Mapping[str, Any]) -> TokenUsage:
    usage = payload.get("usage") or {}
    return TokenUsage(int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0)), calls=1)


def gguf_of(settings: PlanWriterSettings) -> Path:
    """The GGUF file of the settings' model. Raises ModelUnavailableError if it is not there, or another one."""
    path = Path(settings.model).expanduser()
    if path.is_dir():
        found = sorted(path.glob("*.gguf"))
        if len(found) != 1:
            raise ModelUnavailableError(f"{path} has {len(found)} GGUF files; set plan_writer.model to one")
        return _checked(found[0])
    if path.is_file() or not is_hub_name(settings.model):
        return _checked(path)
    return fetch_gguf(settings, download=False)


def fetch_gguf(settings: PlanWriterSettings, home: str | None = None, *, download: bool = True) -> Path:
    """The settings' file from the hub's cache, downloaded if it is not there and ``download``. ``home`` is the cache's.
    Raises ModelUnavailableError if it cannot be had, or its SHA-256 is another."""
    from huggingface_hub import hf_hub_download

    named = f"{settings.file} of {settings.model}"
    try:
        found = hf_hub_download(
            settings.model,
            settings.file,
            revision=settings.revision or None,
            cache_dir=None if home is None else Path(home) / "hub",
            local_files_only=not download,
        )
    except (OSError, ValueError) as error:
        if not download:
            raise ModelUnavailableError(f"{named} is not in the cache; {_FETCH}") from error
        raise ModelUnavailableError(
            f"cannot download {named}: {str(error).splitlines()[0]}. Run this command where the hub can be reached, "
            "and share or copy the folder"
        ) from error
    path = _checked(Path(found))
    if download and settings.sha256 and (other := _sha256(path)) != settings.sha256:
        raise ModelUnavailableError(f"{named} has SHA-256 {other}, not {settings.sha256} (plan_writer.sha256)")
    return path


def adapter_of(settings: PlanWriterSettings) -> Path:
    """The adapter's GGUF file. Raises ModelUnavailableError."""
    return _checked(Path(settings.adapter).expanduser() if settings.adapter else Path(__file__).with_name(ADAPTER))


def _checked(path: Path) -> Path:
    """``path``, if it is a GGUF file. Raises ModelUnavailableError."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelUnavailableError(f"no model at {path}: {error.strerror or error}; {_FETCH}") from error
    if magic != b"GGUF":
        raise ModelUnavailableError(f"{path} is no GGUF file; {_FETCH}")
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _llama(model: Path, adapter: Path | None, threads: int) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelUnavailableError(
            "plans by a small model need llama.cpp; install it with pip install 'finray[small]'"
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.warmup = False
    params.verbosity = -1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    if adapter is not None:
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]
    try:
        return xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise ModelUnavailableError(
            f"llama.cpp cannot load {model} with the adapter {adapter}: {error} A file may be cut off, or the adapter "
            f"of another model; {_FETCH}"
        ) from error
