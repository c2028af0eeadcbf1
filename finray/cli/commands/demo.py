"""``finray demo``: the whole path on a small corpus of fictional filings, with the code that production runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.rule import Rule

from finray.batch.prediction_store import read_predictions
from finray.batch.question_files import read_questions
from finray.cli.commands.answer import run_answer
from finray.cli.commands.ask import cite
from finray.cli.commands.evaluate import run_evaluate
from finray.cli.commands.index import run_index
from finray.cli.commands.sample import run_sample
from finray.cluster.runtime import ray_cluster
from finray.core.settings import load_settings
from finray.core.types import Prediction, Question

_SHOWN_ANSWERS = 12
_YEARS = 3


def run_demo(folder: Path, *, companies: int, questions: int, console: Console) -> int:
    """Sample, index, answer, evaluate under ``folder``; 0 when every stage did its work."""
    settings = load_settings("local")
    filings, asked = str(folder / "sample" / "filings"), str(folder / "sample" / "questions.jsonl")
    index, predictions = str(folder / "index"), str(folder / "predictions.jsonl")
    progress = Console(stderr=True)
    _say(console, "1. Fictional filings that look alike: same tables and text, other numbers")
    run_sample(
        folder / "sample", companies=companies, years=_YEARS, questions=questions, seed=0, formats="pdf,html",
        full=False, broken=False, console=console,
    )  # fmt: skip
    with ray_cluster():
        _say(console, "2. Index them on Ray: read, parse, chunk, embed, write to LanceDB")
        failed = run_index([filings], index, settings, retry_failed=False, as_json=False, out=console)
        _say(console, "3. Answer the questions on Ray, many at a time")
        failed |= run_answer(
            asked, index, predictions, settings, retry_failed=False, workers=None, as_json=False, out=console,
            err=progress,
        )  # fmt: skip
    gold = {q.qid: q for q in read_questions(asked) if isinstance(q, Question)}
    for prediction in _one_of_each_type(read_predictions(predictions).predictions, gold):
        _show(prediction, gold[prediction.qid], console)
    _say(console, "4. Score them against the known gold answers and pages")
    run_evaluate([predictions], asked, as_json=False, out=console)
    _say(console, "Where to look next")
    finray = Path(sys.argv[0]).name if sys.argv else "finray"
    for line in (
        f'{finray} ask "{_example(gold)}" --index {index} --trace',
        f"{predictions}: every answer with its passages and evidence, one JSON object a line",
        f"{finray} index YOUR_FILINGS --index YOUR_INDEX: folders, globs or s3:// of PDF, EDGAR HTML, full submissions",
        "README.md: bulk answering on a cluster, S3, presets with a language model",
    ):
        console.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
    return failed


def _say(console: Console, text: str) -> None:
    console.print(Rule(text, align="left"))


def _one_of_each_type(predictions: Sequence[Prediction], gold: Mapping[str, Question]) -> list[Prediction]:
    first: dict[str | None, Prediction] = {}
    for prediction in predictions:
        first.setdefault(gold[prediction.qid].question_type, prediction)
    return list(first.values())[:_SHOWN_ANSWERS]


def _show(prediction: Prediction, question: Question, console: Console) -> None:
    """Question, answer, the pages it rests on, and the gold answer."""
    pages = "; ".join(dict.fromkeys(cite(passage) for passage in prediction.evidence))
    console.print(f"\n[bold]Q[/]    {escape(question.question)}", highlight=False)
    colour = "green" if prediction.status == "answered" else "yellow"
    console.print(f"[bold]A[/]    [{colour}]{escape(prediction.answer)}[/]", highlight=False)
    if pages:
        console.print(f"     [dim]rests on[/] {escape(pages)}", highlight=False)
    gold = question.answer or "(not answerable from these filings)"
    console.print(f"     [dim]gold[/]     {escape(gold)}", highlight=False)


def _example(gold: dict[str, Question]) -> str:
    numeric = (q.question for q in gold.values() if q.question_type == "ratio")
    return next(numeric, next(iter(gold.values())).question)
