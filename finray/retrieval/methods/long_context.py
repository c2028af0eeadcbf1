"""``long_context``: the language model reads the whole filing and answers, citing pages.

The alternative to retrieval in long-context question answering over filings, such as DocFinQA (arXiv 2401.06915) and
FinanceBench's "long context" (arXiv 2311.11944): the gold filing (``retrieval.oracle=document``), or the best
``methods.long_context.filings`` of the ``finray`` method's document stage. Pages after the end of the model's context
(``methods.long_context.context_tokens``) are left out, which the trace notes. The prompt is HiREC's chain of thought
(arXiv 2505.20368, table 20). It ranks no pages: its passages are those that the answer cites, in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import AnsweredPassages, DocumentRetriever
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel
from finray.retrieval.documents import StructuredDocuments
from finray.retrieval.flat import WholeIndex
from finray.retrieval.methods.asking import OVER_PASSAGES, Asker
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

CHARACTERS_PER_TOKEN = 3
"""Fewer than the usual four: figures take more tokens than words."""
_PROMPT_TOKENS = 500
"""Instructions and question."""
_PAGE_CHARACTERS = 90
"""Tags around a page."""


class FewDocuments:
    """At most ``limit`` of the documents of ``inner``."""

    def __init__(self, inner: DocumentRetriever, limit: int) -> None:
        self._inner = inner
        self._limit = limit

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        return await self._inner.documents(query, self._limit, journal)


class WholeFilings:
    """Reads as many pages of the documents as the context holds, from the first on, and answers."""

    def __init__(self, reader: IndexReader, chat: ChatModel, tokens: int) -> None:
        self._reader = reader
        self._chat = chat
        self._characters = max(tokens - _PROMPT_TOKENS, 0) * CHARACTERS_PER_TOKEN

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises SettingsError without a document stage, ModelReplyError if the reply has no conclusion."""
        if isinstance(documents, WholeIndex):
            raise SettingsError("long_context reads single filings; it needs retrieval.hierarchical = true")
        pages = self.pages(documents, journal)
        if not pages:
            missing = ("a filing that fits the question",)
            return AnsweredPassages((), Answer("Not answerable: no filing to read.", "unanswerable", missing=missing))
        answer = await Asker(self._chat, "long_context", journal).answer(OVER_PASSAGES, query.question, pages)
        return AnsweredPassages(answer.evidence, answer)

    def pages(self, documents: Sequence[Document], journal: Journal) -> list[Passage]:
        """The pages that the model reads, one filing after the other."""
        read: list[Passage] = []
        left = self._characters
        for document in documents:
            filing = document.filing
            rows = self._reader.pages([filing.filing_id], ["page", "text"]).to_pylist()
            fitting = 0
            for row in rows:
                left -= len(row["text"]) + _PAGE_CHARACTERS
                if left < 0:
                    break
                fitting += 1
                text = row["text"]
                read.append(Passage(filing.doc_name, filing.filing_id, row["page"], 0, len(text), text, 1.0))
            cut = (
                "" if fitting == len(rows) else f"; {len(rows) - fitting} pages do not fit the context and are left out"
            )
            journal.note(f"long_context: {filing.doc_name}: {fitting} of {len(rows)} pages{cut}")
        return read


def build(tools: Toolbox) -> Retrieval:
    chosen, settings = tools.settings.methods.long_context, tools.settings
    routed = StructuredDocuments(tools.reader, tools.encoder, tools.catalog)
    tokens = chosen.context_tokens - settings.generator.max_tokens
    return Retrieval(FewDocuments(routed, chosen.filings), WholeFilings(tools.reader, tools.generator_model(), tokens))
