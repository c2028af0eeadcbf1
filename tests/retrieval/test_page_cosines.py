"""Cosines from kept vectors are those of an exact search."""

from __future__ import annotations

import pytest

from finray.index.reading.reader import IndexReader
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.page_cosines import PageCosines


@pytest.mark.parametrize("cache_bytes", [1, 10_000_000])
def test_the_nearest_pages_are_those_of_an_exact_search(reader: IndexReader, cache_bytes: int) -> None:
    cosines = PageCosines(reader, cache_bytes)
    ids = [filing.filing_id for filing in reader.filings()]
    for text, within in (("net income", ids[:1]), ("dividends of the year", ids[3:0:-1]), ("net income", ids)):
        vector = HashEncoder().encode_query(text)
        for limit in (3, 10_000):
            hits = reader.search_pages_vector(vector, within, limit)
            owners, scores = cosines.nearest(vector, within, limit)
            assert scores == pytest.approx(hits["score"].to_pylist(), abs=1e-6)
            assert sorted(owners) == sorted(hits["filing_id"].to_pylist()) or limit == 3


def test_no_filing_has_no_page(reader: IndexReader) -> None:
    assert PageCosines(reader).nearest(HashEncoder().encode_query("x"), ["no such filing"], 5) == ([], [])
