"""``finray answer`` and jobs/answer.py: bulk answering, on Ray or beside this process."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict

from rich.console import Console

from finray.batch.driver import Answer, AnswerSummary, answer_all
from finray.batch.prediction_store import PredictionStore, pending
from finray.batch.question_files import read_questions
from finray.cli.commands.progress import progress_bar
from finray.core.settings import Settings
from finray.core.types import Prediction, Question, TokenUsage
from finray.engine import asks_llm
from finray.engines.questions import QuestionEngine
from finray.index.reader import IndexReader
from finray.retrieval.methods.registry import method_named


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
        todo = pending(lines, store.done(), settings.answer_hash(), retry_failed=retry_failed)
        to_ask = sum(isinstance(item, Question) for item in todo)
        with progress_bar(err, "answering") as progress, _answerer(index, settings, workers, to_ask=to_ask) as answer:
            summary = asyncio.run(
                answer_all(lines, answer, store, settings, retry_failed=retry_failed, progress=progress)
            )
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(describe(summary, out_uri), highlight=False, markup=False, soft_wrap=True)
    return 1 if summary.failed else 0


def describe(summary: AnswerSummary, out_uri: str) -> str:
    """The summary for a person: two lines, and one for each stage that asked a language model."""
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
    return "\n".join([speed, *(_spent(stage, tokens) for stage, tokens in summary.usage.items())])


def _spent(stage: str, tokens: TokenUsage) -> str:
    cost = f", cost {tokens.cost:,.4f}" if tokens.cost else ""
    return f"{stage}: {tokens.prompt_tokens:,} tokens in, {tokens.completion_tokens:,} out{cost}"


@contextmanager
def _answerer(index: str, settings: Settings, workers: int | None, *, to_ask: int) -> Iterator[Answer]:
    """Who answers: nobody where there is nothing to ask, else one engine (``workers`` 0) or a pool on Ray.

    An engine of vLLM batches what many questions ask, so it stays the only one unless ``workers`` are asked for.
    """
    if workers is None and asks_llm(settings) and settings.llm.backend == "vllm":
        workers = 0
    if not to_ask:
        yield _nobody
    elif workers == 0:
        waits = asks_llm(settings)
        in_flight = settings.bulk.concurrency if waits else 1
        with closing(QuestionEngine(index, settings, asks_llm=waits, in_flight=in_flight)) as engine:
            yield engine.answer
    else:
        from finray.cluster.answer_job import AnswerPool
        from finray.cluster.runtime import ray_cluster

        # What is wrong with these is known before a cluster starts.
        method_named(settings.retrieval.method)
        IndexReader.open(index, settings)
        with ray_cluster():
            pool = AnswerPool(index, settings, workers, questions=to_ask)
            try:
                pool.wait_until_ready()
                yield pool.answer
            finally:
                pool.close()


async def _nobody(question: Question) -> Prediction:
    raise AssertionError(f"{question.qid} was not to be asked")
