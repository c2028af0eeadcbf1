"""What an engine's process opens. Light: parents import it, and only children the engine itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from finray.core.settings import Settings

Role = Literal["encoder", "document_reranker", "passage_reranker", "chat"]
Tables = Mapping[str, int]
"""The version of each table: one version of an index."""

OPENING: Final = "finray.engines.opening:opener"


@dataclass(frozen=True, slots=True)
class EngineSource:
    """``outside`` are the roles that the parent is asked for. ``opening`` names the function (``module:function``) that
    the child calls with this and :class:`finray.engines.outside.Outside` for a ``finray.engines.opening.Opener``."""

    index_uri: str
    settings: Settings
    outside: frozenset[Role] = frozenset()
    opening: str = OPENING
