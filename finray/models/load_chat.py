"""The language model that the settings name."""

from __future__ import annotations

from finray.core.settings import LlmSettings
from finray.models.chat import ChatModel
from finray.models.openai_http import OpenAIChatModel
from finray.models.replay_cache import ReplayingChatModel


def load_chat(settings: LlmSettings) -> ChatModel:
    """The model of ``settings.backend``, behind the replay cache where there is one.

    An engine in this process is started, which takes a while, unless it runs already. Raises ModelUnavailableError,
    SettingsError.
    """
    model = _backend(settings)
    return ReplayingChatModel(model, settings) if settings.replay_cache else model


def _backend(settings: LlmSettings) -> ChatModel:
    if settings.backend == "vllm":
        from finray.models.vllm_engine import shared_vllm

        return shared_vllm(settings)
    if settings.backend == "serve":
        from finray.cluster.serve_chat import ServeChatModel  # the only way that needs Ray

        return ServeChatModel(settings)
    return OpenAIChatModel(settings)
