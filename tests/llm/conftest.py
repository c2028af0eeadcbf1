"""A real language model on the CPU: `make test-llm` builds the environment and the model."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from finray.core.settings import LlmSettings

FOLDER = Path(sys.prefix) / "smollm2"
# Of two processors vLLM would keep one for its scheduler, and halve the speed.
os.environ.setdefault("VLLM_CPU_NUM_OF_RESERVED_CPU", "0")
WHY = "needs vLLM and the small model: `make test-llm` has them"


@pytest.fixture(scope="session")
def small_model() -> str:
    """The folder of SmolLM2-135M-Instruct, which tools/smollm2.py wrote."""
    if importlib.util.find_spec("vllm") is None or not (FOLDER / "config.json").is_file():
        pytest.skip(WHY)
    return str(FOLDER)


@pytest.fixture(scope="session")
def engine_settings() -> dict[str, Any]:
    """Of an engine that starts soon and takes little memory."""
    return {"max_model_len": 4096, "kv_cache_gb": 1.0, "enforce_eager": True}


@pytest.fixture(scope="session")
def llm(small_model: str, engine_settings: dict[str, Any]) -> LlmSettings:
    """The small model in this process; short replies, the same each time."""
    return LlmSettings.model_validate(
        {
            "backend": "vllm",
            "model": small_model,
            "temperature": 0.0,
            "max_tokens": 48,
            "prompt_price": 1.0,
            "completion_price": 10.0,
            "vllm": engine_settings,
        }
    )
