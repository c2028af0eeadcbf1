"""LlamaIndex: finray's retrieval as a retriever of a query engine or an agent. Needs the extra ``llamaindex``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from finray.client import Client
from finray.core.errors import UsageError
from finray.core.extras import extra
from finray.core.filing_filter import FilingFilter
from finray.integrations.passages import passages_of

with extra("llamaindex", "finray.integrations.llamaindex"):
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

if TYPE_CHECKING:
    from finray.library import Index

_FOR_PROMPTS = ("citation", "period_end")
"""The metadata that a language model is shown."""


class FinrayRetriever(BaseRetriever):
    """Passages of filings as nodes with the metadata of :class:`finray.integrations.passages.CitedPassage`.

    ``source`` is an open index (``finray.open_index``) or a client of a service (``finray.client.Client``), ``k`` the
    number of nodes, ``filings`` those that they may come from. Raises UsageError if ``k`` is not positive.

    retriever = FinrayRetriever(finray.open_index("my-index"), k=5)
    """

    def __init__(
        self,
        source: Index | Client,
        *,
        k: int = 10,
        filings: FilingFilter | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        if k < 1:
            raise UsageError(f"k is the number of nodes: {k} is not positive")
        self._passages, self._k, self._filings = passages_of(source), k, filings
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._passages.find(query_bundle.query_str, self._k, self._filings)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=each.id,
                    text=each.text,
                    metadata=dict(each.metadata),
                    excluded_llm_metadata_keys=[name for name in each.metadata if name not in _FOR_PROMPTS],
                    start_char_idx=int(each.metadata["start"]),
                    end_char_idx=int(each.metadata["end"]),
                ),
                score=each.score,
            )
            for each in found
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
