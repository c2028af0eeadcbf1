from __future__ import annotations

import pytest

from finray.core.settings import LlmSettings
from finray.models import vllm_arguments
from finray.models.vllm_arguments import engine_arguments


@pytest.mark.parametrize(
    ("wanted", "on_cpu", "fast", "dtype"),
    [
        ("auto", True, False, "float32"),
        ("auto", True, True, "auto"),
        ("auto", False, False, "auto"),
        ("bfloat16", True, False, "bfloat16"),
    ],
)
def test_bf16_is_emulated_only_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, wanted: str, on_cpu: bool, fast: bool, dtype: str
) -> None:
    monkeypatch.setattr(vllm_arguments, "multiplies_bf16", lambda: fast)
    settings = LlmSettings.model_validate({"backend": "vllm", "model": "someone/model", "vllm": {"dtype": wanted}})
    assert engine_arguments(settings, on_cpu=on_cpu)["dtype"] == dtype
