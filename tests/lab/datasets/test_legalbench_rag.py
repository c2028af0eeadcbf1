"""LegalBench-RAG's published layout: snippets by characters, and their scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from finray import index_filings, open_index, read_questions
from finray.batch.question_files import BadLine
from finray.cli import app
from finray.core.errors import IndexMismatchError, SourceError
from finray.core.passages import Passage
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.legalbench_rag import MINI, mini
from finray.lab.datasets.registry import load_dataset
from finray.lab.evaluation.evaluate import evaluate
from finray.lab.evaluation.metrics import span_scores

FILLER = "The parties act in good faith and bear their own costs. "
CLAUSES = {
    "Acme_Beta_NDA": "Confidential Information excludes what the recipient developed independently. ",
    "Gamma_Lease": "The tenant may renew this lease once for a term of five years. ",
    "Delta_License": "The license to the software is non-transferable and ends upon a change of control. ",
}
QUERIES = {
    "Acme_Beta_NDA": "Does the agreement exclude independently developed information from confidential information?",
    "Gamma_Lease": "May the tenant renew the lease, and for which term?",
    "Delta_License": "Is the license to the software transferable upon a change of control?",
}


def document(name: str) -> tuple[str, tuple[int, int]]:
    """A contract, and the span of the clause that the query is about."""
    head = f"{name.replace('_', ' ').upper()}\n\n"
    parts = [f"ARTICLE {number}\nGeneral Terms\n\n{FILLER * 20}\n\n" for number in range(1, 6)]
    text = head + "".join(parts[:3]) + CLAUSES[name] + "".join(parts[3:])
    start = text.index(CLAUSES[name])
    return text, (start, start + len(CLAUSES[name]))


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder in the layout of the download: corpus/ and benchmarks/cuad.json."""
    (tmp_path / "data/corpus/cuad").mkdir(parents=True)
    (tmp_path / "data/benchmarks").mkdir()
    for name in CLAUSES:
        (tmp_path / f"data/corpus/cuad/{name}.txt").write_text(document(name)[0])
    write(tmp_path, [test_of(name) for name in CLAUSES])
    return tmp_path / "data/benchmarks/cuad.json"


def test_of(name: str, *spans: tuple[int, int]) -> dict[str, Any]:
    text, span = document(name)
    snippets = [
        {"file_path": f"cuad/{name}.txt", "span": list(each), "answer": text[slice(*each)]} for each in spans or (span,)
    ]
    return {"query": QUERIES[name], "snippets": snippets}


test_of.__test__ = False  # type: ignore[attr-defined]


def write(folder: Path, tests: Sequence[object]) -> None:
    (folder / "data/benchmarks/cuad.json").write_text(json.dumps({"tests": tests}))


def questions(path: Path, name: str = "legalbench-rag") -> list[Question | BadLine]:
    return list(load_dataset(name, str(path)))


def documents_profile() -> Settings:
    own = {"encoder.model": "hash", "collection.profile": "documents", "index.in_process": True}
    return load_settings(overrides=own, environment={})


def test_a_snippet_is_a_section_and_its_characters(published: Path) -> None:
    first = questions(published)[0]
    assert isinstance(first, Question)
    (gold,) = first.evidence
    assert (first.qid, first.question_type, gold.doc_name) == ("cuad-1", "cuad", "Acme_Beta_NDA")
    assert gold.text == CLAUSES["Acme_Beta_NDA"] and gold.page


def test_a_snippet_across_sections_is_one_entry_each(published: Path) -> None:
    text, _ = document("Gamma_Lease")
    write(published.parents[2], [test_of("Gamma_Lease", (0, len(text)))])
    (question,) = questions(published)
    assert isinstance(question, Question)
    assert len(question.evidence) > 2
    assert "".join(gold.text or "" for gold in question.evidence) == text


