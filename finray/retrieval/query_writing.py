"""Query writers replace the question as asked by what is searched for.

A first stage that searches for ``search_text`` or ``search_vector`` works with any writer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import PassageRetriever
from finray.models.encoder import Encoder, Vectors, passage_vectors, query_vector

QueryWriter = Callable[[Query, Journal], Awaitable[Query]]
"""The query to search with: another ``question``, or ``imagined`` passages."""


def search_text(query: Query) -> str:
    """The words to search for: the question and the imagined passages."""
    return " ".join(filter(None, (query.question, *query.imagined)))


async def search_vector(query: Query, encoder: Encoder) -> Vectors:
    """float32 [dimension], unit length: the question's vector, or the mean with those of the imagined passages."""
    if not query.imagined:
        return await query_vector(encoder, query.question)
    vectors = await passage_vectors(encoder, query.imagined)
    if query.question:
        vectors = np.vstack([vectors, await query_vector(encoder, query.question)])
    mean = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length else mean, dtype=np.float32)


class WrittenPassages:
    """The passages that ``inner`` finds for the query that ``write`` writes."""

    def __init__(self, inner: PassageRetriever, write: QueryWriter) -> None:
        self._inner = inner
        self._write = write

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return await self._inner.passages(await self._write(query, journal), documents, k, journal)
