from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import IndexMismatchError, IndexMissingError
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.reading.reader import IndexReader
from finray.models.hash_encoder import HashEncoder


@pytest.fixture(scope="module")
def index_uri(sample_filings: Path, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = str(tmp_path_factory.mktemp("index"))
    index_in_process([str(sample_filings)], uri, settings)
    return uri


@pytest.fixture(scope="module")
def reader(index_uri: str) -> IndexReader:
    return IndexReader.open(index_uri)


def test_without_an_index_the_error_shows_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="finray index SOURCE --index"):
        IndexReader.open(str(tmp_path))


def test_a_record_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text('{"format_version": 999}')
    with pytest.raises(IndexMismatchError, match="format 999"):
        IndexReader.open(str(tmp_path))


def test_filings_come_back_as_they_were_read(reader: IndexReader) -> None:
    filings = reader.filings()
    assert [filing.filing_id for filing in filings] == sorted(filing.filing_id for filing in filings)
    annual = [filing for filing in filings if filing.form == "10-K"]
    assert annual and all(filing.provenance and isinstance(filing.period_end, dt.date) for filing in annual)


def test_covers_are_found_by_the_vectors_of_their_summaries(reader: IndexReader) -> None:
    encoder, summaries = HashEncoder(), reader.cover_summaries()
    ids, vectors = list(summaries), encoder.encode_passages(list(summaries.values()))
    query = encoder.encode_query("annual report 2022")
    found = reader.search_covers_vector(query, 5)
    scores = dict(zip(ids, (vectors @ query).tolist(), strict=True))
    assert found["score"].to_pylist() == pytest.approx(sorted(scores.values(), reverse=True)[:5], abs=1e-6)
    assert [scores[i] for i in found["filing_id"].to_pylist()] == pytest.approx(found["score"].to_pylist(), abs=1e-6)
    assert reader.search_covers_vector(query, 1000).num_rows == len(ids)


def test_chunks_are_slices_of_their_pages(reader: IndexReader) -> None:
    filing_id = reader.filings()[0].filing_id
    pages = {row["page"]: row["text"] for row in reader.pages([filing_id]).to_pylist()}
    for row in reader.chunks([filing_id]).to_pylist():
        assert pages[row["page"]][row["start"] : row["end"]] == row["text"]
        assert np.linalg.norm(row["vector"]) == pytest.approx(1.0, abs=1e-5)


def test_page_vectors_are_the_mean_direction_of_their_chunks(reader: IndexReader) -> None:
    filing_id = next(f.filing_id for f in reader.filings() if f.form == "10-K")
    pages = reader.pages([filing_id], ["page", "vector"]).to_pylist()
    chunks = reader.chunks([filing_id]).to_pylist()
    for page in pages:
        vectors = [chunk["vector"] for chunk in chunks if chunk["page"] == page["page"]]
        mean = np.sum(vectors, axis=0)
        np.testing.assert_allclose(page["vector"], mean / np.linalg.norm(mean), atol=1e-5)


def test_vector_search_agrees_with_numpy(reader: IndexReader) -> None:
    ids = [filing.filing_id for filing in reader.filings()][:3]
    query = HashEncoder().encode_query("total revenue of the year")
    found = reader.search_chunks_vector(query, ids, 10)
    chunks = reader.chunks(ids)
    vectors = np.asarray(chunks["vector"].combine_chunks().flatten()).reshape(chunks.num_rows, -1)
    np.testing.assert_allclose(found["score"].to_numpy(), np.sort(vectors @ query)[::-1][:10], atol=1e-5)


def test_text_search_keeps_to_the_filings_asked_for(reader: IndexReader) -> None:
    filing = next(f for f in reader.filings() if f.form == "10-K")
    for search in (reader.search_chunks_text, reader.search_pages_text):
        hits = search("revenue", [filing.filing_id], 50)
        assert hits.num_rows and set(hits["filing_id"].to_pylist()) == {filing.filing_id}
        scores = hits["score"].to_pylist()
        assert scores == sorted(scores, reverse=True)
    texts = reader.pages([filing.filing_id], ["page", "text"]).to_pylist()
    best = reader.search_pages_text("revenue", [filing.filing_id], 1)["page"][0].as_py()
    assert "revenue" in next(row["text"] for row in texts if row["page"] == best).lower()


@pytest.mark.parametrize("query", ["", "   ", "zzqx", '"', "a AND (b OR", "'; DROP TABLE chunks; --", "💸" * 500, "\0"])
def test_any_text_can_be_searched_for(reader: IndexReader, query: str) -> None:
    assert reader.search_chunks_text(query, None, 5).num_rows <= 5


def test_filing_ids_are_data(reader: IndexReader) -> None:
    for filing_id in ("nope", "x' OR '1'='1", "\\"):
        assert reader.chunks([filing_id]).num_rows == 0
        assert reader.search_chunks_text("revenue", [filing_id], 5).num_rows == 0
    assert reader.chunks([]).num_rows == 0 and reader.chunks([]).column_names == reader.chunks(None).column_names
    assert reader.search_pages_vector(HashEncoder().encode_query("x"), [], 5).column_names[-1] == "score"


def test_line_items_come_back_as_they_were_read(reader: IndexReader, sample_filings: Path, settings: Settings) -> None:
    from finray.filings.read import parse_filing

    filing = next(f for f in reader.filings() if f.form == "10-K")
    parsed = parse_filing(Path(filing.source_uri).read_bytes(), filing.source_uri, settings.filings)
    stored = reader.line_items([filing.filing_id])[filing.filing_id]
    assert stored and sorted(map(repr, stored)) == sorted(map(repr, parsed.line_items))
    assert filing == parsed.filing


def test_tables_come_back_whole(reader: IndexReader, settings: Settings) -> None:
    from finray.filings.read import parse_filing

    filing = next(f for f in reader.filings() if f.form == "10-K")
    parsed = parse_filing(Path(filing.source_uri).read_bytes(), filing.source_uri, settings.filings)
    places = [(filing.filing_id, page.page) for page in parsed.pages]
    found = reader.tables_at(places)
    assert tuple(dict.fromkeys(table for place in places for table in found[place])) == parsed.tables
    assert any(row.is_heading for table in parsed.tables for row in table.rows)


def test_the_parser_process_reads_as_the_parser_does(sample_filings: Path, settings: Settings) -> None:
    from finray.filings.read import parse_filing
    from finray.index.writing.bundle import from_bytes, make_bundle

    path = sorted(sample_filings.iterdir())[0]
    parser = ParserProcess(settings.filings, settings.chunks)
    try:
        made = from_bytes(parser.parse(path.read_bytes(), str(path)).bundle)
    finally:
        parser.close()
    direct = make_bundle(parse_filing(path.read_bytes(), str(path), settings.filings), settings.chunks)
    assert (made.filing, made.summary) == (direct.filing, direct.summary)
    assert made.pages == direct.pages and made.chunks == direct.chunks and made.facts == direct.facts
