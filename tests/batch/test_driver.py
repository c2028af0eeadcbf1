"""Bulk answering: how many at once, what is stored when, and what a run does after another was killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import pytest

from finray.batch.driver import AnswerSummary, answer_all
from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.batch.question_files import BadLine
from finray.cli.answer import described
from finray.core.errors import ModelUnavailableError, SourceError
from finray.core.predictions import Prediction, Status, TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings

QUESTIONS = [Question(f"q{n}", f"question {n}?") for n in range(20)]


class Answerer:
    """Answers at once, or after ``delay_s``; questions whose text is in ``errors`` end in an error."""

    def __init__(self, settings: Settings, delay_s: float = 0.0, errors: Iterable[str] = ()) -> None:
        self.asked: list[str] = []
        self.now = self.most = 0
        self._settings, self._delay_s, self._errors = settings, delay_s, set(errors)

    async def answer(self, question: Question) -> Prediction:
        self.asked.append(question.qid)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self._delay_s)
        self.now -= 1
        status: Status = "error" if question.qid in self._errors else "answered"
        return Prediction(
            question.qid,
            question.question,
            "42",
            status,
            usage={"answer": TokenUsage(100, 10, 0.5)},
            seconds=0.25,
            settings_hash=self._settings.answer_hash(),
        )


def chosen(**bulk: object) -> Settings:
    return load_settings(overrides={f"bulk.{name}": value for name, value in bulk.items()}, environment={})


def run(
    out: Path, answerer: Answerer, settings: Settings, questions: list[Question | BadLine], *, retry: bool = False
) -> AnswerSummary:
    with PredictionStore(str(out)) as store:
        return asyncio.run(answer_all(questions, answerer.answer, store, settings, retry_failed=retry))


def lines(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_every_question_once_and_in_order_with_a_summary(tmp_path: Path) -> None:
    settings = chosen()
    answerer = Answerer(settings, errors=["q3"])
    summary = run(tmp_path / "out.jsonl", answerer, settings, [*QUESTIONS])
    assert [line["qid"] for line in lines(tmp_path / "out.jsonl")] == [q.qid for q in QUESTIONS]
    assert (summary.questions, summary.answered, summary.unanswerable, summary.errors) == (20, 19, 0, 1)
    assert summary.failed
    assert summary.resumed == 0
    assert (summary.latency_p50, summary.latency_p95) == (0.25, 0.25)
    assert summary.usage == {"answer": TokenUsage(2000, 200, 10.0)}
    assert "answer: 2,000 tokens in, 200 out, cost 10.0000" in described(summary, "out.jsonl")


@pytest.mark.parametrize("limit", [1, 4, 100])
def test_no_more_in_flight_than_allowed(tmp_path: Path, limit: int) -> None:
    settings = chosen(concurrency=limit)
    answerer = Answerer(settings, delay_s=0.005)
    run(tmp_path / "out.jsonl", answerer, settings, [*QUESTIONS])
    assert answerer.most == min(limit, len(QUESTIONS))
    assert sorted(answerer.asked) == sorted(q.qid for q in QUESTIONS)


def test_a_finished_run_asks_and_writes_nothing(tmp_path: Path) -> None:
    settings, out = chosen(), tmp_path / "out.jsonl"
    run(out, Answerer(settings), settings, [*QUESTIONS])
    before = out.stat().st_mtime_ns
    again = Answerer(settings)
    summary = run(out, again, settings, [*QUESTIONS])
    assert again.asked == []
    assert out.stat().st_mtime_ns == before
    assert (summary.questions, summary.resumed, summary.latency_p50) == (20, 20, None)


def test_only_new_questions_are_asked(tmp_path: Path) -> None:
    settings, out = chosen(), tmp_path / "out.jsonl"
    run(out, Answerer(settings), settings, [*QUESTIONS[:15]])
    later = Answerer(settings)
    summary = run(out, later, settings, [*QUESTIONS])
    assert sorted(later.asked) == sorted(q.qid for q in QUESTIONS[15:])
    assert summary.resumed == 15
    assert [line["qid"] for line in lines(out)] == [q.qid for q in QUESTIONS]


def test_other_settings_are_another_run(tmp_path: Path) -> None:
    settings, out = chosen(), tmp_path / "out.jsonl"
    run(out, Answerer(settings), settings, [*QUESTIONS])
    other = load_settings(overrides={"loop.i_max": 1}, environment={})
    again = Answerer(other)
    run(out, again, other, [*QUESTIONS])
    assert len(again.asked) == 20
    assert {line["settings_hash"] for line in lines(out)} == {other.answer_hash()}


def test_errors_are_repeated_only_when_asked_for(tmp_path: Path) -> None:
    settings, out = chosen(), tmp_path / "out.jsonl"
    run(out, Answerer(settings, errors=["q3", "q7"]), settings, [*QUESTIONS])
    idle, working = Answerer(settings), Answerer(settings)
    assert run(out, idle, settings, [*QUESTIONS]).errors == 2
    assert idle.asked == []
    assert run(out, working, settings, [*QUESTIONS], retry=True).errors == 0
    assert sorted(working.asked) == ["q3", "q7"]
    assert [line["qid"] for line in lines(out)] == [q.qid for q in QUESTIONS]


def test_a_bad_line_is_an_error_with_its_number(tmp_path: Path) -> None:
    settings, out = chosen(), tmp_path / "out.jsonl"
    bad = BadLine(2, "line-2", "{oops", "not JSON: Expecting value at column 2")
    summary = run(out, Answerer(settings), settings, [QUESTIONS[0], bad, QUESTIONS[1]])
    assert (summary.questions, summary.answered, summary.errors) == (3, 2, 1)
    line = lines(out)[1]
    assert (line["qid"], line["status"], line["line"]) == ("line-2", "error", 2)
    assert line["error"] == "line 2: not JSON: Expecting value at column 2"
    again = Answerer(settings)
    run(out, again, settings, [QUESTIONS[0], bad, QUESTIONS[1]], retry=True)
    assert again.asked == []


def test_progress_counts_to_the_end(tmp_path: Path) -> None:
    settings = chosen()
    seen: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        seen.append((done, total))

    with PredictionStore(str(tmp_path / "out.jsonl")) as store:
        asyncio.run(answer_all(QUESTIONS, Answerer(settings).answer, store, settings, progress=report))
    assert seen == [(n, 20) for n in range(1, 21)]


def test_nothing_to_do(tmp_path: Path) -> None:
    settings = chosen()
    summary = run(tmp_path / "out.jsonl", Answerer(settings), settings, [])
    assert (summary.questions, summary.errors, summary.latency_p95) == (0, 0, None)


async def test_a_cancelled_run_keeps_what_has_come(tmp_path: Path) -> None:
    settings = chosen(concurrency=1)
    stuck = asyncio.Event()

    async def answer(question: Question) -> Prediction:
        if question.qid == "q5":
            stuck.set()
            await asyncio.Event().wait()
        return await Answerer(settings).answer(question)

    with PredictionStore(str(tmp_path / "out.jsonl")) as store:
        task = asyncio.create_task(answer_all(QUESTIONS, answer, store, settings))
        await stuck.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    stored = read_predictions(str(tmp_path / "out.jsonl")).predictions
    assert [p.qid for p in stored] == ["q0", "q1", "q2", "q3", "q4"]


def test_an_answerer_that_cannot_go_on_ends_the_run_with_its_own_error(tmp_path: Path) -> None:
    settings = chosen(concurrency=1)
    answerer = Answerer(settings)

    async def answer(question: Question) -> Prediction:
        if question.qid == "q5":
            raise ModelUnavailableError("the cluster is gone")
        return await answerer.answer(question)

    with PredictionStore(str(tmp_path / "out.jsonl")) as store, pytest.raises(ModelUnavailableError, match="gone"):
        asyncio.run(answer_all(QUESTIONS, answer, store, settings))
    assert len(read_predictions(str(tmp_path / "out.jsonl")).predictions) == 5


def test_a_bug_in_one_question_is_that_questions_error(tmp_path: Path) -> None:
    settings = chosen(concurrency=4)
    answerer = Answerer(settings)

    async def answer(question: Question) -> Prediction:
        if question.qid == "q5":
            raise KeyError("a bug")
        return await answerer.answer(question)

    with PredictionStore(str(tmp_path / "out.jsonl")) as store:
        summary = asyncio.run(answer_all(QUESTIONS, answer, store, settings))
    assert (summary.answered, summary.errors) == (len(QUESTIONS) - 1, 1)
    stored = {p.qid: p for p in read_predictions(str(tmp_path / "out.jsonl")).predictions}
    assert stored["q5"].error == "KeyError: 'a bug'"


class Failing(PredictionStore):
    """A store that cannot be written ``failures`` times."""

    failures = 1

    def append(self, batch: Iterable[Prediction]) -> None:
        batch = list(batch)
        if batch and self.failures:
            self.failures -= 1
            raise SourceError("cannot write: no space left")
        super().append(batch)


def test_a_store_that_cannot_be_written_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    settings = chosen(concurrency=2, flush_seconds=0.02)
    answerer = Answerer(settings, delay_s=0.01)
    many = [Question(f"q{n}", "?") for n in range(10_000)]
    out = tmp_path / "out.jsonl"
    with Failing(str(out)) as store, pytest.raises(SourceError, match="no space left"):
        asyncio.run(answer_all(many, answerer.answer, store, settings))
    assert len(answerer.asked) < 1000
    assert len(read_predictions(str(out)).predictions) >= len(answerer.asked) - 2


RUN = """
import asyncio, sys
from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore
from finray.core.settings import load_settings
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question

