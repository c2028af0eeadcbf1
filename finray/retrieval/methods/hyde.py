"""``hyde``: search with the vector of a passage that a language model imagines.

Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels" (arXiv 2212.10496). The search vector is the
mean of the vectors of the question and the imagined passages (equation 8). The paper samples several passages at
temperature 0.7; at the low temperature of a batch job samples are nearly equal, so one is the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.types import Document, Passage
from finray.index.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.conversation import conversation
from finray.models.encoder import Encoder
from finray.retrieval.flat import AllDocuments, chunk_passages, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

INSTRUCTIONS: Final = (
    "You write text that could stand in an SEC filing. Write {passages} that would answer the user's question, in the "
    "wording and layout of an annual or quarterly report{variety}. Name the company and the period. Invent figures "
    "where you do not know them: they serve to search, nobody reads them. At most 150 words a passage."
)
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"passages": {"type": "array", "items": {"type": "string"}}},
    "required": ["passages"],
    "additionalProperties": False,
}


class HypotheticalPassages:
    """The chunks nearest to the mean vector of ``count`` imagined passages from one call; the journal counts its tokens
    under ``stage``."""

    def __init__(
        self, reader: IndexReader, encoder: Encoder, chat: ChatModel, stage: str, count: int, *, with_question: bool
    ) -> None:
        self._reader = reader
        self._encoder = encoder
        self._chat = chat
        self._stage = stage
        self._count = count
        self._with_question = with_question
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        imagined = await self._imagine(query.question, journal)
        vectors = self._encoder.encode_passages(imagined)
        if self._with_question:
            vectors = np.vstack([vectors, self._encoder.encode_query(query.question)])
        mean = vectors.mean(axis=0)
        length = float(np.linalg.norm(mean))
        vector = np.asarray(mean / length if length else mean, dtype=np.float32)
        hits = self._reader.search_chunks_vector(vector, scope(documents), k, texts=True)
        return chunk_passages(hits, self._names)

    async def _imagine(self, question: str, journal: Journal) -> list[str]:
        reply = await self._chat.chat(conversation(_instructions(self._count), question), schema=SCHEMA)
        journal.spend(self._stage, reply.usage)
        texts = _texts(reply.parsed, self._stage)[: self._count]
        journal.note(f"{self._stage}: {len(texts)} imagined; the first: {excerpt(texts[0], 120)!r}")
        return texts


def _instructions(count: int) -> str:
    if count == 1:
        return INSTRUCTIONS.format(passages="one passage", variety="")
    variety = ", each as another part of the report would state it (statement, note, discussion)"
    return INSTRUCTIONS.format(passages=f"{count} different passages", variety=variety)


def _texts(parsed: Mapping[str, Any] | None, stage: str) -> list[str]:
    passages = (parsed or {}).get("passages")
    if not isinstance(passages, list) or not all(isinstance(text, str) for text in passages):
        raise ModelReplyError(f"{stage}: the reply's 'passages' is not a list of texts: {excerpt(repr(passages), 120)}")
    texts = [text for text in passages if text.strip()]
    if not texts:
        raise ModelReplyError(f"{stage}: the reply has no passage")
    return texts


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.hyde
    passages = HypotheticalPassages(
        tools.reader, tools.encoder, tools.chat_model(), "hyde", chosen.passages, with_question=chosen.with_question
    )
    return Retrieval(AllDocuments(tools.reader), passages)
