"""``finray answer`` and jobs/answer.py: bulk answering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finray.cli.options import (
    AppOption,
    ExitZeroOption,
    IndexOption,
    JsonOption,
    PresetOption,
    RetryOption,
    ServiceOption,
    SetOption,
    WorkersOption,
    settings_of,
)
from finray.cli.output import emit, err, exit_code, remark
from finray.cli.progress import progress_bar

if TYPE_CHECKING:
    from finray.batch.driver import AnswerSummary
    from finray.core.predictions import TokenUsage


def answer(
    questions: Annotated[str, typer.Argument(help="Questions, .jsonl, .parquet, .csv or .xlsx, local or s3://.")],
    index: IndexOption,
    out_: Annotated[
        str, typer.Option("--out", help="Predictions, .jsonl, .parquet, .csv or .xlsx, local or s3://; resumes.")
    ],
    preset: PresetOption = "local",
    set_: SetOption = None,
    question_column: Annotated[
        str | None, typer.Option(help="Column of a .csv or .xlsx that holds the questions; by default it is found.")
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a .xlsx; by default the first one with questions.")
    ] = None,
    service: ServiceOption = None,
    retry_failed: RetryOption = False,
    oracle: Annotated[
        Literal["none", "document", "page"],
        typer.Option(help="Upper bounds for evaluation: retrieve only from gold filings, or gold pages."),
    ] = "none",
    workers: WorkersOption = None,
    app: AppOption = None,
    exit_zero: ExitZeroOption = False,
    json_: JsonOption = False,
) -> int:
    """Answer thousands of questions. A second run resumes."""
    from finray.library import answer_many

    chosen = [*(set_ or []), f"retrieval.oracle={oracle}"] if oracle != "none" else set_
    settings = settings_of(preset, chosen)
    with progress_bar(err, "answering") as progress:
        summary = answer_many(
            questions, index, out_, settings, question_column=question_column, sheet=sheet, service=service,
            retry_failed=retry_failed, workers=workers, app=app, progress=progress, remark=remark,
        )  # fmt: skip
    emit(summary, described(summary, out_), as_json=json_)
    return exit_code(summary.errors, summary.answered + summary.unanswerable, exit_zero=exit_zero)


def described(summary: AnswerSummary, out_uri: str) -> str:
    """Two lines, and one for each stage that called a language model."""
    counts = (
        f"{summary.questions} questions: {summary.answered} answered, {summary.unanswerable} unanswerable, "
        f"{summary.errors} errors ({summary.resumed} from an earlier run) -> {out_uri}"
    )
    if summary.latency_p50 is None or summary.latency_p95 is None:
        return counts
    speed = (
        f"{counts}\n{summary.questions_per_second:.1f} questions/s over {summary.seconds:.1f} s, "
        f"latency p50 {summary.latency_p50 * 1000:.0f} ms, p95 {summary.latency_p95 * 1000:.0f} ms"
    )
    stages = [
        f"{stage}: {spent(tokens)}{_unusable(summary.unusable.get(stage, 0))}"
        for stage, tokens in summary.usage.items()
    ]
    return "\n".join([speed, *stages])


def _unusable(replies: int) -> str:
    return f", {replies} unusable replies" if replies else ""


def spent(tokens: TokenUsage) -> str:
    """Tokens and cost in words."""
    cost = f", cost {tokens.cost:,.4f}" if tokens.cost else ""
    return f"{tokens.prompt_tokens:,} tokens in, {tokens.completion_tokens:,} out{cost}"
