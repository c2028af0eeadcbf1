"""The S3 policies allow what finray does, recorded on a server that logs every call, and no more."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from finray.api.keys import KeyRing, add_key
from finray.cli import app
from finray.core.settings import Settings
from finray.edgar.indexing import index_backlog, sources_of
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.engine import open_engine
from finray.index.job.in_process import index_in_process
from finray.index.tables import maintenance
from finray.index.writing.writer import IndexWriter
from finray.lab.sample.edgar import feed_archive, sample_submissions
from finray.models.encoder_loading import encoder_dimension
from finray.storage.locations import read_bytes, write_bytes
from finray.storage.s3 import s3_filesystem
from tests.infra.files import POLICIES
from tests.infra.iam import Request, allowed, many
from tests.infra.s3_calls import Call, Recorder, recording_s3
from tests.weightless import OPTIONS

BUCKET = "finray-example"
HERE = f"s3://{BUCKET}"
RAW, INDEX = f"{HERE}/raw", f"{HERE}/index"
RARE = {"s3:AbortMultipartUpload"}
"""Needed only after a failure: parts of an aborted upload cost money until they are removed."""


def policy(name: str) -> dict[str, Any]:
    (path,) = [path for path in POLICIES if path.stem == name]
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def s3() -> Iterator[Recorder]:
    with recording_s3() as recorder:
        s3_filesystem().mkdir(HERE)
        yield recorder


@pytest.fixture(scope="module")
def calls(
    s3: Recorder, local_settings: Settings, sample_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, set[Call]]]:
    """The calls of each role during its work, one role after the other on one bucket."""
    with pytest.MonkeyPatch.context() as patch:
        # As if every run were a day after the one before: old versions of the tables are deleted.
        patch.setattr(maintenance, "KEEP_VERSIONS", dt.timedelta(0))
        yield _calls(s3, local_settings, sample_folder, tmp_path_factory.mktemp("policies"))


def _calls(s3: Recorder, local_settings: Settings, sample_folder: Path, scratch: Path) -> dict[str, set[Call]]:
    noted: dict[str, set[Call]] = {}

    def done(role: str) -> None:
        noted[role] = {call for call in s3.calls if call.resource.startswith(f"arn:aws:s3:::{BUCKET}")}
        s3.calls.clear()

    # Sync: full submissions of a day into the raw store, twice, then the index, then a deletion.
    submissions = sorted(sample_submissions(companies=1, years=1, seed=3), key=lambda s: s.filed_at)[:3]
    archive = scratch / f"{submissions[0].filed_at:%Y%m%d}.nc.tar.gz"
    archive.write_bytes(feed_archive(submissions))
    ciks = f"{HERE}/sync/ciks.txt"
    write_bytes(ciks, submissions[0].cik.encode())
    s3.calls.clear()
    for _ in range(2):
        command = ["sync", "--raw", RAW, "--since", "2020-01-01", "--from-feed", str(archive), "--ciks", ciks]
        result = CliRunner().invoke(app, command, env={"FINRAY_EDGAR__SCRATCH": str(scratch)})
        assert result.exit_code == 0, result.output
    store = RawStore(RAW)
    backlog = index_backlog(Ledger(store.ledger_uri), store, INDEX)
    assert index_in_process(sources_of(backlog, store), INDEX, local_settings).indexed
    writer = IndexWriter(INDEX, local_settings, encoder_dimension(local_settings.encoder))
    assert writer.withdraw([next(iter(backlog.new))])
    writer.finish()
    result = CliRunner().invoke(app, ["check", "--index", INDEX, "--raw", RAW, "--deep", *OPTIONS])
    assert result.exit_code in (0, 1), result.output
    done("sync")
    # Index: new filings beside those, then nothing new.
    one, other = sorted((sample_folder / "filings").glob("*8k*"))[:2]
    for path in (one, other):
        write_bytes(f"{RAW}/{path.name}", path.read_bytes())
    s3.calls.clear()
    for _ in range(2):
        assert index_in_process([RAW], INDEX, local_settings).failed == 0
    assert CliRunner().invoke(app, ["maintain", "--index", INDEX, *OPTIONS]).exit_code == 0
    done("index-writer")
    question = json.dumps({"qid": "a", "question": "What was the net income in fiscal 2022?"})
    write_bytes(f"{HERE}/questions/questions.jsonl", f"{question}\n".encode())
    keys = f"{HERE}/serving/keys.json"
    add_key(keys, "tests")
    s3.calls.clear()
    for _ in range(2):
        command = ["answer", f"{HERE}/questions/questions.jsonl", "--index", INDEX, "--workers", "0"]
        command += ["--out", f"{HERE}/predictions/predictions.jsonl", *OPTIONS]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
    done("answer")
    reader = open_engine(INDEX, local_settings).reader
    reader.pages(None)
    read_bytes(reader.filings()[0].source_uri)  # to draw a page of it
    KeyRing(keys, 0.0)
    done("reader")
    assert s3.unknown == {f"PUT /{BUCKET}?"}
    return noted


@pytest.mark.slow
@pytest.mark.parametrize("role", ["sync", "index-writer", "answer", "reader"])
def test_a_role_is_allowed_all_its_calls(calls: dict[str, set[Call]], role: str) -> None:
    assert calls[role]
    refused = sorted(str(call) for call in calls[role] if not allowed(policy(role), call.request))
    assert refused == []


@pytest.mark.slow
@pytest.mark.parametrize("role", ["sync", "index-writer", "answer", "reader"])
def test_a_role_is_denied_other_calls(calls: dict[str, set[Call]], role: str) -> None:
    for statement in policy(role)["Statement"]:
        one = {"Statement": [statement]}
        used = {call.action for call in calls[role] if allowed(one, call.request)}
        assert set(many(statement["Action"])) - used <= RARE, statement["Sid"]


@pytest.mark.slow
def test_readers_cannot_write_and_writers_stay_in_their_prefix(calls: dict[str, set[Call]]) -> None:
    writes = {"s3:PutObject", "s3:DeleteObject"}
    for call in calls["sync"] | calls["index-writer"]:
        if call.action in writes:
            assert not allowed(policy("reader"), call.request)
            assert not allowed(policy("answer"), call.request)
    for call in calls["sync"]:
        if call.action in writes and "/raw/" in call.resource:
            assert not allowed(policy("index-writer"), call.request)


@pytest.mark.parametrize("role", ["sync", "index-writer", "answer", "reader"])
def test_no_role_can_access_foreign_objects(role: str) -> None:
    here = f"arn:aws:s3:::{BUCKET}"
    foreign = [
        Request("s3:ListBucket", here, {"s3:prefix": prefix}) for prefix in ("", "payroll", "raw-2/", "indexes/")
    ]
    for action in ("s3:GetObject", "s3:PutObject", "s3:DeleteObject"):
        foreign += [Request(action, f"{here}{key}") for key in ("/payroll/2026.csv", "-2/index/a", "/a/index/b")]
        foreign.append(Request(action, "arn:aws:s3:::another/index/a"))
    for action in ("s3:PutBucketPolicy", "s3:DeleteBucket", "s3:PutLifecycleConfiguration", "sts:AssumeRole"):
        foreign.append(Request(action, here))
    assert [request for request in foreign if allowed(policy(role), request)] == []


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_policies_use_explicit_actions_and_resources(path: Path) -> None:
    loaded = json.loads(path.read_text(encoding="utf-8"))
    assert loaded["Version"] == "2012-10-17"
    for statement in loaded["Statement"]:
        assert statement["Effect"] == "Allow"
        assert not {"NotAction", "NotResource"} & statement.keys()
        for action in many(statement["Action"]):
            assert "*" not in action
        for resource in many(statement["Resource"]):
            # EC2 has no narrower form of a description (AWS, "Actions, resources, and condition keys for Amazon EC2").
            assert resource != "*" or statement["Action"] == "ec2:DescribeInstances"
            assert not resource.startswith("arn:aws:s3") or resource.split(":::")[1].split("/")[0] == BUCKET
