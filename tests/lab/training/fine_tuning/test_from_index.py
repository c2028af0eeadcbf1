from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from finray.batch.question_files import read_questions
from finray.core.questions import GoldEvidence, Question
from finray.index.reading.reader import IndexReader
from finray.lab.training.fine_tuning.corpus import UnitKind
from finray.lab.training.fine_tuning.from_index import index_corpus


@pytest.fixture(scope="module")
def asked(sample_folder: Path) -> list[Question]:
    return [q for q in read_questions(str(sample_folder / "questions.jsonl")) if isinstance(q, Question)][:60]


@pytest.mark.parametrize("kind", ["pages", "passages"])
def test_gold_units_are_on_the_gold_page(reader: IndexReader, asked: list[Question], kind: UnitKind) -> None:
    corpus = index_corpus(reader, asked, kind, "sample")
    names = {filing.filing_id: filing.doc_name for filing in reader.filings()}
    evidence = {question.qid: question.evidence for question in asked}
    assert len(corpus.questions) > 10
    for question in corpus.questions:
        pages = {
            (names[unit.page.partition("#")[0]], int(unit.page.partition("#")[2]))
            for unit in corpus.gold_units(question)
        }
        assert pages <= {(gold.doc_name, gold.page) for gold in evidence[question.qid]}
        assert {unit.page for unit in corpus.gold_units(question)} <= question.spared
    assert len(corpus.questions) + len(corpus.left_out) == len(asked)


def test_the_most_similar_chunk_of_the_gold_page_is_gold(reader: IndexReader) -> None:
    chunks = reader.chunks(None, ["filing_id", "page", "start", "text"]).to_pylist()
    place = next((c["filing_id"], c["page"]) for c in chunks if c["start"] > 0)
    there = [chunk for chunk in chunks if (chunk["filing_id"], chunk["page"]) == place]
    for chunk in there:
        question = Question("q", chunk["text"][:400], evidence=(GoldEvidence(*place),))
        (asked,) = index_corpus(reader, [question], "passages", "s").questions
        assert asked.gold == (f"{place[0]}#{place[1]}#{chunk['start']}",)


def test_questions_with_evidence_in_text_teach_no_tables(reader: IndexReader, asked: list[Question]) -> None:
    question = next(q for q in asked if q.evidence)
    tables = replace(question, qid="table", question_type="numeric_table")
    text = replace(question, qid="text", question_type="numeric_text")
    corpus = index_corpus(reader, [tables, text], "passages", "s", gold_tables=True)
    assert [learned.qid for learned in corpus.questions] == ["table"]
    assert [(left.qid, left.reason) for left in corpus.left_out] == [("text", "its evidence is text")]


def test_unusable_questions_are_skipped_with_the_reason(reader: IndexReader) -> None:
    questions = [
        Question("none", "?"),
        Question("elsewhere", "?", evidence=(GoldEvidence("no-such-filing", 0),)),
        Question("too far", "?", evidence=(GoldEvidence(reader.filings()[0].doc_name, 9_999),)),
    ]
    corpus = index_corpus(reader, questions, "pages", "s")
    assert [(left.qid, left.reason) for left in corpus.left_out] == [
        ("none", "it has no evidence"),
        ("elsewhere", "no gold page is in the index"),
        ("too far", "no gold page is in the index"),
    ]


def test_gold_filings_without_a_page_are_left_out(reader: IndexReader) -> None:
    unpaged = Question("q", "What was revenue?", evidence=(GoldEvidence(reader.filings()[0].doc_name),))
    corpus = index_corpus(reader, [unpaged], "pages", "sample")
    assert [left.reason for left in corpus.left_out] == ["no gold page is in the index"]
