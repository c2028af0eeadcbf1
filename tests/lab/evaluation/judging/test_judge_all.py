"""Many answers before a judge: resumed runs, killed runs, judges that go away."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from finray.core.errors import ModelUnavailableError, SourceError
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question
from finray.lab.evaluation.judging.judge_all import judge_all
from finray.lab.evaluation.judging.judgement import Judgement, Submission, Verdict
from finray.lab.evaluation.judging.judgement_store import JudgementStore, read_judgements

SUBMISSIONS = [Submission(f"q{n}", f"Question {n}?", "It rose.", f"It rose {n} times.") for n in range(20)]


class Counting:
    """Counts what it is asked; ``fails_at`` raises, ``unusable_at`` gives no verdict."""

    name, hash = "judge", "h1"

    def __init__(self, *, fails_at: int | None = None, unusable_at: int | None = None) -> None:
        self.asked: list[str] = []
        self._fails_at = fails_at
        self._unusable_at = unusable_at

    async def judge(self, submission: Submission) -> Judgement:
        self.asked.append(submission.qid)
        if len(self.asked) == self._fails_at:
            raise ModelUnavailableError("gone")
        await asyncio.sleep(0.001)
        verdict: Verdict | None = None if len(self.asked) == self._unusable_at else "correct"
        return Judgement(submission.qid, submission.key, verdict, "r", self.name, self.hash, 10, 1, 0.25)


def store(path: Path) -> JudgementStore:
    return JudgementStore(str(path), Counting.name, Counting.hash)


async def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    first, second = Counting(), Counting()
    with store(path) as opened:
        summary = await judge_all([*SUBMISSIONS, *SUBMISSIONS], first, opened, concurrency=3)
    assert (summary.answers, summary.resumed, summary.verdicts) == (20, 0, {"correct": 20})
    assert summary.usage == TokenUsage(200, 20, 5.0)
    assert sorted(first.asked) == sorted({s.qid for s in SUBMISSIONS})
    before = path.read_bytes()
    with store(path) as opened:
        summary = await judge_all(SUBMISSIONS, second, opened, concurrency=3)
    assert (summary.resumed, summary.usage, second.asked) == (20, TokenUsage(), [])
    assert path.read_bytes() == before


async def test_half_a_line_of_a_killed_run_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with store(path) as opened:
        await judge_all(SUBMISSIONS, Counting(), opened, concurrency=4)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    again = Counting()
    with store(path) as opened:
        await judge_all(SUBMISSIONS, again, opened, concurrency=4)
    assert len(again.asked) == 1
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


async def test_when_the_judge_goes_away_what_it_said_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    judge = Counting(fails_at=8)
    with store(path) as opened, pytest.raises(ModelUnavailableError):
        await judge_all(SUBMISSIONS, judge, opened, concurrency=4)
    kept = read_judgements(str(path)).by_key
    assert len(kept) == len(judge.asked) - 1  # those under way were waited for
    again = Counting()
    with store(path) as opened:
        await judge_all(SUBMISSIONS, again, opened, concurrency=4)
    assert len(again.asked) == 20 - len(kept)


async def test_what_was_not_judged_is_asked_again_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with store(path) as opened:
        summary = await judge_all(SUBMISSIONS, Counting(unusable_at=5), opened, concurrency=1)
    assert summary.verdicts == {"correct": 19, "not judged": 1}
    with store(path) as opened:
        assert (await judge_all(SUBMISSIONS, Counting(), opened, concurrency=1)).verdicts["not judged"] == 1
    with store(path) as opened:
        again = Counting()
        assert (await judge_all(SUBMISSIONS, again, opened, concurrency=1, retry_failed=True)).verdicts == {
            "correct": 20
        }
    assert again.asked == ["q4"]
    assert len(path.read_bytes().splitlines()) == 20


KILLED = """
import asyncio, sys
from tests.lab.evaluation.judging.test_judge_all import SUBMISSIONS, Counting, store
from finray.lab.evaluation.judging.judge_all import judge_all
from pathlib import Path
class Slow(Counting):
    async def judge(self, submission):
        print("asked", submission.qid, flush=True)
        await asyncio.sleep(0.05)
        return await super().judge(submission)
with store(Path(sys.argv[1])) as opened:
    asyncio.run(judge_all(SUBMISSIONS, Slow(), opened, concurrency=2))
"""


async def test_a_killed_run_repeats_no_stored_judgement(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    root = Path(__file__).parents[4]
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, cwd=root, env=os.environ, text=True
    )
    deadline = time.monotonic() + 60
    while (not path.exists() or path.read_bytes().count(b"\n") < 6) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    output, _ = process.communicate()
    asked_first = output.split()[1::2]
    stored = {judgement.qid for judgement in read_judgements(str(path)).by_key.values()}
    assert len(stored) >= 6
    assert len(asked_first) - len(stored) <= 2  # at most those that were under way
    with path.open("ab") as file:
        file.write(b'{"qid": "q1')  # half a line, as a kill in the middle of a write leaves it
    again = Counting()
    with store(path) as opened:
        summary = await judge_all(SUBMISSIONS, again, opened, concurrency=2)
    assert stored.isdisjoint(again.asked)
    assert summary.verdicts == {"correct": 20}
    assert path.read_bytes().count(b"\n") == 20


def test_judges_are_never_mixed(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with store(path) as opened:
        opened.append(Judgement("q", "k", "correct", "", "judge", "h1"))
    with pytest.raises(SourceError, match="give another --out"):
        JudgementStore(str(path), "other", "h2")
    with path.open("a") as file:
        file.write('{"qid": "p", "verdict": null, "reason": "", "judge": "other", "judge_hash": "h2", "key": "l"}\n')
    with pytest.raises(SourceError, match="several judges"):
        read_judgements(str(path))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"qid": "q", "question": "x"}\n')
    for name, message in [("none.jsonl", "no judgements"), ("j.parquet", "ends in .jsonl"), ("p.jsonl", "line 1")]:
        with pytest.raises(SourceError, match=message):
            read_judgements(str(tmp_path / name))


def test_verdicts_are_found_by_what_was_judged(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    question = Question("q0", "Question 0?", "It rose.")
    answered = Prediction("other run", "Question 0?", "It rose 0 times.", "answered")
    with store(path) as opened:
        opened.append(Judgement("q0", SUBMISSIONS[0].key, "refused", "", "judge", "h1"))
        opened.append(Judgement("q1", SUBMISSIONS[1].key, None, "", "judge", "h1"))
    file = read_judgements(str(path))
    assert file.verdict(question, answered) is False
    assert file.verdict(question, Prediction("q0", "Question 0?", "Something else.", "answered")) is None
    other = Question("q1", "Question 1?", "It rose.")
    assert file.verdict(other, Prediction("q1", "", "It rose 1 times.", "answered")) is None
