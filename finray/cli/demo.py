"""``finray demo``: runs the production code end to end on a small corpus of fictional filings."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.rule import Rule

from finray.cli.answer import answer
from finray.cli.ask import cite
from finray.cli.evaluate import evaluate
from finray.cli.index import index
from finray.cli.output import out
from finray.cli.sample import sample
from finray.core.types import Prediction, Question

_SHOWN_ANSWERS = 12


def demo(
    folder: Annotated[Path, typer.Option(help="Output folder.")] = Path("demo"),
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    questions: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 60,
) -> int:
    """Generate fictional filings, index them on a local Ray, answer questions about them, and score the answers."""
    from finray.batch.prediction_store import read_predictions
    from finray.batch.question_files import read_questions
    from finray.cluster.runtime import ray_cluster

    filings, asked = str(folder / "sample" / "filings"), str(folder / "sample" / "questions.jsonl")
    index_uri, predictions = str(folder / "index"), str(folder / "predictions.jsonl")
    _heading("1. Generate fictional filings that look alike: same tables and text, other numbers")
    sample(folder / "sample", companies=companies, questions=questions)
    with ray_cluster():
        _heading("2. Index them on Ray: read, parse, chunk, embed, write to LanceDB")
        failed = index([filings], index_uri)
        _heading("3. Answer the questions on Ray, many at a time")
        failed |= answer(asked, index_uri, predictions)
    gold = {q.qid: q for q in read_questions(asked) if isinstance(q, Question)}
    for prediction in _one_of_each_type(read_predictions(predictions).predictions, gold):
        _show(prediction, gold[prediction.qid])
    _heading("4. Score them against the known gold answers and pages")
    evaluate([predictions, asked])
    _heading("Next steps")
    finray = Path(sys.argv[0]).name if sys.argv else "finray"
    for line in (
        f'{finray} ask "{_example(gold)}" --index {index_uri} --trace',
        f"{predictions}: every answer with its passages and evidence, one JSON object per line",
        f"{finray} index YOUR_FILINGS --index YOUR_INDEX: folders, globs or s3:// of PDF, EDGAR HTML, full submissions",
        "README.md: bulk answering on a cluster, S3, presets with a language model",
    ):
        out.print(f"  {escape(line)}", highlight=False, soft_wrap=True)
    return failed


def _heading(text: str) -> None:
    out.print(Rule(text, align="left"))


def _one_of_each_type(predictions: Sequence[Prediction], gold: Mapping[str, Question]) -> list[Prediction]:
    first: dict[str | None, Prediction] = {}
    for prediction in predictions:
        first.setdefault(gold[prediction.qid].question_type, prediction)
    return list(first.values())[:_SHOWN_ANSWERS]


def _show(prediction: Prediction, question: Question) -> None:
    """Print the question, the answer with its pages, and the gold answer."""
    pages = "; ".join(dict.fromkeys(cite(passage) for passage in prediction.evidence))
    out.print(f"\n[bold]Q[/]    {escape(question.question)}", highlight=False)
    color = "green" if prediction.status == "answered" else "yellow"
    out.print(f"[bold]A[/]    [{color}]{escape(prediction.answer)}[/]", highlight=False)
    if pages:
        out.print(f"     [dim]evidence[/] {escape(pages)}", highlight=False)
    gold = question.answer or "(not answerable from these filings)"
    out.print(f"     [dim]gold[/]     {escape(gold)}", highlight=False)


def _example(gold: dict[str, Question]) -> str:
    numeric = (q.question for q in gold.values() if q.question_type == "ratio")
    return next(numeric, next(iter(gold.values())).question)