def test_without_the_corpus_the_error_says_where_to_get_it(published: Path) -> None:
    for file in published.parents[1].rglob("*.txt"):
        file.unlink()
    (published.parents[1] / "corpus/cuad").rmdir()
    (published.parents[1] / "corpus").rmdir()
    with pytest.raises(SourceError, match=r"no corpus at .*README of github\.com/zeroentropy-ai/legalbenchrag"):
        questions(published)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"file_path": "../benchmarks/cuad.json"}, "not a file inside the corpus"),
        ({"file_path": "/etc/passwd"}, "not a file inside the corpus"),
        ({"file_path": "cuad/Other.txt"}, "which the corpus lacks"),
        ({"span": [5]}, "not a start and an end"),
        ({"span": [5, 5]}, "is none of"),
        ({"span": [0, 10**8]}, "is none of"),
        ({"span": ["x", 5]}, "not an index"),
    ],
)
def test_a_bad_snippet_is_reported_and_the_others_stay(published: Path, change: dict[str, Any], reason: str) -> None:
    bad = test_of("Gamma_Lease")
    bad["snippets"][0] |= change
    write(published.parents[2], [bad, test_of("Delta_License")])
    first, second = questions(published)
    assert isinstance(first, BadLine) and reason in first.reason
    assert isinstance(second, Question) and second.qid == "cuad-2"


def test_mini_takes_the_tests_of_few_documents() -> None:
    tests = [(n, {"snippets": [{"file_path": f"cuad/{n % 40}.txt"}]}) for n in range(1, 401)]
    chosen = mini([*tests, (401, 7)])
    assert len(chosen) == MINI
    assert len({number % 40 for number, _ in chosen}) == 20  # 19 whole documents and a part of one
    assert mini(tests[:3]) == tests[:3]


def test_contracts_are_indexed_and_scored_by_characters(published: Path, tmp_path: Path) -> None:
    settings = documents_profile()
    index = str(tmp_path / "index")
    summary = index_filings([str(published.parents[1] / "corpus")], index, settings)
    assert (summary.indexed, summary.failed, summary.marked) == (3, 0, ())
    target = str(tmp_path / "questions.jsonl")
    result = CliRunner().invoke(app, ["convert", "legalbench-rag", str(published), "--out", target])
    assert result.exit_code == 0, result.output
    asked = [question for question in read_questions(target) if isinstance(question, Question)]
    assert all(gold.start is not None for question in asked for gold in question.evidence)
    with open_index(index, settings) as opened:
        predictions = [replace(opened.ask(question.question), qid=question.qid) for question in asked]
    scores = evaluate(predictions, asked).metrics
    assert scores["span_recall@16"].value == scores["span_recall@64"].value == 1.0
    assert 0 < (scores["span_precision@16"].value or 0) < 0.2
    assert scores["context_span_recall"].n == 3
    reader = IndexReader.open(index, settings)
    ids = {filing.doc_name: filing.filing_id for filing in reader.filings()}
    for gold in (gold for question in asked for gold in question.evidence):
        assert gold.page is not None
        place = (ids[gold.doc_name], gold.page)
        assert reader.page_texts([place])[place][gold.start : gold.end] == gold.text


def test_files_of_one_name_in_two_folders_are_told_apart(published: Path, tmp_path: Path) -> None:
    corpus = published.parents[1] / "corpus"
    other = corpus / "maud" / "Gamma_Lease.txt"
    other.parent.mkdir()
    other.write_text("MERGER AGREEMENT\n\n" + document("Gamma_Lease")[0])
    index_filings([str(corpus)], str(tmp_path / "index"), documents_profile())
    ids = {
        Path(filing.source_uri).parent.name: filing.filing_id
        for filing in IndexReader.open(str(tmp_path / "index"), documents_profile()).filings()
        if filing.doc_name == "Gamma_Lease"
    }
    lease = next(q for q in questions(published) if isinstance(q, Question) and q.qid == "cuad-2")
    assert {gold.doc_name for gold in lease.evidence} == {ids["cuad"]} != {ids["maud"]}
    (gold,) = lease.evidence
    assert gold.page is not None and gold.start is not None and gold.end is not None
    found = [
        Passage("Gamma_Lease", ids[folder], gold.page, gold.start, gold.end, gold.text or "", 1.0)
        for folder in ("cuad", "maud")
    ]
    assert [span_scores([passage], lease.evidence)[1] for passage in found] == [1.0, 0.0]


def test_an_index_of_documents_is_not_opened_as_filings(published: Path, tmp_path: Path) -> None:
    index_filings([str(published.parents[1] / "corpus")], str(tmp_path / "index"), documents_profile())
    with pytest.raises(IndexMismatchError, match=r"built with profile documents.*settings are profile filings"):
        IndexReader.open(str(tmp_path / "index"), load_settings(overrides={"encoder.model": "hash"}, environment={}))
