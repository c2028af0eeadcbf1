from __future__ import annotations

from finray.models.encoder import QueryCache, Vectors
from finray.models.hash_encoder import HashEncoder


class Counting(HashEncoder):
    queries = 0

    def encode_query(self, text: str) -> Vectors:
        self.queries += 1
        return super().encode_query(text)


def test_a_question_is_encoded_once() -> None:
    encoder = Counting()
    cache = QueryCache(encoder)
    first = cache.encode_query("revenue")
    assert (cache.encode_query("revenue") == first).all()
    assert (first == HashEncoder().encode_query("revenue")).all()
    cache.encode_query("costs")
    assert encoder.queries == 2


def test_passages_and_dimension_are_those_of_the_encoder() -> None:
    encoder = HashEncoder(dimension=16)
    cache = QueryCache(encoder)
    assert cache.dimension == 16
    assert (cache.encode_passages(["a", "b"]) == encoder.encode_passages(["a", "b"])).all()
