"""Judges many answers concurrently and stores each judgement at once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from finray.core.errors import FinrayError
from finray.core.predictions import TokenUsage
from finray.lab.evaluation.judging.judgement import AnswerJudge, Judgement, Submission
from finray.lab.evaluation.judging.judgement_store import JudgementStore

NOT_JUDGED = "not judged"
Progress = Callable[[int, int], None]
"""Called with (done, total) of this run."""


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """``verdicts`` counts all distinct ``answers``; ``resumed`` of them were judged before. ``usage`` is that of this
    run."""

    judge: str
    answers: int
    resumed: int
    verdicts: Mapping[str, int]
    usage: TokenUsage
    seconds: float


async def judge_all(
    submissions: Iterable[Submission],
    judge: AnswerJudge,
    store: JudgementStore,
    *,
    concurrency: int,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> JudgeSummary:
    """Judge the answers without a judgement in ``store``, at most ``concurrency`` at once; with ``retry_failed`` also
    those stored as not judged.

    Each judgement is stored before the next request, so a killed run loses at most the requests in flight. After an
    error of the judge no request is started; those in flight are finished and stored, and the first error is raised.
    """
    started = time.perf_counter()
    wanted = {submission.key: submission for submission in submissions}
    todo = [submission for key, submission in wanted.items() if _pending(store.by_key.get(key), retry_failed)]
    waiting = iter(todo)
    spent = TokenUsage()
    done = 0
    storing = asyncio.Lock()
    error: FinrayError | None = None

    async def work() -> None:
        nonlocal spent, done, error
        for submission in waiting:
            if error is not None:
                return
            try:
                judgement = await judge.judge(submission)
            except FinrayError as failed:
                error = error or failed
                return
            async with storing:
                await asyncio.to_thread(store.append, judgement)
            spent += judgement.usage
            done += 1
            if progress is not None:
                progress(done, len(todo))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(todo))):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    if error is not None:
        raise error
    if todo:
        store.finish()
    verdicts = Counter(store.by_key[key].verdict or NOT_JUDGED for key in wanted)
    seconds = time.perf_counter() - started
    return JudgeSummary(judge.name, len(wanted), len(wanted) - len(todo), dict(verdicts), spent, seconds)


def _pending(known: Judgement | None, retry_failed: bool) -> bool:
    return known is None or (retry_failed and known.verdict is None)
