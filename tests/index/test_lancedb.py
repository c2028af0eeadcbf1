"""An index is a LanceDB database: others read and search it without finray."""

from __future__ import annotations

from typing import Any

from finray.core.settings import Settings
from finray.index.reading.reader import IndexReader


def test_lancedb_finds_what_finray_finds(sample_index: str, local_settings: Settings) -> None:
    import lancedb  # over a second, in every process that collects the tests
    from lancedb.query import MatchQuery

    reader = IndexReader.open(sample_index, local_settings)
    database = lancedb.connect(sample_index)
    assert {"filings", "pages", "chunks", "facts"} <= set(database.list_tables().tables)
    chunks: Any = database.open_table("chunks")
    assert chunks.version == reader.versions["chunks"]
    place = ["filing_id", "page", "start"]

    vector = reader.chunks(None, ["vector"])["vector"][0].as_py()
    by_vector = chunks.search(vector, vector_column_name="vector").distance_type("dot").limit(5).to_arrow()
    assert by_vector.select(place).to_pylist() == (
        reader.search_chunks_vector(vector, None, 5).select(place).to_pylist()
    )
    match: Any = MatchQuery
    by_text = chunks.search(match("total revenue", "text"), query_type="fts").limit(5).to_arrow()
    ours = reader.search_chunks_text("total revenue", None, 5)
    assert sorted(by_text["_score"].to_pylist(), reverse=True) == ours["score"].to_pylist()
