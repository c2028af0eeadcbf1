"""``finray answer`` and jobs/answer.py: bulk answering, on Ray or in this process."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict

from rich.console import Console

from finray.bulk import AnswerSummary, answer_all
from finray.commands.progress import progress_bar
from finray.engine import open_engine
from finray.prediction_store import PredictionStore, pending
from finray.questions import BadLine, read_questions
from finray.settings import Settings


def run_answer(
    questions: str,
    index: str,
    out_uri: str,
    settings: Settings,
    *,
    retry_failed: bool,
    workers: int | None,
    as_json: bool,
    out: Console,
    err: Console,
) -> int:
    """Answer, store, summarise. 1 where a prediction has status "error"."""
    lines = list(read_questions(questions, max_characters=settings.bulk.max_question_characters))
    with PredictionStore(out_uri) as store:
        if store.torn:
            err.print(store.torn, markup=False, highlight=False)
        todo = list(pending(lines, store.done(), settings.answer_hash(), retry_failed=retry_failed))
        real = any(not isinstance(item, BadLine) for item in todo)
        with progress_bar(err, "answering") as progress:
            if workers == 0 or not real:
                summary = _in_process(lines, index, store, settings, retry_failed, progress, real)
            else:
                summary = _on_ray(lines, index, store, settings, retry_failed, progress, workers)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(describe(summary, out_uri), highlight=False, markup=False, soft_wrap=True)
    return 1 if summary.failed else 0


def describe(summary: AnswerSummary, out_uri: str) -> str:
    """The summary in two lines for a person."""
    counts = (
        f"{summary.questions} questions: {summary.answered} answered, {summary.unanswerable} unanswerable, "
        f"{summary.errors} errors ({summary.resumed} from an earlier run) -> {out_uri}"
    )
    if summary.latency_p50 is None or summary.latency_p95 is None:
        return counts
    return (
        f"{counts}\n{summary.questions_per_second:.1f} questions/s over {summary.seconds:.1f} s, "
        f"latency p50 {summary.latency_p50 * 1000:.0f} ms, p95 {summary.latency_p95 * 1000:.0f} ms"
    )


def _in_process(lines, index, store, settings, retry_failed, progress, real):  # type: ignore[no-untyped-def]
    engine = open_engine(index, settings) if real else None

    async def answer(question):  # type: ignore[no-untyped-def]
        assert engine is not None
        return await engine.answer(question)

    return asyncio.run(answer_all(lines, answer, store, settings, retry_failed=retry_failed, progress=progress))


def _on_ray(lines, index, store, settings, retry_failed, progress, workers):  # type: ignore[no-untyped-def]
    from finray.cluster.answer_job import AnswerPool
    from finray.cluster.runtime import ray_session

    with ray_session():
        pool = AnswerPool(index, settings, workers)
        pool.wait_until_ready()
        try:
            return asyncio.run(
                answer_all(lines, pool.answer, store, settings, retry_failed=retry_failed, progress=progress)
            )
        finally:
            pool.close()
