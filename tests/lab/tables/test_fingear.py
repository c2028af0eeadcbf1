"""FinGEAR's tables over the sample: measured by rules, gaps for what is missing, published figures beside."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.core.bootstrap import Estimate
from finray.core.errors import ModelUnavailableError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.index.job.in_process import index_in_process
from finray.lab.tables import fingear_published as published
from finray.lab.tables.fingear import accuracy
from finray.lab.tables.paper_table import Gap, PaperTable
from finray.lab.tables.registry import SYSTEMS, paper_tables
from finray.lab.tables.request import Request
from finray.models.chat import Message
from tests.scripted_chat import ScriptedChatModel

SETTINGS = {
    "encoder.model": "hash",
    "llm.base_url": "http://127.0.0.1:9/v1",
    "methods.fingear.reduction": "spectral",
    "methods.fingear.dimension": 2,
    "methods.raptor.reduction": "spectral",
    "methods.raptor.max_clusters": 2,
    "methods.raptor.layers": 1,
}


@pytest.fixture(scope="module")
def request_(
    sample_folder: Path, sample_questions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Request:
    """Two annual reports, and questions about them."""
    folder = tmp_path_factory.mktemp("fingear")
    reports = sorted((sample_folder / "filings").glob("*10k*"))[:2]
    settings = load_settings(overrides=SETTINGS, environment={})
    index_in_process([str(path) for path in reports], str(folder / "index"), settings)
    names = {path.stem for path in reports}
    chosen = [q for q in sample_questions if {one["doc_name"] for one in q.get("evidence", ())} & names][:4]
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(question) + "\n" for question in chosen), "utf-8")
    return Request([str(questions)], str(folder / "index"), overrides=SETTINGS, out=str(folder / "out"))


@pytest.fixture(autouse=True)
def one_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """One k instead of three: each run opens an engine."""
    monkeypatch.setattr("finray.lab.tables.fingear.DEPTHS", (5,))


def made(request: Request, *numbers: str, **overrides: Any) -> list[PaperTable]:
    chosen = Request(
        request.questions,
        request.index,
        overrides={**request.overrides, **overrides},
        out=request.out,
        only=numbers,
    )
    return list(paper_tables("fingear", chosen, lambda done, total, note: None))


def remark(table: PaperTable, start: str) -> str:
    return next(note for note in table.notes if note.startswith(start))


@pytest.mark.slow
def test_rows_are_measured_and_what_is_missing_is_a_gap(request_: Request) -> None:
    (table,) = made(request_, "1")
    rows = {row.label: row for row in table.rows}
    assert rows["FinGEAR (no reranker), by rules"].published[0] == 0.79
    for label in ("General RAG", "RAPTOR", "FinGEAR (no reranker)"):
        for pool in ("", ", in the gold filing"):
            assert isinstance(rows[f"{label}{pool}, by rules"].cells[0], Estimate), label
    for label, reason in (("GraphRAG", "no retrieval method"), ("Self-RAG", "no language model")):
        gap = rows[f"{label}, by rules"].cells[0]
        assert isinstance(gap, Gap) and reason in gap.reason
    assert any("without a reranker" in note for note in table.notes)
    assert any("nothing is judged: no language model" in note for note in table.notes)
    assert "RAPTOR chunks of 1,024 characters, FinGEAR whole pages" in remark(table, "a passage is")
    assert "General RAG 5.0; RAPTOR 5.0; FinGEAR" in remark(table, "mean number of passages")


def test_self_rag_keeps_what_the_model_grades_relevant_and_a_judge_that_fails_is_a_gap(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies: dict[str, Any] = {"`relevancy`": {"relevant": [1], "relevancy": 1}, "`supported`": "I cannot say."}
    graded = itertools.cycle(["[Relevant]", "[Irrelevant]"])

    def script(messages: Sequence[Message]) -> str | dict[str, object]:
        asked = messages[0].content
        found = next((reply for part, reply in replies.items() if part in asked), None)
        if isinstance(found, Exception):
            raise found
        return found or (next(graded) if "need not be strict" in asked else "yes")

    model = ScriptedChatModel(script)
    for place in ("finray.lab.tables.runs", "finray.engine", "finray.lab.tables.fingear"):
        monkeypatch.setattr(f"{place}.load_chat", lambda settings: model)
    self_rag = [system for system in published.SYSTEMS if system.label == "Self-RAG"]
    monkeypatch.setattr("finray.lab.tables.fingear_published.SYSTEMS", self_rag)
    (table,) = made(request_, "1")
    rows = {row.label: row.cells for row in table.rows}
    assert isinstance(rows["Self-RAG, by rules"][0], Estimate)
    assert "Self-RAG 2.5" in remark(table, "mean number of passages")
    assert remark(table, "8 of 8 lists of passages unjudged")

    replies["`supported`"] = {"statements": ["It was five."], "supported": [1]}
    (table,) = made(request_, "1")
    judged = {row.label: row.cells for row in table.rows}["Self-RAG, judged"]
    assert [cell.value for cell in judged if isinstance(cell, Estimate)][1:] == [1.0, 0.5]
    assert not any("unjudged" in note for note in table.notes)

    replies["`supported`"] = ModelUnavailableError("HTTP 400: the prompt is too long")
    (table,) = made(request_, "1")
    cell = {row.label: row.cells for row in table.rows}["Self-RAG, judged"][0]
    assert isinstance(cell, Gap) and "HTTP 400" in cell.reason


def test_answers_without_a_reader_are_gaps(request_: Request) -> None:
    (table,) = made(request_, "3")
    assert all(isinstance(cell, Gap) for row in table.rows for cell in row.cells)


@pytest.mark.parametrize(("answer", "right"), [("Yes, it rose.", 1.0), ("No.", 0.0), ("It rose.", 0.0)])
def test_yes_and_no_are_right_or_wrong(answer: str, right: float) -> None:
    asked = Question("q", "Did revenue rise?", answer="yes")
    assert accuracy(asked, Prediction("q", asked.question, answer, "answered")) == right
    assert accuracy(Question("q", "What is sold?", answer="Robots"), Prediction("q", "?", answer, "answered")) is None


def test_trees_are_described_as_the_paper_describes_its_own(request_: Request) -> None:
    (times,) = made(request_, "9")  # builds the trees
    found = {row.label: list(row.cells) for row in times.rows}
    assert isinstance(found["question, k=5"][0], Estimate) and isinstance(found["question, k=5"][1], Gap)
    assert isinstance(found["question, average"][0], Estimate)
    seconds, dollars = found["trees of a filing"]
    assert isinstance(seconds, float) and seconds > 0 and dollars == 0.0
    (table,) = made(request_, "6")
    rows = {row.label: list(row.cells) for row in table.rows}
    assert [*rows] == [*published.STATISTICS]
    assert rows["Tree depth (max)"][0] == 1.0 or rows["Tree depth (max)"][2] == 2.0
    for label in ("Leaf node count", "Document count", "Tokens per query"):
        low, mean, high = rows[label]
        assert isinstance(low, float) and isinstance(mean, float) and isinstance(high, float)
        assert 0 < low <= mean <= high
    assert isinstance(rows["Seconds of trees, one processor"][1], float)


def test_the_reranker_is_an_ablation_if_there_is_one(request_: Request) -> None:
    (table,) = made(request_, "2", **{"passage_reranker.model": "overlap"})
    rows = {row.label: row.cells[0] for row in table.rows}
    assert isinstance(rows["Full FinGEAR, by rules"], Estimate) and isinstance(rows["No Reranker, by rules"], Estimate)
    assert not any("without a reranker" in note for note in table.notes)


def test_its_preset_has_the_papers_models_and_chunks() -> None:
    chosen = load_settings("fingear", environment={})
    assert (chosen.chunks.unit, chosen.chunks.size, chosen.chunks.overlap) == ("tokens", 2000, 100)
    assert (chosen.methods.fingear.leaves, chosen.methods.fingear.writer) == ("chunks", "llm")
    assert chosen.encoder.model == "FinLang/finance-embeddings-investopedia"
    assert chosen.passage_reranker.model == "BAAI/bge-reranker-large" and chosen.llm.model == "gpt-4o-mini"


def test_every_table_has_a_number() -> None:
    assert SYSTEMS["fingear"].numbers == ("1", "2", "3", "4", "5", "6", "8", "9", "10")
