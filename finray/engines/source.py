"""Describes what an engine's process opens. Parents import only this, children also the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from finray.core.settings import Settings

Role = Literal["encoder", "document_reranker", "passage_reranker", "chat", "answer_chat"]
Tables = Mapping[str, int]
"""One version of an index: the version of each table."""

OPENING: Final = "finray.engines.opening:opener"


@dataclass(frozen=True, slots=True)
class EngineSource:
    """``outside`` are the roles that the parent provides. ``opening`` names a function (``module:function``) that takes
    this and a :class:`finray.engines.outside.Outside` and returns a :data:`finray.engines.opening.Opener`."""

    index_uri: str
    settings: Settings
    outside: frozenset[Role] = frozenset()
    opening: str = OPENING
