"""Models outside of the engine's process: what one question awaits does not hold up another."""

from __future__ import annotations

import asyncio

import numpy as np

from finray.core.query import Query
from finray.core.settings import EncoderSettings
from finray.engines.messages import Call, Reply, ToParent
from finray.engines.outside import Outside, OutsideEncoder
from finray.models.encoder import QueryCache
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.query_writing import search_vector

DIMENSION = 8


class Parent:
    """Keeps calls until ``wanted`` of them wait, as a replica does that batches."""

    def __init__(self, wanted: int) -> None:
        self.outside = Outside(self._take)
        self.asked: list[list[str]] = []
        self._wanted, self._waiting = wanted, list[Call]()

    def _take(self, message: ToParent) -> None:
        assert isinstance(message, Call)
        self.asked.append(message.arguments[0])
        self._waiting.append(message)
        if len(self._waiting) == self._wanted:
            waiting, self._waiting = self._waiting, []
            for call in waiting:
                vectors = HashEncoder(DIMENSION).encode_passages(call.arguments[0])
                self.outside.replied(Reply(call.number, vectors))


def test_imagined_passages_of_several_questions_wait_together() -> None:
    parent = Parent(wanted=2)
    settings = EncoderSettings(query_prefix="query: ", passage_prefix="passage: ")
    encoder = QueryCache(OutsideEncoder(parent.outside, settings, DIMENSION))
    queries = [Query("", "", imagined=(f"Net sales rose in {year}.",)) for year in (2021, 2022)]

    async def both() -> list[np.ndarray]:
        return await asyncio.wait_for(asyncio.gather(*(search_vector(each, encoder) for each in queries)), 10)

    vectors = asyncio.run(both())
    assert parent.asked == [["passage: Net sales rose in 2021."], ["passage: Net sales rose in 2022."]]
    for query, vector in zip(queries, vectors, strict=True):
        alone = HashEncoder(DIMENSION).encode_passages([f"passage: {query.imagined[0]}"])[0]
        np.testing.assert_allclose(vector, alone, rtol=1e-6)
