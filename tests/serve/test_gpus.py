"""Replicas with engines get the GPUs of the models that they load themselves."""

from __future__ import annotations

from typing import Any

import pytest

from finray.core.settings import load_settings
from finray.models import vllm_engine
from serve.config import BatchedReplicas, LanguageModel, Replicas, ServeArguments
from serve.gpus import with_gpus


@pytest.fixture(autouse=True)
def vllm_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm_engine, "_is_installed", lambda package: package == "vllm")


def gpus(preset: str = "local", free: float = 0.0, **arguments: Any) -> tuple[float, float]:
    """GPUs of one ingress replica and of one answering replica."""
    given = ServeArguments(index="i", preset=preset, **arguments)
    found = with_gpus(given, load_settings(preset, environment={}), free)
    return found.ingress.num_gpus, found.answering.num_gpus if found.answering else 0.0


def test_engines_with_their_own_vllm_have_its_gpus() -> None:
    assert gpus("vllm") == (1.0, 0.0)
    assert gpus("vllm", answering=Replicas()) == (0.0, 1.0)
    assert gpus("vllm", llm=LanguageModel()) == (0.0, 0.0)
    assert gpus("vllm", ingress=Replicas(num_gpus=0.5)) == (0.5, 0.0)
    assert gpus("model") == (0.0, 0.0)


def test_on_one_machine_engines_share_what_is_free() -> None:
    assert gpus(free=1.0) == (1.0, 0.0)
    assert gpus(free=1.0, answering=Replicas(max_replicas=4)) == (0.0, 0.25)
    assert gpus(free=1.0, encoder=BatchedReplicas(num_gpus=0.5)) == (0.0, 0.0)
