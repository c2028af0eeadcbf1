"""Features of the pages that a question needs."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.engine import Engine
from finray.index.reading.reader import IndexReader
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.filing_pages import PageCache
from finray.retrieval.page_features import FEATURES, PRESELECTED, asked_terms, page_candidates, unit_range

NAME = "grevandor-systems-2022-10k"
COLUMN = {name: at for at, name in enumerate(FEATURES)}


@pytest.fixture(scope="module")
def document(reader: IndexReader) -> Document:
    return next(Document(f, 1.0) for f in reader.filings() if f.doc_name == NAME)


async def test_features_of_text_and_place_are_shares(engine: Engine, reader: IndexReader, document: Document) -> None:
    query = await engine.roles.reader.read("What was Grevandor Systems' net income in fiscal 2022?", Journal())
    candidates = page_candidates(query, [document], PageCache(reader), HashEncoder())
    assert candidates.features.shape == (len(candidates.keys), len(FEATURES))
    assert len(candidates.keys) <= PRESELECTED
    shares = np.delete(candidates.features, [COLUMN["document"], COLUMN["item_affinity"]], axis=1)
    assert shares.min() >= 0
    assert shares.max() <= 1 + 1e-9


async def test_the_page_of_the_metric_is_implied(engine: Engine, reader: IndexReader, document: Document) -> None:
    query = await engine.roles.reader.read("What was Grevandor Systems' net income in fiscal 2022?", Journal())
    candidates = page_candidates(query, [document], PageCache(reader), HashEncoder())
    rows = dict(zip((page for _, page in candidates.keys), candidates.features, strict=True))
    statements = {
        row["page"]: row["statement"]
        for row in reader.pages([document.filing.filing_id], ["page", "statement"]).to_pylist()
    }
    for page, features in rows.items():
        assert features[COLUMN["implied"]] == (statements[page] == "income")
    income = next(page for page, statement in statements.items() if statement == "income")
    assert rows[income][COLUMN["years"]] == 1.0
    assert rows[income][COLUMN["words"]] > 0.5


async def test_each_filing_has_its_own_scale(engine: Engine, reader: IndexReader, document: Document) -> None:
    other = next(f for f in reader.filings() if f.doc_name == "grevandor-systems-2021-10k")
    query = await engine.roles.reader.read("What was Grevandor Systems' net income in fiscal 2022?", Journal())
    candidates = page_candidates(query, [document, Document(other, 0.4)], PageCache(reader), HashEncoder())
    for filing in (document.filing, other):
        rows = [at for at, (filing_id, _) in enumerate(candidates.keys) if filing_id == filing.filing_id]
        assert candidates.features[rows, COLUMN["dense_rank"]].max() == 1.0
        expected = 0.0 if filing is document.filing else -6.0
        assert candidates.features[rows, COLUMN["document"]] == pytest.approx(expected)


def test_no_page_no_candidate(reader: IndexReader) -> None:
    candidates = page_candidates(Query("q", "q"), [], PageCache(reader), HashEncoder())
    assert candidates.keys == ()
    assert candidates.features.shape == (0, len(FEATURES))


def test_names_of_companies_are_not_asked_for() -> None:
    query = Query("q", "What did Acme Robotics spend on robots?", names=("Acme Robotics",))
    assert asked_terms(query) == ["spend", "robot"]


def test_scaling() -> None:
    assert unit_range(np.asarray([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert unit_range(np.asarray([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert unit_range(np.asarray([])).tolist() == []
