"""`finray build-lofin` from an index and published files to question files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from finray.batch.question_files import read_questions
from finray.cli import app
from finray.core.errors import SourceError
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.index.reading.reader import IndexReader
from finray.models.chat import Message
from tests.scripted_chat import ScriptedChatModel

UNPAGED = "<html><body>" + "<p>Form 10-K without any page breaks, of Longpage Inc.</p>" * 900 + "</body></html>"


@pytest.fixture(scope="module")
def index(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The annual reports of the sample, and a file without pages, indexed by the command itself."""
    folder = tmp_path_factory.mktemp("lofin")
    unpaged = folder / "LONGPAGE_2020_10K.html"
    unpaged.write_text(UNPAGED)
    reports = sorted((sample_folder / "filings").glob("*-10k.htm"))
    own = ("--set", "encoder.model=hash", "--set", "index.in_process=true", "--secqa", 0)
    result = build(str(folder / "index"), folder / "none", *reports, unpaged, *own)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1])["documents"] == len(reports)
    return str(folder / "index")


@pytest.fixture(scope="module")
def published(index: str, tmp_path_factory: pytest.TempPathFactory, local_settings: Settings) -> tuple[Path, Path]:
    """FinQA and FinanceBench as published, about pages of the index."""
    reader = IndexReader.open(index, local_settings)
    filing = next(filing for filing in reader.filings() if filing.ticker and filing.fiscal_year)
    pages = reader.pages([filing.filing_id], ["page", "text"]).to_pylist()
    numbered = max(pages, key=lambda page: sum(character.isdigit() for character in page["text"]))
    lines = numbered["text"].splitlines()
    rows = [line.split(" | ") for line in lines if " | " in line]
    prose = [line for line in lines if " | " not in line and len(line.split()) > 4]
    other = next(page for page in pages if page["page"] != numbered["page"] and len(page["text"].split()) > 60)

    def record(number: int, year: object, pre_text: list[str], table: list[list[str]]) -> dict[str, Any]:
        gold = {"table_1": "row 1"} if table else {"text_0": "sentence"}
        return {
            "id": f"{filing.ticker}/{year}/page_7.pdf-{number}", "pre_text": pre_text, "post_text": [], "table": table,
            "qa": {"question": f"what was the total of row {number}?", "answer": "12%", "program": "", "exe_ans": 0.12,
                   "gold_inds": gold},
        }  # fmt: skip

    folder = tmp_path_factory.mktemp("published")
    own_prose = prose or [" ".join(lines)]
    finqa = [
        record(1, filing.fiscal_year, own_prose, rows),
        record(2, filing.fiscal_year, other["text"].splitlines(), rows),
        record(3, 1950, own_prose, rows),
        {"id": "broken"},
    ]
    (folder / "test.json").write_text(json.dumps(finqa))
    evidence = {"evidence_text": numbered["text"], "doc_name": filing.doc_name, "evidence_page_num": numbered["page"]}
    bench = {"financebench_id": "fb_1", "question": "What changed?", "answer": "It grew.", "evidence": [evidence]}
    (folder / "bench.jsonl").write_text(json.dumps(bench) + "\n")
    return folder / "test.json", folder / "bench.jsonl"


def build(index: str, out: Path, *arguments: object) -> Result:
    command = ["build-lofin", "--index", index, "--out", out, "--json", *arguments]
    return CliRunner().invoke(app, [str(argument) for argument in command])


def written(out: Path, part: str, split: str = "test") -> list[Question]:
    return [line for line in read_questions(str(out / part / f"{split}.jsonl")) if isinstance(line, Question)]


