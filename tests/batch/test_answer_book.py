"""Spreadsheets of answers: written at the end and on interruption, resumed, and safe to open."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import finray
from finray.batch.answer_book import AnswerBook
from finray.batch.driver import answer_all
from finray.batch.panels import Panel
from finray.batch.prediction_files import store_of
from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.batch.question_files import read_question_file
from finray.batch.question_tables import QuestionFile
from finray.core.errors import SourceError, UsageError
from finray.core.filing import Filing
from finray.core.passages import DocumentRef, Passage
from finray.core.predictions import CitedCell, Prediction, TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.filings.pages.page_links import PageLinks

FILING = Filing("0000012345-23-000001", "ACME_2022_10K", "/x/acme.pdf", "", "Acme Corp.", "10-K", cik="0000012345")
LINKS = PageLinks({FILING.filing_id: FILING})
EDGAR = "https://www.sec.gov/Archives/edgar/data/12345/000001234523000001/0000012345-23-000001-index.htm"
CELL = CitedCell(
    "revenue",
    1_577_000_000.0,
    FILING.doc_name,
    FILING.filing_id,
    41,
    "=Total revenue",
    "(1,577)",
    box=(1.0, 2.0, 3.5, 4.0),
)
PASSAGE = Passage(FILING.doc_name, FILING.filing_id, 41, 0, 5, "+Revenue \x0b grew", 0.5)


def predicted(question: Question, settings: Settings) -> Prediction:
    answered = Prediction(
        question.qid, question.question, "=1.577 billion", "answered", 1_577_000_000.0, "USD",
        documents=(DocumentRef(FILING.doc_name, FILING.filing_id, 1.0, "Acme Corp.", "10-K"),),
        evidence=(PASSAGE,), operands=(CELL,), confidence=0.83, grounded=True, settings_hash=settings.answer_hash(),
        usage={"answer": TokenUsage(10, 2, 0.5)},
    )  # fmt: skip
    if "1999" in question.question:
        return replace(
            answered, answer="Not found", status="unanswerable", value=None, missing=("filings of 1999",), operands=()
        )
    return answered


def questions(folder: Path, text: str) -> QuestionFile:
    path = folder / "q.csv"
    path.write_text(text, encoding="utf-8")
    return read_question_file(str(path))


def write(
    out: str, asked: QuestionFile, settings: Settings, links: PageLinks = LINKS, panel: Panel | None = None
) -> None:
    """Answer everything and write the spreadsheet, as ``answer_many`` does."""

    async def answer(question: Question) -> Prediction:
        return predicted(question, settings)

    with PredictionStore(store_of(out)) as store:
        asyncio.run(answer_all(asked.lines, answer, store, settings))
        AnswerBook(out, asked, links, settings, {"index": "i"}, panel).write(store)


def sheets(path: str) -> dict[str, list[dict[str, Any]]]:
    book = openpyxl.load_workbook(path)
    result = {}
    for sheet in book:
        head, *rows = sheet.iter_rows(values_only=True)
        result[sheet.title] = [dict(zip(head, row, strict=True)) for row in rows]
    return result


def test_the_three_sheets(tmp_path: Path, local_settings: Settings) -> None:
    asked = questions(
        tmp_path, "Company,question,answer\nAcme,Revenue in 2022?,=gold\nAcme,Revenue in 1999?,\n,,note\n"
    )
    out = str(tmp_path / "a.xlsx")
    write(out, asked, local_settings)
    book = sheets(out)
    assert list(book) == ["answers", "evidence", "settings"]
    first, second, third = book["answers"]
    assert {
        name: first[name] for name in ("Company", "question", "answer", "finray answer", "value", "unit", "status")
    } == {
        "Company": "Acme",
        "question": "Revenue in 2022?",
        "answer": "=gold",
        "finray answer": "=1.577 billion",
        "value": 1_577_000_000,
        "unit": "USD",
        "status": "answered",
    }
    assert (first["confidence"], first["grounded"], first["filing"], first["page"]) == (0.83, True, "ACME_2022_10K", 42)
    assert (first["quoted cell"], first["link"]) == ("=Total revenue: (1,577)", EDGAR)
    assert (second["status"], second["value"], second["reason"]) == ("unanswerable", None, "filings of 1999")
    assert (third["status"], third["reason"]) == ("error", "line 4: no question in this row")
    cell, passage, _ = book["evidence"]
    assert (cell["kind"], cell["row"], cell["quoted"], cell["value"]) == (
        "cell",
        "=Total revenue",
        "(1,577)",
        1_577_000_000,
    )
    assert (passage["quoted"], passage["company"], passage["page"]) == ("+Revenue \ufffd grew", "Acme Corp.", 42)
    facts = {row["name"]: row["value"] for row in book["settings"]}
    assert [facts[name] for name in ("questions", "answered", "unanswerable", "errors")] == [3, 1, 1, 1]
    assert (facts["settings hash"], facts["tokens in, answer"]) == (local_settings.answer_hash(), 20)
    assert facts["encoder.model"] == "hash"


def test_nothing_is_a_formula_and_links_are_links(tmp_path: Path, local_settings: Settings) -> None:
    out = str(tmp_path / "a.xlsx")
    write(out, questions(tmp_path, "question,n\n=Revenue?,=1+1\n"), local_settings)
    book = openpyxl.load_workbook(out)
    assert {cell.data_type for sheet in book for row in sheet for cell in row} <= {"s", "n", "b", "d"}
    answers = {cell.value: cell for row in book["answers"] for cell in row}
    assert answers["=1+1"].quotePrefix and answers["=1.577 billion"].quotePrefix
    assert answers[EDGAR].hyperlink.target == EDGAR
    assert (answers[1_577_000_000].number_format, answers[0.83].number_format) == ("#,##0", "0%")
    text = str(tmp_path / "a.csv")
    write(text, questions(tmp_path, "question,n\n=Revenue?,=1+1\n"), local_settings)
    (row,) = list(csv.reader(io.StringIO(Path(text).read_text(encoding="utf-8-sig"))))[1:]
    assert row[:4] == ["'=Revenue?", "'=1+1", "'=1.577 billion", "1577000000"]


def test_links_go_to_the_service(tmp_path: Path, local_settings: Settings) -> None:
    links = PageLinks({FILING.filing_id: FILING}, "https://finray.example.com/")
    page = "https://finray.example.com/v1/filings/0000012345-23-000001/pages/41"
    assert links.page(FILING.filing_id, 41, CELL.box) == f"{page}/image?box=1,2,3.5,4"
    html = PageLinks({FILING.filing_id: replace(FILING, source_uri="/x/acme.htm")}, "https://finray.example.com")
    assert html.page(FILING.filing_id, 41) == page
    assert links.page("unknown", 0) is None
    assert PageLinks({"a1": replace(FILING, filing_id="a1")}).page("a1", 0) is None
    with pytest.raises(UsageError, match="no URL of a service"):
        PageLinks({}, "javascript:alert(1)")


def test_questions_from_jsonl_have_their_own_column(tmp_path: Path, local_settings: Settings) -> None:
    out = str(tmp_path / "a.xlsx")
    write(out, QuestionFile((Question("a", "Revenue?"), Question("b", "Revenue in 1999?"))), local_settings)
    assert [(row["question"], row["qid"], row["status"]) for row in sheets(out)["answers"]] == [
        ("Revenue?", "a", "answered"),
        ("Revenue in 1999?", "b", "unanswerable"),
    ]
    assert [prediction.qid for prediction in read_predictions(out).predictions] == ["a", "b"]


def test_an_interrupted_run_shows_what_it_has_and_goes_on(
    tmp_path: Path, local_settings: Settings, sample_index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the first answer: the workbook has it, the next run asks only the others."""
    source = tmp_path / "q.csv"
    source.write_text("question,n\nRevenue in 2022?,1\nRevenue in 2021?,2\nRevenue in 2020?,3\n")
    out, calls = str(tmp_path / "a.xlsx"), list[str]()

    class Engine:
        def __init__(self, *_arguments: Any, **_options: Any) -> None: ...

        async def answer(self, question: Question) -> Prediction:
            if len(calls) == 1 and interrupted:
                raise KeyboardInterrupt
            calls.append(question.question)
            return predicted(question, local_settings)

        def close(self) -> None: ...

    monkeypatch.setattr("finray.cluster.bulk_run.QuestionEngine", Engine)
    one = local_settings.model_copy(update={"bulk": local_settings.bulk.model_copy(update={"concurrency": 1})})
    interrupted = True
    with pytest.raises(KeyboardInterrupt):
        finray.answer_many(str(source), sample_index, out, one, workers=0)
    rows = sheets(out)["answers"]
    assert [(row["n"], row["status"]) for row in rows] == [(1, "answered"), (2, "not asked yet"), (3, "not asked yet")]
    interrupted = False
    summary = finray.answer_many(str(source), sample_index, out, one, workers=0)
    assert (summary.resumed, summary.answered) == (1, 3)
    assert calls == ["Revenue in 2022?", "Revenue in 2021?", "Revenue in 2020?"]
    assert [row["status"] for row in sheets(out)["answers"]] == ["answered"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.xlsx", "a.xlsx.predictions.jsonl", "q.csv"]


def test_a_killed_run_lost_nothing(tmp_path: Path, local_settings: Settings) -> None:
    """Killed in the middle of a line, without a workbook: the next run asks only what is not stored."""
    asked = questions(tmp_path, "question\nRevenue in 2022?\nRevenue in 2021?\n")
    out = str(tmp_path / "a.xlsx")
    first, second = (predicted(line, local_settings) for line in asked.lines if isinstance(line, Question))
    with PredictionStore(store_of(out)) as store:
        store.append([first])
    with Path(store_of(out)).open("ab") as file:
        file.write(json.dumps({"qid": second.qid, "question": second.question}).encode()[:30])
    calls: list[str] = []

    async def answer(question: Question) -> Prediction:
        calls.append(question.question)
        return predicted(question, local_settings)

    with PredictionStore(store_of(out)) as store:
        assert store.torn is not None
        asyncio.run(answer_all(asked.lines, answer, store, local_settings))
        AnswerBook(out, asked, LINKS, local_settings).write(store)
    assert calls == ["Revenue in 2021?"]
    assert [row["status"] for row in sheets(out)["answers"]] == ["answered", "answered"]


RUN = """
import asyncio, sys
import finray, finray.cluster.bulk_run
from finray.core.predictions import Prediction
from tests.weightless import WEIGHTLESS

class Engine:
    def __init__(self, *arguments, **options): pass
    def close(self): pass
    async def answer(self, question):
        with open(sys.argv[3], "a") as asked:
            asked.write(question.question + "\\n")
        await asyncio.sleep(float(sys.argv[4]))
        current = settings.answer_hash()
        return Prediction(question.qid, question.question, "5", "answered", 5.0, "USD", settings_hash=current)

finray.cluster.bulk_run.QuestionEngine = Engine
settings = finray.load_settings(
    overrides={**WEIGHTLESS, "bulk.concurrency": 1, "bulk.flush_seconds": 0.05}, environment={}
)
finray.answer_many(sys.argv[1], sys.argv[5], sys.argv[2], settings, workers=0)
"""


@pytest.mark.slow
def test_a_run_stopped_twice_answers_each_question_once(tmp_path: Path, sample_index: str) -> None:
    """Ctrl-C, which leaves a workbook of what there is, then ``kill -9``, then a run to the end."""
    source, out, log = tmp_path / "q.csv", tmp_path / "a.xlsx", tmp_path / "asked"
    source.write_text("question\n" + "".join(f"Revenue in {year}?\n" for year in range(2000, 2012)))
    log.touch()
    store = Path(store_of(str(out)))

    def start(seconds: float) -> subprocess.Popen[bytes]:
        arguments = [str(source), str(out), str(log), str(seconds), sample_index]
        return subprocess.Popen([sys.executable, "-c", RUN, *arguments], stderr=subprocess.DEVNULL)

    def stored() -> int:
        return store.read_bytes().count(b"\n") if store.exists() else 0

    for stop, at_least in ((signal.SIGINT, 2), (signal.SIGKILL, 5)):
        run = start(0.1)
        while stored() < at_least and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(stop)
        assert run.wait(60) != 0
        statuses = [row["status"] for row in sheets(str(out))["answers"]]
        assert "answered" in statuses and "not asked yet" in statuses
    before = stored()
    assert start(0).wait(60) == 0
    assert [row["status"] for row in sheets(str(out))["answers"]] == ["answered"] * 12
    asked = log.read_text().splitlines()
    assert {*asked} == {f"Revenue in {year}?" for year in range(2000, 2012)}
    # Asked again is only what was in flight, or not yet stored, when the run stopped.
    assert before >= 5 and len(asked) <= 12 + 2 * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.xlsx", "a.xlsx.predictions.jsonl", "asked", "q.csv"]


def test_a_changed_question_is_not_shown_with_the_old_answer(tmp_path: Path, local_settings: Settings) -> None:
    out = str(tmp_path / "a.xlsx")
    write(out, QuestionFile((Question("a", "Revenue?"),)), local_settings)
    with PredictionStore(store_of(out)) as store:
        AnswerBook(out, QuestionFile((Question("a", "Capex?"),)), LINKS, local_settings).write(store)
    assert [row["status"] for row in sheets(out)["answers"]] == ["not asked yet"]


def test_a_failed_start_leaves_no_workbook(tmp_path: Path, local_settings: Settings) -> None:
    with pytest.raises(finray.FinrayError, match="no index"):
        finray.answer_many(
            [Question("a", "x?")], str(tmp_path / "gone"), str(tmp_path / "a.xlsx"), local_settings, workers=0
        )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SourceError, match=r"ends in \.jsonl, \.parquet, \.xlsx or \.csv"):
        finray.answer_many([Question("a", "x?")], "i", str(tmp_path / "a.ods"), local_settings, workers=0)


def test_on_s3(s3: str, local_settings: Settings) -> None:
    out = f"{s3}/runs/a.csv"
    write(out, QuestionFile((Question("a", "Revenue?"),)), local_settings)
    from finray.storage.locations import read_bytes

    assert b'"=' not in read_bytes(out)
    assert read_predictions(out).predictions[0].qid == "a"
