"""Three nights with faults end like three undisturbed nights: the sync alone, and all that cron runs."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import boto3
import pytest

from finray.core.settings import EdgarSettings
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.index import layout, schema
from finray.lab.sample.edgar import Submission, daily_index_path
from finray.lab.sample.generate import generate_sample
from finray.storage.locations import delete
from tests.edgar.syncer import Syncer
from tools.faults.commands import Command, Ended, start_server
from tools.faults.edgar import BLOCKED, BUSY, Fault, LocalEdgar
from tools.faults.s3 import FaultyS3, S3Fault, bad_day
from tools.faults.state import read_state, state_differences
from tools.faults.world import Place, options

Republish = Callable[[list[Submission]], None]
FIRST = dt.date(2024, 5, 6)  # a Monday


def nights(submissions: list[Submission]) -> list[list[Submission]]:
    """What EDGAR has each night: filings of that day, the second night a late one of the first day too, and the third
    night without one that was deleted and with a corrected one."""
    days = [FIRST + dt.timedelta(days=number) for number in range(3)]
    spread = [moved(submission, days[number % 3]) for number, submission in enumerate(submissions)]
    late = spread[0]
    first = [s for s in spread if s.filed_at == days[0] and s is not late]
    second = [*first, late, *(s for s in spread if s.filed_at == days[1])]
    third = [*second, *(s for s in spread if s.filed_at == days[2])]
    wrong, deleted = first[0], first[1]
    form = "8-K" if wrong.form != "8-K" else "10-Q"
    header = f"SUBMISSION TYPE:\t{wrong.form}".encode(), f"SUBMISSION TYPE:\t{form}".encode()
    corrected = replace(wrong, form=form, content=wrong.content.replace(*header))
    return [first, second, [corrected if s is wrong else s for s in third if s is not deleted]]


def moved(submission: Submission, day: dt.date) -> Submission:
    before, after = (f"FILED AS OF DATE:\t\t{date:%Y%m%d}".encode() for date in (submission.filed_at, day))
    content = submission.content.replace(before, after)
    return replace(submission, filed_at=day, content=content)


@pytest.mark.slow
def test_three_nights_of_sync_with_faults(
    edgar: LocalEdgar,
    republish: Republish,
    submissions: list[Submission],
    edgar_settings: EdgarSettings,
    tmp_path: Path,
) -> None:
    settings = edgar_settings.model_copy(update={"recheck_days": 1.0})
    quiet, loud = (Syncer(str(tmp_path / name), settings) for name in ("quiet", "loud"))
    faults: list[dict[str, list[Fault]]] = []
    published = nights(submissions)
    faults.append({published[0][0].path: [BUSY] * 3, published[0][1].path: [Fault(cut_after=4000)]})
    faults.append(
        {
            published[1][-1].path: [BLOCKED],
            daily_index_path(FIRST + dt.timedelta(days=1)): [Fault(cut_after=300, cut_silently=True)],
            published[1][-2].path: [Fault(cut_after=9000, cut_silently=True)] * 2,
        }
    )
    faults.append(
        {daily_index_path(FIRST + dt.timedelta(days=2)): [BUSY] * 3, published[2][-1].path: [Fault(429, b"")]}
    )
    last = None
    for number, filings in enumerate(published):
        republish(filings)
        day = FIRST + dt.timedelta(days=number)
        now = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(8, 15), dt.UTC)
        options: dict[str, Any] = {"since": FIRST, "until": now.date(), "now": now}
        edgar.faults.clear()
        quiet(**options)
        for path, some in faults[number].items():
            edgar.fail(path, *some)
        disturbed = loud(**options)
        assert disturbed.has_failures or disturbed.pauses
        last = loud(**options)
        assert not last.has_failures
        assert loud.stored() == quiet.stored()
        assert loud.rows() == quiet.rows()
        assert last.complete_until == day
    assert len(loud.stored()) == len(published[2])
    assert sorted(loud.stored().values()) == sorted(submission.content for submission in published[2])
    assert {entry.state for entry in loud.rows().values()} == {"done", "deleted"}


@dataclass
class Cron:
    """What cron runs every night on one world: sync with index, answers, check. ``now`` is the time of the night."""

    place: Place
    questions: Path
    logs: Path
    environment: dict[str, str]
    now: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    def start(self, operation: str) -> Command:
        index = ["--index", self.place.index]
        arguments = {
            "sync": ["sync", "--raw", self.place.raw, *index, "--since", str(FIRST), "--until", str(self.now.date())],
            "answer": ["answer", str(self.questions), *index, "--out", self.place.predictions, "--workers", "0"],
            "check": ["check", "--raw", self.place.raw, *index, "--deep"],
        }
        chosen = ["--set", "edgar.recheck_days=1", "--set", f"edgar.scratch={self.place.scratch / 'partial'}"]
        log = self.logs / f"{uuid.uuid4().hex}.log"
        return Command([*arguments[operation], *options(), *chosen], self.environment, log, self.now)

    def run(self, operation: str) -> Ended:
        ended = self.start(operation).wait()
        assert not ended.crashed, ended.said
        return ended

    def kill(self, operation: str, when: Callable[[], bool]) -> None:
        """Start it, and kill it as soon as ``when`` is true; it must not have ended before."""
        running = self.start(operation)
        deadline = time.monotonic() + 60
        while not when() and running.running() and time.monotonic() < deadline:
            time.sleep(0.005)
        running.kill()
        ended = running.wait()
        assert ended.killed, f"{operation} ended before it could be killed: {ended.said}"
        assert running.left_running() == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)  # a minute on a machine that does nothing else
def test_three_nights_of_sync_index_and_answers_with_faults_in_each(
    edgar: LocalEdgar, republish: Republish, submissions: list[Submission], s3_variables: dict[str, str], tmp_path: Path
) -> None:
    few = submissions[:7]
    generate_sample(tmp_path / "sample", companies=2, years=1, seed=3, formats=("txt",), questions=6, workers=1)
    questions = tmp_path / "sample" / "questions.jsonl"
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with FaultyS3(s3_variables["AWS_ENDPOINT_URL"], seed=1) as broken:
        boto3.client("s3").create_bucket(Bucket="nights")
        start_server(threads)
        worlds = {}
        for name, uri in (("quiet", str(tmp_path / "quiet")), ("loud", "s3://nights")):
            place = Place(uri, tmp_path / f"{name}-scratch")
            place.scratch.mkdir()
            environment = {**s3_variables, "TMPDIR": str(place.scratch), "AWS_ENDPOINT_URL": broken.url}
            worlds[name] = Cron(place, questions, tmp_path, environment)
        quiet, loud = worlds["quiet"], worlds["loud"]
        for night, filings in enumerate(nights(few)):
            republish(filings)
            for world in worlds.values():
                day = FIRST + dt.timedelta(days=night + 1)
                world.now = dt.datetime.combine(day, dt.time(8, 15), dt.UTC)
                delete(world.place.predictions)
            for operation in ("sync", "answer", "check"):
                ended = quiet.run(operation)
                assert ended.code == 0, ended.said
            edgar.requests.clear()
            _FAULTS[night](loud, edgar, broken, filings)
            edgar.faults.clear()
            broken.fail()
            loud.place.age()
            for operation in ("sync", "answer", "check"):
                ended = loud.run(operation)
                assert ended.code == 0, ended.said
            assert state_differences(read_state(quiet.place), read_state(loud.place)) == []
            assert loud.place.left_over() == []
    ledger = Ledger(RawStore(loud.place.raw).ledger_uri, read_only=True)
    assert Counter(entry.state for entry in ledger.entries()) == {"done": 6, "deleted": 1}


def _first_night(cron: Cron, edgar: LocalEdgar, s3: FaultyS3, filings: list[Submission]) -> None:
    """The machine goes down while filings are fetched; EDGAR is out of order for one of them; answers are killed."""
    edgar.fail(filings[0].path, Fault(piece_seconds=0.05))
    edgar.fail(filings[1].path, *[BUSY] * 50)  # more than both runs ask, or the first may get it before it is killed
    cron.kill("sync", lambda: bool(edgar.asked(filings[0].accession)))
    assert cron.run("sync").code == 1
    cron.kill("answer", lambda: True)


def _second_night(cron: Cron, edgar: LocalEdgar, s3: FaultyS3, filings: list[Submission]) -> None:
    """EDGAR blocks us and sends half an index and half a filing; the machine goes down while the index is written."""
    edgar.fail(filings[-1].path, BLOCKED)
    edgar.fail(daily_index_path(FIRST + dt.timedelta(days=1)), Fault(cut_after=300, cut_silently=True))
    edgar.fail(filings[-2].path, *[Fault(cut_after=9000, cut_silently=True)] * 3)
    assert cron.run("sync").code == 1
    before = layout.open_table(cron.place.index, schema.CHUNKS).version
    edgar.faults.clear()
    cron.kill("sync", lambda: layout.open_table(cron.place.index, schema.CHUNKS).version > before)


def _third_night(cron: Cron, edgar: LocalEdgar, s3: FaultyS3, filings: list[Submission]) -> None:
    """S3 fails, for a while altogether, then now and then, and the sync is killed meanwhile. EDGAR has corrected one
    filing and deleted another."""
    s3.fail(S3Fault("error", skip=40, times=20), *bad_day(0.03))
    cron.kill("sync", lambda: bool(edgar.asked(filings[-1].accession)))
    assert cron.run("sync").code in (0, 1)
    s3.fail()
    assert cron.run("sync").code == 0
    s3.fail(*bad_day(0.05))
    assert cron.run("answer").code in (0, 1)
    assert s3.failures > 20


_FAULTS = (_first_night, _second_night, _third_night)