@pytest.mark.slow
def test_from_published_files_to_parts(index: str, published: tuple[Path, Path], tmp_path: Path) -> None:
    finqa, bench = published
    result = build(index, tmp_path, "--finqa", finqa, "--financebench", bench, "--secqa", 4)
    assert result.exit_code == 1, result.output  # one bad record
    summary = json.loads(result.stdout.splitlines()[-1])
    assert [bad["record"] for bad in summary["bad_records"]] == [4]
    by_source = {source: [q for part in ("numeric_table", "numeric_text", "textual") for q in written(tmp_path, part)
                          if q.source == source] for source in ("finqa", "financebench", "secqa")}  # fmt: skip
    (made,) = by_source["finqa"]
    assert made.qid.endswith("-1") and "According to" in made.question and made.question_type == "numeric_table"
    (kept,) = by_source["financebench"]
    assert (kept.question, kept.question_type) == ("What changed?", "textual")
    assert made.evidence[0].page == kept.evidence[0].page
    assert len(by_source["secqa"]) == 16
    assert all(len({gold.doc_name for gold in q.evidence}) > 1 for q in written(tmp_path, "multi_document"))
    assert summary["agreement"]["accepted and right"]["value"] == 1.0
    unresolved = [json.loads(line) for line in (tmp_path / "unresolved.jsonl").read_text().splitlines()]
    assert {line["qid"].rpartition("-")[2]: line["reason"].partition(":")[0] for line in unresolved} == {
        "2": "the methods differ", "3": "not in the index",
    }  # fmt: skip
    (aside,) = [json.loads(line) for line in (tmp_path / "set_aside.jsonl").read_text().splitlines()]
    assert (aside["reason"], summary["set_aside"]) == ("no_page_breaks", 1)
    documents = [json.loads(line) for line in (tmp_path / "documents.jsonl").read_text().splitlines()]
    assert len(documents) == summary["documents"] and all(each["pages"] > 1 for each in documents)


@pytest.mark.parametrize(
    ("arguments", "by"),
    [((), "rules"), (("--set", "llm.model=qwen"), "llm"), (("--set", "llm.model=qwen", "--rewrite", "rules"), "rules")],
)
def test_a_language_model_rewrites_if_one_is_set(
    index: str,
    published: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str],
    by: str,
) -> None:
    def reply(messages: Sequence[Message]) -> str:
        company, year = re.findall(r"company ticker: .*\((.*)\)\n- document_period: (\d+)", messages[0].content)[0]
        return f"##new_question: What total did {company} report for {year}?"

    monkeypatch.setattr("finray.models.load_chat.load_chat", lambda settings: ScriptedChatModel(reply))
    result = build(index, tmp_path, "--finqa", published[0], "--secqa", 0, *arguments)
    assert json.loads(result.stdout.splitlines()[-1])["rewritten"].keys() == {by}


def test_annotated_pages_resolve_questions(index: str, published: tuple[Path, Path], tmp_path: Path) -> None:
    build(index, tmp_path / "first", "--finqa", published[0], "--secqa", 0)
    lines = [json.loads(line) for line in (tmp_path / "first/unresolved.jsonl").read_text().splitlines()]
    (differing,) = [line for line in lines if line["reason"] == "the methods differ"]
    assert set(differing["candidates"]) == {"words", "meaning"}
    (tmp_path / "pages.jsonl").write_text(json.dumps(differing | {"page": differing["candidates"]["words"]}))
    build(index, tmp_path / "second", "--finqa", published[0], "--secqa", 0, "--annotated", tmp_path / "pages.jsonl")
    pages = {
        question.qid.rpartition("-")[2]: question.evidence[0].page
        for question in written(tmp_path / "second", "numeric_table")
    }
    assert pages["2"] == pages["1"]
    (tmp_path / "pages.jsonl").write_text('{"qid": "a"}')
    result = build(index, tmp_path / "third", "--annotated", tmp_path / "pages.jsonl")
    assert isinstance(result.exception, SourceError)
    assert "it needs qid, doc_name and page" in str(result.exception)


def test_no_company_is_in_two_splits(index: str, tmp_path: Path) -> None:
    result = build(index, tmp_path, "--secqa", 40, "--split", "company")
    assert result.exit_code == 0, result.output
    documents = [json.loads(line) for line in (tmp_path / "documents.jsonl").read_text().splitlines()]
    company = {each["doc_name"]: each["cik"] for each in documents}
    assert all(company.values())
    splits = {path.stem for path in (tmp_path / "numeric_table").iterdir()}
    develop, test = (
        {company[gold.doc_name] for q in written(tmp_path, "numeric_table", split) for gold in q.evidence}
        if split in splits
        else set()
        for split in ("develop", "test")
    )
    assert develop | test and develop.isdisjoint(test)