settings = load_settings(overrides={"bulk.concurrency": 8, "bulk.flush_seconds": 0.01}, environment={})
asked = open(sys.argv[2], "a")

async def answer(question):
    print(question.qid, file=asked, flush=True)
    await asyncio.sleep(0.002)
    return Prediction(question.qid, question.question, "x" * 3000, "answered", settings_hash=settings.answer_hash())

questions = [Question(f"q{n}", f"question {n}?") for n in range(400)]
with PredictionStore(sys.argv[1]) as store:
    asyncio.run(answer_all(questions, answer, store, settings, progress=lambda done, total: print(done, flush=True)))
"""


@pytest.mark.parametrize("suffix", ["jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_kill_9_in_the_middle(tmp_path: Path, suffix: str) -> None:
    out, asked = tmp_path / f"out.{suffix}", tmp_path / "asked"
    for patience in (100, 100, None):
        command = [sys.executable, "-c", textwrap.dedent(RUN), str(out), str(asked)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == patience:
                os.kill(process.pid, signal.SIGKILL)
                break
        process.stdout.close()
        assert process.wait() == (0 if patience is None else -signal.SIGKILL)
    assert [p.qid for p in read_predictions(str(out)).predictions] == [f"q{n}" for n in range(400)]
    # Asked twice is only what was in flight or not yet written when a run was killed.
    assert len(asked.read_text().split()) < 600
