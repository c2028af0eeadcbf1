"""LangChain: finray's retrieval as a retriever of a chain or an agent. Needs the extra ``langchain``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field, PrivateAttr

from finray.core.extras import extra
from finray.core.filing_filter import FilingFilter
from finray.integrations.passages import PassageSource, passages_of

with extra("langchain", "finray.integrations.langchain"):
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun


class FinrayRetriever(BaseRetriever):
    """Passages of filings as documents with the metadata of
    :class:`finray.integrations.passages.CitedPassage`. ``invoke`` takes ``k`` and ``filings`` too.

    retriever = FinrayRetriever(source=finray.open_index("my-index"), k=5)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    source: Any = Field(exclude=True, repr=False)
    """An open index (``finray.open_index``) or a client of a service (``finray.client.Client``)."""
    k: int = Field(10, ge=1, le=100)
    """Number of documents."""
    filings: FilingFilter | None = None
    """The filings that they may come from; None: all."""
    _passages: PassageSource = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        self._passages = passages_of(self.source)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        filings: FilingFilter | None = None,
    ) -> list[Document]:
        found = self._passages.find(query, self.k if k is None else k, filings or self.filings)
        return [Document(id=each.id, page_content=each.text, metadata=dict(each.metadata)) for each in found]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun | None = None,
        k: int | None = None,
        filings: FilingFilter | None = None,
    ) -> list[Document]:
        return await asyncio.to_thread(self._get_relevant_documents, query, k=k, filings=filings)
