from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models import vllm_arguments
from finray.models.vllm_arguments import engine_arguments

PLAIN = "{}"
QUANTIZED = '{"quantization_config": {"quant_method": "awq"}}'


@pytest.mark.parametrize(
    ("config", "chosen", "on_cpu", "emulated", "dtype"),
    [
        (PLAIN, {}, True, True, "float32"),
        (PLAIN, {}, True, False, "auto"),
        (PLAIN, {}, False, True, "auto"),
        (PLAIN, {"dtype": "bfloat16"}, True, True, "bfloat16"),
        (PLAIN, {"quantization": "awq"}, True, True, "auto"),
        (QUANTIZED, {}, True, True, "auto"),
        (None, {}, True, True, "auto"),
    ],
)
def test_bf16_is_not_emulated_unless_it_must_be(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    config: str | None,
    chosen: dict[str, str],
    on_cpu: bool,
    emulated: bool,
    dtype: str,
) -> None:
    monkeypatch.setattr(vllm_arguments, "emulates_bf16", lambda: emulated)
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    settings = LlmSettings.model_validate({"backend": "vllm", "model": str(tmp_path), "vllm": chosen})
    assert engine_arguments(settings, on_cpu=on_cpu)["dtype"] == dtype


def test_a_broken_model_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vllm_arguments, "emulates_bf16", lambda: True)
    (tmp_path / "config.json").write_text("{")
    settings = LlmSettings.model_validate({"backend": "vllm", "model": str(tmp_path)})
    with pytest.raises(ModelUnavailableError, match="cannot be read as JSON"):
        engine_arguments(settings, on_cpu=True)
