"""Document retrieval over the sample: look-alike filings of three companies and three years."""

from __future__ import annotations

import pytest

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.engine import Engine
from finray.index.reading.reader import IndexReader


async def structured(engine: Engine, question: str, k: int = 5) -> list[Document]:
    journal = Journal()
    query = await engine.roles.reader.read(question, journal)
    return list(await engine.roles.documents.documents(query, k, journal))


def names(documents: list[Document]) -> list[str]:
    return [document.filing.doc_name for document in documents]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What was Caldavale Outfitters' net income in fiscal 2022?", "caldavale-outfitters-2022-10k"),
        ("What was CLDVC's net income in fiscal 2021?", "caldavale-cloudworks-2021-10k"),
        ("What was Grevandor Systems' revenue in Q2 of fiscal 2023?", "grevandor-systems-2023-q2-10q"),
        ("What net income did Grevandor Systems report for FY2021 in its 10-K/A?", "grevandor-systems-2021-10ka"),
        ("What net income did Grevandor Systems report for FY2021?", "grevandor-systems-2021-10k"),
        ("What did Grevandor Systems report in its 8-K dated May 22, 2023?", "grevandor-systems-8k-2023-05-22"),
    ],
)
async def test_company_period_and_form_choose_the_filing(engine: Engine, question: str, best: str) -> None:
    documents = await structured(engine, question)
    assert documents[0].filing.doc_name == best
    assert [d.score for d in documents] == sorted((d.score for d in documents), reverse=True)
    assert documents[0].reasons


async def test_no_company_of_a_comparison_crowds_out_another(engine: Engine) -> None:
    question = "Compare the revenue of Grevandor Systems and Caldavale Outfitters in fiscal 2022"
    documents = names(await structured(engine, question, k=4))
    assert set(documents[:2]) == {"grevandor-systems-2022-10k", "caldavale-outfitters-2022-10k"}
    assert {name.split("-")[0] for name in documents[2:]} == {"grevandor", "caldavale"}


async def test_a_company_that_is_not_there_has_no_documents(engine: Engine) -> None:
    assert await structured(engine, "What was Zorblax Corporation's revenue in fiscal 2022?") == []


async def test_without_a_company_every_filing_competes(engine: Engine) -> None:
    documents = await structured(engine, "Which filing tells of a complaint about two patents on document routing?")
    assert len(documents) == 5
    assert any(name.startswith("caldavale-cloudworks") for name in names(documents))


@pytest.mark.parametrize("k", [1, 3, 1000])
async def test_at_most_k_each_once(engine: Engine, reader: IndexReader, k: int) -> None:
    found = names(await structured(engine, "Grevandor Systems, Caldavale Outfitters and Caldavale Cloudworks", k=k))
    assert len(found) == len(set(found)) <= min(k, len(reader.filings()))


@pytest.mark.parametrize(
    "question",
    [
        "Which filing tells of a complaint about two patents on document routing?",
        "Which companies paid a dividend in fiscal 2022?",
        "Which 10-Q for the second quarter of 2023 mentions a credit agreement?",
        "Who announced something in an 8-K dated May 22, 2023?",
    ],
)
async def test_without_a_company_few_are_looked_at_and_none_is_missed(engine: Engine, question: str) -> None:
    everything = await structured(engine, question, k=1000)
    assert len(everything) == len(engine.reader.filings())
    assert [d.score for d in everything] == sorted((d.score for d in everything), reverse=True)
    for k in (1, 3, 7):
        assert await structured(engine, question, k=k) == everything[:k]
