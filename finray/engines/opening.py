"""Opens the engine of a child process, as its settings describe."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from finray.core.settings import RerankerSettings
from finray.engine import Engine, build_engine
from finray.engines.outside import Outside, OutsideChat, OutsideEncoder, OutsideReranker
from finray.engines.source import EngineSource, Tables
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder
from finray.models.encoder_loading import encoder_dimension, load_encoder
from finray.models.reranker import Reranker, load_reranker

Opener = Callable[[Tables | None], Engine]
"""Opens one version of the index, the latest for None. Raises FinrayError."""


def opener(source: EngineSource, outside: Outside) -> Opener:
    """Engines that share one encoder and call ``outside`` for the roles in ``source.outside``."""
    settings = source.settings
    chat = OutsideChat(outside, "chat") if "chat" in source.outside else None
    answer_chat = OutsideChat(outside, "answer_chat") if "answer_chat" in source.outside else None

    @cache
    def encoder() -> Encoder:
        if "encoder" in source.outside:
            return OutsideEncoder(outside, settings.encoder, encoder_dimension(settings.encoder))
        # One thread: a question has a few dozen tokens, and there is one engine per processor.
        return load_encoder(settings.encoder, threads=1)

    def reranker(chosen: RerankerSettings) -> Reranker:
        for role in ("document_reranker", "passage_reranker"):
            if role in source.outside and chosen == getattr(settings, role):
                return OutsideReranker(outside, role)
        return load_reranker(chosen)

    def open_version(tables: Tables | None) -> Engine:
        reader = IndexReader.open(source.index_uri, settings, tables)
        return build_engine(reader, settings, encoder=encoder(), chat=chat, answer_chat=answer_chat, rerankers=reranker)

    return open_version
