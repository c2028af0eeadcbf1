"""Bulk answering: CPU seconds for each question, answers a second, and memory over time, with one worker and with more.

    python benchmarks/bulk_answers.py --index INDEX QUESTIONS.jsonl... [--questions 10000] [--workers 1,2]
        [--against CHECKOUT] [--set encoder.model=hash] [--shuffled]

Each worker is a process with its own engine, as on a cluster; the questions are dealt out in advance, by topic as the
bulk driver does, so that only answering is measured, without Ray. If there are fewer than --questions, generated ones
are added (a figure of a company for a fiscal year, for all filings of the index). With --shuffled they jump between
companies.

--against runs the same questions with the code of another checkout too, with one worker, and counts the predictions
that differ. Times are CPU seconds of the workers after they have opened the index; wall times mean little on a machine
that others use, so the load average stands beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from finray.batch.question_files import read_questions
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from finray.index.reading.reader import IndexReader

_MARKS = 10
"""How often a worker notes its memory."""
_FIGURES = (
    "revenue", "net income", "operating income", "gross profit", "total assets", "total liabilities", "inventories",
    "cash and cash equivalents", "capital expenditures", "research and development expense", "income tax expense",
    "interest expense", "long-term debt", "accounts receivable", "diluted earnings per share", "dividends paid",
    "operating cash flow", "depreciation and amortization", "goodwill", "share repurchases",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--worker", nargs=2, metavar=("QUESTIONS", "PREDICTIONS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    settings = load_settings("local", dict(each.split("=", 1) for each in arguments.set))
    if arguments.worker:
        asked, answered = arguments.worker
        asyncio.run(_answer(asked, answered, arguments.index, settings))
        return
    questions = _questions(arguments.files, arguments.index, arguments.questions)
    own = Path(__file__).resolve().parent.parent
    runs = [("before", arguments.against, 1)] if arguments.against else []
    runs += [("now", own, count) for count in map(int, arguments.workers.split(","))]
    print("code    workers     n  CPU s/question  answers/CPU s  answers/s   load  memory of a worker over time, MB")
    predictions: dict[str, list[dict[str, Any]]] = {}
    for name, checkout, count in runs:
        dealt = questions if arguments.shuffled else _by_topic(questions, arguments.index, count)
        reports, answered, seconds = _run(dealt, count, checkout, arguments)
        predictions[name] = sorted(answered, key=lambda prediction: str(prediction["qid"]))
        cpu = sum(report[-1]["cpu"] for report in reports)
        memory = " ".join(f"{mark['rss'] / 1e6:.0f}" for mark in max(reports, key=lambda each: each[-1]["rss"]))
        n = len(questions)
        print(
            f"{name:7} {count:7} {n:5} {cpu / n:15.4f} {n / cpu:14.1f} {n / seconds:10.1f} {os.getloadavg()[0]:6.1f}  "
            f"{memory}",
            flush=True,
        )
    if arguments.against:
        pairs = zip(predictions["before"], predictions["now"], strict=True)
        differ = [now["qid"] for before, now in pairs if not _same(before, now)]
        print(f"predictions that differ: {len(differ)} of {len(questions)}", *differ)


def _questions(files: Sequence[str], index: str, count: int) -> list[Question]:
    """``count`` questions in a random order that is the same in every run."""
    given = [line for file in files for line in read_questions(file) if isinstance(line, Question)]
    shuffled = random.Random(0)
    shuffled.shuffle(given)
    generated = _generated(index)
    shuffled.shuffle(generated)
    chosen = [*given, *generated][:count]
    if len(chosen) < count:
        print(f"{count} questions were asked for; there are {len(chosen)}", file=sys.stderr)
    shuffled.shuffle(chosen)
    return chosen


def _by_topic(questions: Sequence[Question], index: str, workers: int) -> list[Question]:
    from finray.batch.topics import by_topic, topics_in  # older checkouts, whose code the workers import, have none
    from finray.question.companies.catalog import CompanyCatalog

    return by_topic(questions, topics_in(CompanyCatalog(IndexReader.open(index).filings())), workers)


def _generated(index: str) -> list[Question]:
    """Every figure of every company for each of its fiscal years, plain, as a change and as an average."""
    reported = {(f.company, f.fiscal_year) for f in IndexReader.open(index).filings() if f.company and f.fiscal_year}
    texts = [
        text
        for company, year in sorted(reported, key=str)
        for figure in _FIGURES
        for text in (
            f"What was the {figure} of {company} in fiscal year {year}?",
            f"By how much did the {figure} of {company} change from fiscal {year - 1} to fiscal {year}?",
            f"What was the average {figure} of {company} over fiscal {year - 1} and fiscal {year}?",
        )
    ]
    return [Question(f"generated-{number}", text) for number, text in enumerate(texts)]


def _run(
    questions: Sequence[Question], workers: int, checkout: Path, arguments: argparse.Namespace
) -> tuple[list[list[dict[str, float]]], list[dict[str, Any]], float]:
    """The marks of each worker, the predictions as the questions are ordered, and the seconds of the slowest worker."""
    with tempfile.TemporaryDirectory() as folder:
        started = []
        environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
        for number in range(workers):
            asked, answered = Path(folder) / f"{number}.jsonl", Path(folder) / f"{number}.predictions"
            lines = [json.dumps({"qid": each.qid, "question": each.question}) for each in questions[number::workers]]
            asked.write_text("\n".join(lines) + "\n", encoding="utf-8")
            options = [option for each in arguments.set for option in ("--set", each)]
            command = [sys.executable, __file__, "--index", arguments.index, *options, "--worker", asked, answered]
            process = subprocess.Popen([*map(str, command)], env=environment, stdout=subprocess.PIPE, text=True)
            started.append((process, answered))
        reports = []
        predictions: list[dict[str, Any]] = [{}] * len(questions)
        for number, (process, answered) in enumerate(started):
            output, _ = process.communicate()
            if process.returncode:
                raise SystemExit(f"a worker ended with status {process.returncode}")
            reports.append([json.loads(line) for line in output.splitlines() if line.startswith("{")])
            lines = answered.read_text(encoding="utf-8").splitlines()
            predictions[number::workers] = [json.loads(line) for line in lines]
    return reports, predictions, max(report[-1]["seconds"] for report in reports)


async def _answer(asked: str, answered: str, index: str, settings: Settings) -> None:
    """Answer the questions of a file; print times and memory now and then, write what was answered."""
    questions = [line for line in read_questions(asked) if isinstance(line, Question)]
    with contextlib.suppress(ImportError):  # an older checkout, whose engines do less
        from finray.core.garbage import collect_seldom
        from finray.engines.child import keep_few_kernels

        collect_seldom()
        keep_few_kernels()
        from finray.core.heap import map_large_blocks

        map_large_blocks()
    engine = open_engine(index, settings)
    await engine.answer(questions[0])  # what is loaded with the first question
    cpu, wall = time.process_time(), time.perf_counter()
    every = max(1, len(questions) // _MARKS)
    with Path(answered).open("w", encoding="utf-8") as file:
        for number, question in enumerate(questions, start=1):
            prediction = await engine.answer(question)
            file.write(json.dumps(dict(_compared(prediction))) + "\n")
            if number % every == 0 or number == len(questions):
                rss = psutil.Process().memory_info().rss
                mark = {"done": number, "cpu": time.process_time() - cpu, "seconds": time.perf_counter() - wall}
                print(json.dumps(mark | {"rss": rss}), flush=True)


def _compared(prediction: Any) -> Iterator[tuple[str, Any]]:
    """What two versions must agree on."""
    yield from ((name, getattr(prediction, name)) for name in ("qid", "status", "answer", "value", "unit", "missing"))
    for name in ("passages", "evidence"):
        yield name, [(p.filing_id, p.page, p.start, p.score) for p in getattr(prediction, name)]
    yield "documents", [(d.filing_id, d.score) for d in prediction.documents]


def _same(a: Any, b: Any) -> bool:
    """Sums of the same numbers in another order may differ in the last digits."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)


if __name__ == "__main__":
    main()
