"""``finray demo``: runs the production code end to end on a small corpus of fictional filings, then serves it."""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.rule import Rule

from finray.cli.answer import answer
from finray.cli.ask import cite
from finray.cli.index import index
from finray.cli.output import out
from finray.cli.sample import sample
from finray.cli.serve import check_free, run_service, use_one_loop
from finray.core.errors import MissingExtraError, UsageError
from finray.core.extras import extra
from finray.core.predictions import Prediction
from finray.core.questions import Question

_PORT = 8000
_SHOWN_TYPES = ("numeric_table", "ratio", "revenue_growth", "restated", "event", "unanswerable")
"""Types of questions of which the demo shows one each, if they were asked."""
_SCORES = {
    "document_recall@5": "right filing in the first five passages",
    "page_recall@5": "right page in them",
    "numeric_accuracy": "right figure",
    "textual_rule_accuracy": "right passage quoted, by rules",
    "unanswerable_refused": "refused, for the filings have no answer",
    "invented_figure": "should have been refused",
}


def demo(
    folder: Annotated[Path, typer.Option(help="Output folder.")] = Path("demo"),
    companies: Annotated[int, typer.Option(min=1, help="Fictional companies.")] = 4,
    questions: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 60,
    page: Annotated[
        bool | None,
        typer.Option(
            "--serve/--no-serve",
            help="Serve the web page at the end, until Ctrl-C; by default if the output is a terminal.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address at which to serve the page.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help=f"Its port; by default {_PORT}, or a free one.")
    ] = None,
) -> int:
    """Index fictional filings on a local Ray, answer and score questions about them, and serve the web page."""
    from finray.batch.prediction_store import read_predictions
    from finray.batch.question_files import read_questions
    from finray.cluster.runtime import ray_cluster

    serving = _serves(page)
    if serving:
        port = _free_port(host) if port is None else port
        check_free(host, port)  # before minutes of work
        use_one_loop()
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
        answered = read_predictions(predictions).predictions
        for prediction in _one_of_each_type(answered, gold):
            _show(prediction, gold[prediction.qid])
        _heading("4. Score them against the known gold answers and pages")
        _score(answered, list(gold.values()))
        _heading("Next steps")
        example = _example(answered, gold)
        finray = _program()
        _print(f'{finray} ask "{example}" --index {index_uri} --trace')
        _print(f"{finray} evaluate {predictions} {asked}: all scores, by type of question")
        _print(f"{finray} index YOUR_FILINGS --index YOUR_INDEX: folders or s3:// of PDF, EDGAR HTML, full submissions")
        _print(f"{finray} sync --help: real filings, from EDGAR")
        if not serving:
            _print(f"{finray} serve --index {index_uri}: the web page, with each answer beside its page")
            return failed
        _heading("5. Serve the web page")
        run_service(index_uri, host, port or _PORT, set_=[f"serving.keys={folder / 'keys.json'}"], question=example)
        _print(f"To serve it again: {finray} serve --index {index_uri}")
    return failed


def _serves(page: bool | None) -> bool:
    """Whether to serve the page. Raises MissingExtraError if it is asked for and cannot be."""
    if page is False or (page is None and not (sys.stdin.isatty() and sys.stdout.isatty())):
        return False
    try:
        with extra("serve", "the web page"):
            import fastapi  # noqa: F401
            import sse_starlette  # noqa: F401
    except MissingExtraError as error:
        if page:
            raise
        out.print(f"{error}; this run ends without it", highlight=False, markup=False, soft_wrap=True)
        return False
    return True


def _free_port(host: str) -> int:
    """The usual port, or any other if that one is taken."""
    try:
        check_free(host, _PORT)
    except UsageError:
        with socket.create_server((host, 0)) as listener:
            return int(listener.getsockname()[1])
    return _PORT


def _program() -> str:
    """How to call finray again from the same shell."""
    typed = Path(sys.argv[0])
    if typed.name == "__main__.py":
        return "python -m finray.cli"
    on_path = shutil.which(typed.name)
    return typed.name if on_path and typed.exists() and typed.samefile(on_path) else sys.argv[0]


def _heading(text: str) -> None:
    out.print(Rule(text, align="left"))


def _print(line: str) -> None:
    out.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)


def _one_of_each_type(predictions: Sequence[Prediction], gold: Mapping[str, Question]) -> list[Prediction]:
    first: dict[str | None, Prediction] = {}
    for prediction in predictions:
        first.setdefault(gold[prediction.qid].question_type, prediction)
    return [first[name] for name in _SHOWN_TYPES if name in first] or [*first.values()]


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


def _score(predictions: Sequence[Prediction], questions: Sequence[Question]) -> None:
    from finray.lab.evaluation.evaluate import evaluate
    from finray.lab.evaluation.report import shown

    metrics = evaluate(predictions, questions).metrics
    _print("mean over questions [95% interval]")
    for name, meaning in _SCORES.items():
        if name in metrics:
            _print(f"  {name:23}{shown(metrics[name]):26}{meaning}")


def _example(predictions: Sequence[Prediction], gold: Mapping[str, Question]) -> str:
    """The shortest question that got a figure."""
    figures = [p.question for p in predictions if p.value is not None]
    return min(figures or [question.question for question in gold.values()], key=len)
