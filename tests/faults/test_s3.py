"""S3 with errors, broken connections, lost replies, late listings, hangs and outages."""

from __future__ import annotations

import http.client
import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.retries.standard import ExponentialBackoff

from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.core.errors import SettingsError, SourceError
from finray.core.predictions import Prediction
from finray.core.settings import Settings, load_settings
from finray.edgar.ledger import Entry, Ledger
from finray.edgar.listing import Listed
from finray.index.job.in_process import index_in_process
from finray.index.upkeep.check import check_index
from finray.lab.sample.generate import generate_sample
from finray.storage import s3 as s3_client
from finray.storage.locations import delete, exists, list_objects, open_stream, read_bytes, write_bytes
from tests.faults.commands import run
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.processes import start
from tools.faults.s3 import EVERYTHING, Action, FaultyS3, S3Fault, bad_day
from tools.faults.state import read_state, state_differences
from tools.faults.world import Operation, Place, World

WRITES = frozenset({"PUT", "POST"})
SIGNED = "AWS4-HMAC-SHA256 Credential=test/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
VERSIONS = r"_versions/.*manifest$"


@pytest.fixture
def faulty(s3: str, s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyS3]:
    """A proxy between the test and S3, without faults at first."""
    with FaultyS3(s3_server, seed=1) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the number of attempts for each request."""
    return lambda tries: monkeypatch.setenv("AWS_MAX_ATTEMPTS", str(tries))


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits of botocore between attempts, seconds together, at a fiftieth of their length."""
    usual = ExponentialBackoff.delay_amount
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda self, context: usual(self, context) / 50)


def ask(proxy: FaultyS3, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection(urlsplit(proxy.url).netloc, timeout=10)) as connection:
        connection.request(method, path, body, {"Authorization": SIGNED})
        with connection.getresponse() as response:
            return response.status, response.read()


def test_each_fault_has_its_documented_effect(faulty: FaultyS3, s3: str) -> None:
    path = f"/{s3.removeprefix('s3://')}/object"
    assert ask(faulty, "PUT", path, b"first")[0] == 200
    errors: list[tuple[Action, int, bytes]] = [("error", 500, b"InternalError"), ("slow_down", 503, b"SlowDown")]
    for action, status, code in errors:
        faulty.fail(S3Fault(action, methods=frozenset({"PUT"})))
        answer = ask(faulty, "PUT", path, b"not stored")
        assert answer[0] == status and code in answer[1]
    faulty.fail(S3Fault("reset_before"))
    with pytest.raises(ConnectionResetError):
        ask(faulty, "PUT", path, b"not stored")
    faulty.fail()
    assert ask(faulty, "GET", path) == (200, b"first")
    faulty.fail(S3Fault("reset_after"))
    with pytest.raises(ConnectionResetError):
        ask(faulty, "PUT", path, b"second")
    faulty.fail(S3Fault("cut", key="object$", skip=1, times=1))
    assert ask(faulty, "GET", path) == (200, b"second")
    with pytest.raises(http.client.IncompleteRead):
        ask(faulty, "GET", path)
    assert ask(faulty, "GET", path) == (200, b"second")
    assert [action for action, _, _ in faulty.log].count("ok") == 4
    assert faulty.counts["requests"] == 9 and faulty.failures == 5


def test_late_listings(faulty: FaultyS3, s3: str) -> None:
    folder = f"{s3}/late"
    write_bytes(f"{folder}/old", b"x")
    faulty.listing.seconds = 0.5
    write_bytes(f"{folder}/old", b"changed")
    write_bytes(f"{folder}/new", b"x")
    delete(f"{folder}/old")

    def names() -> list[str]:
        return [file.uri.rpartition("/")[2] for file in list_objects(folder)]

    assert names() == ["old"] and not exists(f"{folder}/old")
    assert read_bytes(f"{folder}/new") == b"x"
    time.sleep(0.6)
    assert names() == ["new"]


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("action", EVERYTHING)
def test_a_failed_request_is_retried(faulty: FaultyS3, s3: str, action: Action) -> None:
    where, content = f"{s3}/again/{action}", os.urandom(100_000)
    for doing in (
        lambda: write_bytes(where, content),
        lambda: read_bytes(where) == content or pytest.fail("read"),
        lambda: exists(where) or pytest.fail("exists"),
        lambda: list_objects(f"{s3}/again") or pytest.fail("list"),
        lambda: open_stream(where).read() == content or pytest.fail("stream"),
        lambda: delete(where),
    ):
        before = faulty.failures
        faulty.fail(S3Fault(action, times=1))
        doing()
        assert faulty.failures == before + 1
    assert not exists(where)


