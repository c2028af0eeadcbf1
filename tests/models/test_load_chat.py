"""Which language model the settings choose, and the errors if it is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings, load_settings
from finray.models import vllm_engine
from finray.models.load_chat import load_chat
from finray.models.openai_http import OpenAIChatModel
from finray.models.replay_cache import ReplayingChatModel
from finray.models.vllm_engine import shared_vllm


def test_a_server_unless_something_else_is_said() -> None:
    assert isinstance(load_chat(LlmSettings()), OpenAIChatModel)


def test_the_replay_cache_goes_around(tmp_path: Path) -> None:
    assert isinstance(load_chat(LlmSettings(replay_cache=str(tmp_path))), ReplayingChatModel)


def test_without_vllm_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelUnavailableError, match=r"Install finray\[vllm\]"):
        load_chat(LlmSettings(backend="vllm", model="someone/small"))


def test_engines_are_shared_by_users_of_one_model_and_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[LlmSettings] = []

    class Engine:
        closed = False

        def __init__(self, settings: LlmSettings) -> None:
            started.append(settings)

    monkeypatch.setattr(vllm_engine, "VllmChatModel", Engine)
    monkeypatch.setattr(vllm_engine, "_engines", {})
    one = LlmSettings(backend="vllm", model="acme/chat", revision="1" * 40)
    other = one.model_copy(update={"revision": "2" * 40})
    assert shared_vllm(one).engine is shared_vllm(one.model_copy(update={"temperature": 1.0})).engine
    assert shared_vllm(one).engine is not shared_vllm(other).engine
    assert started == [one, other]


@pytest.mark.parametrize("model", ["", "/nowhere", "./nowhere", "~/nowhere/model", "a/b/c"])
def test_a_folder_that_is_not_there(model: str) -> None:
    with pytest.raises(ModelUnavailableError, match="no such folder"):
        load_chat(LlmSettings(backend="vllm", model=model))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"config\.json"):
        load_chat(LlmSettings(backend="vllm", model=str(tmp_path)))


def test_the_preset_is_local_retrieval_with_a_model_in_this_process() -> None:
    settings, local = load_settings("vllm", environment={}), load_settings(environment={})
    assert settings.llm.backend == "vllm"
    assert (settings.retrieval, settings.encoder) == (local.retrieval, local.encoder)
    assert settings.index_hash() == local.index_hash(), "one index serves both presets"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"model": "other"}, False),
        ({"vllm": {"dtype": "float32"}}, False),
        ({"vllm": {"kv_cache_gb": 8.0, "gpu_memory_utilization": 0.5}}, True),
        ({"timeout_s": 5.0, "prompt_price": 3.0}, True),
        ({"base_url": "http://elsewhere"}, True),
    ],
)
def test_an_engine_is_known_by_what_changes_its_replies(changed: dict[str, Any], same: bool) -> None:
    engine = {"backend": "vllm", "model": "m"}
    one, other = LlmSettings.model_validate(engine), LlmSettings.model_validate(engine | changed)
    assert (one.identity() == other.identity()) is same
