"""Loads the language model of the settings."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from typing import Final

from finray.core.settings import LlmSettings
from finray.models.chat import ChatModel
from finray.models.replay_cache import ReplayingChatModel

_BACKENDS: Final = {
    "openai": "finray.models.openai_http:OpenAIChatModel",
    "vllm": "finray.models.vllm_engine:shared_vllm",
    "serve": "finray.cluster.serve_chat:ServeChatModel",
}
"""By name, so that vLLM and Ray are imported only if they are used."""


async def disconnect(model: ChatModel) -> None:
    """Close the connections of an HTTP client, which last no longer than the running event loop. Other models stay."""
    from finray.models.openai_http import OpenAIChatModel

    client = model.inner if isinstance(model, ReplayingChatModel) else model
    if isinstance(client, OpenAIChatModel):
        await client.close()


def load_chat(settings: LlmSettings) -> ChatModel:
    """The model of ``settings.backend``, behind the replay cache if there is one.

    The backend "vllm" starts an engine in this process unless one is running, which takes a while. Raises
    ModelUnavailableError, SettingsError.
    """
    backend: Callable[[LlmSettings], ChatModel] = pkgutil.resolve_name(_BACKENDS[settings.backend])
    model = backend(settings)
    return ReplayingChatModel(model, settings) if settings.replay_cache else model
