"""``finray answer`` and jobs/answer.py: bulk answering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar

if TYPE_CHECKING:
    from finray.batch.driver import AnswerSummary
    from finray.core.types import TokenUsage


def answer(
    questions: Annotated[str, typer.Argument(help="Questions, .jsonl or .parquet, local or s3://.")],
    index: IndexOption,
    out_: Annotated[str, typer.Option("--out", help="Predictions, .jsonl or .parquet, local or s3://; resumes.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[bool, typer.Option(help="Repeat questions that ended in an error.")] = False,
    oracle: Annotated[
        Literal["none", "document", "page"],
        typer.Option(help="Upper bounds for evaluation: retrieve only from gold filings, or gold pages."),
    ] = "none",
    workers: Annotated[
        int | None, typer.Option(min=0, help="Ray workers, by default one for each CPU; 0: one engine, without Ray.")
    ] = None,
    json_: JsonOption = False,
) -> int:
    """Answer thousands of questions. A second run resumes."""
    from finray.library import answer_many

    chosen = [*(set_ or []), f"retrieval.oracle={oracle}"] if oracle != "none" else set_
    settings = settings_of(preset, chosen)
    with progress_bar(err, "answering") as progress:
        summary = answer_many(
            questions, index, out_, settings, retry_failed=retry_failed, workers=workers, progress=progress,
            remark=lambda text: err.print(text, markup=False, highlight=False),
        )  # fmt: skip
    emit(summary, described(summary, out_), as_json=json_)
    return 1 if summary.failed else 0


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
    return "\n".join([speed, *(f"{stage}: {spent(tokens)}" for stage, tokens in summary.usage.items())])


def spent(tokens: TokenUsage) -> str:
    cost = f", cost {tokens.cost:,.4f}" if tokens.cost else ""
    return f"{tokens.prompt_tokens:,} tokens in, {tokens.completion_tokens:,} out{cost}"