@pytest.mark.slow
def test_an_s3_that_never_answers_ends_in_an_error(
    faulty: FaultyS3, s3: str, patience: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    patience(2)
    monkeypatch.setattr(s3_client, "_READ_SECONDS", 0.5)
    faulty.fail(S3Fault("hang"))
    started = time.monotonic()
    for doing in (lambda: read_bytes(f"{s3}/object"), lambda: write_bytes(f"{s3}/object", b"x")):
        with pytest.raises(SourceError, match=r"s3://finray.*AWS_ENDPOINT_URL"):
            doing()
    assert time.monotonic() - started < 60
    patience(0)
    with pytest.raises(SettingsError, match="AWS_MAX_ATTEMPTS"):
        read_bytes(f"{s3}/object")


@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("action", ["reset_before", "reset_after"])
def test_a_ledger_commit_whose_reply_is_lost_counts_once(faulty: FaultyS3, s3: str, action: Action) -> None:
    """A conditional put cannot simply be repeated: the object of the first attempt makes S3 refuse the second."""
    where, number = f"{s3}/{action}", itertools.count(1)
    for _ in range(3):
        faulty.fail(S3Fault(action, methods=WRITES, key=VERSIONS, times=1))
        ledger = Ledger(where)
        ledger.note(entry(f"0000000001-24-{next(number):06d}"))
        ledger.commit()
        assert faulty.counts[action] > 0
    assert len(list(Ledger(where).entries())) == 3


@pytest.mark.usefixtures("quick_retries")
def test_predictions_whose_replies_are_lost_are_stored_once(faulty: FaultyS3, s3: str) -> None:
    where = f"{s3}/out/predictions.jsonl"
    faulty.fail(S3Fault("reset_after", rate=0.5, methods=WRITES))
    with PredictionStore(where) as store:
        for number in range(4):
            store.append([prediction(f"q{number}")])
        store.finish([f"q{number}" for number in range(4)], "hash")
    faulty.fail()
    kept = read_predictions(where)
    assert [p.qid for p in kept.predictions] == ["q0", "q1", "q2", "q3"]
    assert kept.remarks == () and faulty.counts["reset_after"] > 0


@pytest.mark.slow
def test_predictions_with_late_s3_listings(faulty: FaultyS3, s3: str) -> None:
    where, late = f"{s3}/late/predictions.jsonl", 1.0
    faulty.listing.seconds = late
    with PredictionStore(where) as store:
        store.append([prediction("q0")])
    with PredictionStore(where) as store:  # does not see the part of the first
        store.append([prediction("q0"), prediction("q1")])
        store.finish(["q0", "q1"], "hash")
    assert [p.qid for p in read_predictions(where).predictions] == ["q0", "q1"]
    time.sleep(late)
    with PredictionStore(where) as store:
        store.finish(["q0", "q1"], "hash")
    assert [p.qid for p in read_predictions(where).predictions] == ["q0", "q1"]  # its parts are gone, and listed still
    time.sleep(late)
    kept = read_predictions(where)
    assert [p.qid for p in kept.predictions] == ["q0", "q1"] and kept.remarks == ()


def entry(accession: str) -> Entry:
    import datetime as dt

    day = dt.date(2024, 1, 2)
    return Entry(Listed(accession, "10-K", "Company", ("0000000001",), day, day, "https://host/file"), "done")


def prediction(qid: str) -> Prediction:
    return Prediction(qid=qid, question="?", answer="7", status="answered", settings_hash="hash")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    generate_sample(folder, companies=1, years=1, seed=5, formats=("html",), questions=1, workers=1)
    return folder / "filings"


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings(overrides={"encoder.model": "hash", "index.write_rows": 40}, environment={})


@pytest.fixture(scope="module")
def expected(corpus: Path, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Contents:
    uri = str(tmp_path_factory.mktemp("expected"))
    index_in_process([str(corpus)], uri, settings)
    return read_contents(uri)


@pytest.mark.slow
def test_interrupted_index_commits(
    faulty: FaultyS3, s3: str, corpus: Path, settings: Settings, expected: Contents
) -> None:
    """The connection breaks before or after S3 has executed the commit; the job cannot know which."""
    index = f"{s3}/commits"
    faulty.fail(
        S3Fault("reset_after", methods=WRITES, rate=0.3),
        S3Fault("reset_before", methods=WRITES, rate=0.3, key=VERSIONS),
    )
    assert index_in_process([str(corpus)], index, settings).failed == 0
    assert faulty.counts["reset_after"] > 5 and faulty.counts["reset_before"] > 3
    faulty.fail()
    assert differences(expected, read_contents(index)) == []
    assert check_index(index, deep=True) == []


@pytest.mark.slow
def test_an_index_job_with_late_s3_listings(
    faulty: FaultyS3, s3: str, corpus: Path, settings: Settings, expected: Contents
) -> None:
    index = f"{s3}/late-index"
    faulty.listing.seconds = 2.0
    for _ in range(2):
        index_in_process([str(corpus)], index, settings)
    assert faulty.listing.hidden > 20
    time.sleep(faulty.listing.seconds)
    assert differences(expected, read_contents(index)) == []
    assert check_index(index, deep=True) == []


@pytest.mark.slow
def test_s3_becomes_unavailable_during_an_index_job(
    faulty: FaultyS3,
    s3: str,
    corpus: Path,
    settings: Settings,
    expected: Contents,
    patience: Callable[[int], None],
) -> None:
    index, after = f"{s3}/away", 25
    while True:
        patience(2)
        faulty.fail(S3Fault("error", skip=after))
        started = time.monotonic()
        try:
            index_in_process([str(corpus)], index, settings)
            break
        except (SourceError, OSError) as error:
            assert "s3" in str(error).lower()
        assert time.monotonic() - started < 180  # seconds where the machine is not busy
        after = 4 * after
    assert after > 100
    faulty.fail()
    assert differences(expected, read_contents(index)) == []
    assert check_index(index, deep=True) == []


@pytest.mark.slow
def test_jobs_succeed_if_one_request_in_eight_fails(faulty: FaultyS3, s3: str, world: World, tmp_path: Path) -> None:
    quiet, loud = Place(str(tmp_path / "quiet"), tmp_path / "a"), Place(f"{s3}/loud", tmp_path / "b")
    jobs: list[Operation] = ["sync", "answer"]
    for operation in jobs:
        ended = run(operation, world, quiet)
        assert ended.code == 0, ended
    faulty.fail(*bad_day(1 / 8))
    for operation in jobs:
        ended = run(operation, world, loud)
        assert ended.code == 0, ended
    assert all(faulty.counts[action] > 5 for action in EVERYTHING), faulty.counts
    faulty.fail()
    assert run("check", world, loud).code == 0
    assert state_differences(read_state(quiet), read_state(loud)) == []


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.long
@pytest.mark.timeout(600)
def test_jobs_on_ray_succeed_if_one_request_in_eight_fails(
    faulty: FaultyS3, s3: str, corpus: Path, expected: Contents, tmp_path: Path
) -> None:
    """Workers read filings and the index from this S3; the driver commits and stores predictions there."""
    filings, index, questions, quiet, loud = (
        f"{s3}/ray/{name}" for name in ("filings", "index", "questions.jsonl", "quiet.jsonl", "loud.jsonl")
    )
    for path in corpus.iterdir():
        write_bytes(f"{filings}/{path.name}", path.read_bytes())
    write_bytes(questions, (corpus.parent / "questions.jsonl").read_bytes())
    environment = {"FINRAY_ENCODER__MODEL": "hash", "FINRAY_INDEX__WRITE_ROWS": "40"}
    environment["FINRAY_INDEX__IN_PROCESS"] = "false"

    def succeeds(*command: str) -> None:
        with start(*command, environment=environment) as job:
            ended = job.wait(280.0)
        assert ended.exit_code == 0, ended

    faulty.fail(*bad_day(1 / 8))
    succeeds("jobs/index.py", filings, "--index", index)
    succeeds("jobs/answer.py", questions, "--index", index, "--out", loud, "--workers", "1")
    assert all(faulty.counts[action] > 3 for action in EVERYTHING), faulty.counts
    faulty.fail()
    assert differences(expected, read_contents(index)) == []
    assert check_index(index, deep=True) == []
    succeeds("jobs/answer.py", questions, "--index", index, "--out", quiet, "--workers", "0")

    def answers(uri: str) -> list[Prediction]:
        return [replace(prediction, seconds=0.0) for prediction in read_predictions(uri).predictions]

    assert answers(loud) == answers(quiet) != []


@pytest.mark.slow
def test_an_unavailable_s3_is_one_line_and_an_exit_code(
    faulty: FaultyS3, s3: str, world: World, tmp_path: Path, patience: Callable[[int], None]
) -> None:
    place = Place(f"{s3}/away-commands", tmp_path / "scratch")
    assert run("sync", world, place).code == 0
    patience(2)
    attempts: list[tuple[Operation, str]] = [("maintain", "index/chunks.lance"), ("answer", "out/")]
    for operation, part in attempts:
        faulty.fail(S3Fault("slow_down", key=part))
        error = run(operation, world, place).error
        assert error.startswith("error: cannot ") and part in error
    faulty.fail()
    assert run("answer", world, place).code == 0
