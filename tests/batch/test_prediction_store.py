"""Runs that are killed, resumed, retried and repeated, on a folder, on Parquet and on S3."""

from __future__ import annotations

import datetime as dt
import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from finray.batch.prediction_store import PredictionStore, pending, read_predictions
from finray.batch.predictions import encode
from finray.batch.question_files import BadLine
from finray.batch.stored_lines import PREDICTION_SCHEMA
from finray.core.errors import SourceError
from finray.core.passages import DocumentRef, PageRef, Passage
from finray.core.predictions import CitedCell, Prediction, Status, TokenUsage
from finray.core.questions import Question
from finray.storage.locations import exists, is_s3, list_sources, read_bytes
from finray.storage.s3 import s3_filesystem

HASH = "h1"
ORDER = [f"q{number}" for number in range(6)]


def predicted(qid: str, *, answer: str = "42", status: Status = "answered", settings_hash: str = HASH) -> Prediction:
    return Prediction(
        qid=qid,
        question=f"question {qid}?",
        answer=answer,
        status=status,
        passages=(Passage("D", "F", 3, 0, 4, "text", 0.5),),
        usage={"answer": TokenUsage(1, 2)},
        settings_hash=settings_hash,
    )


@pytest.fixture(params=["local.jsonl", "local.parquet", "s3.jsonl", "s3.parquet"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    place, _, suffix = request.param.partition(".")
    if place == "local":
        return str(tmp_path / "runs" / f"out.{suffix}")
    return f"{request.getfixturevalue('s3')}/{tmp_path.name}/out.{suffix}"


def stored_qids(uri: str) -> list[str]:
    """What an outside script sees, without finray."""
    content = read_bytes(uri)
    if uri.endswith(".parquet"):
        return [str(qid) for qid in pq.read_table(io.BytesIO(content))["qid"].to_pylist()]
    return [json.loads(line)["qid"] for line in content.splitlines()]


def everything_beside(uri: str) -> list[str]:
    folder = uri.rpartition("/")[0]
    names = s3_filesystem().find(folder) if is_s3(uri) else [str(path) for path in Path(folder).rglob("*")]
    return sorted(name.rpartition("/")[2] for name in names)


def last_written(uri: str) -> dt.datetime:
    (file,) = list_sources([uri]).files
    return file.modified


def test_a_run_ends_with_one_file_in_question_order(target: str) -> None:
    with PredictionStore(target) as store:
        assert store.done() == {}
        store.append([predicted("q4"), predicted("q1")])
        store.append([])
        store.append([predicted(qid) for qid in ("q0", "q5", "q3", "q2")])
        assert store.finish(ORDER, HASH)
    assert stored_qids(target) == ORDER
    assert everything_beside(target) == [target.rpartition("/")[2]]
    assert read_predictions(target).predictions == tuple(predicted(qid) for qid in ORDER)


def test_a_finished_run_writes_nothing(target: str) -> None:
    with PredictionStore(target) as store:
        store.append([predicted(qid) for qid in reversed(ORDER)])
        store.finish(ORDER, HASH)
    before = last_written(target)
    time.sleep(1.1 if is_s3(target) else 0.05)  # S3 tells times in seconds
    with PredictionStore(target) as store:
        assert len(store.done()) == 6
        assert not store.finish(ORDER, HASH)
    assert last_written(target) == before
    assert everything_beside(target) == [target.rpartition("/")[2]]


def test_an_interrupted_run_resumes(target: str) -> None:
    with PredictionStore(target) as store:
        store.append([predicted("q3"), predicted("q0")])
        store.append([predicted("q5")])
    assert {p.qid for p in read_predictions(target).predictions} == {"q0", "q3", "q5"}
    with PredictionStore(target) as store:
        assert set(store.done()) == {("q3", HASH), ("q0", HASH), ("q5", HASH)}
        store.append([predicted("q1"), predicted("q2"), predicted("q4")])
        store.finish(ORDER, HASH)
    assert stored_qids(target) == ORDER


def test_a_retried_error_replaces_its_line(target: str) -> None:
    with PredictionStore(target) as store:
        store.append([predicted("q0"), predicted("q1", status="error"), predicted("q2")])
        store.finish(ORDER, HASH)
    with PredictionStore(target) as store:
        assert store.done()["q1", HASH].status == "error"
        store.append([predicted("q1", answer="7")])
        assert store.done()["q1", HASH].status == "answered"
        store.finish(ORDER, HASH)
    assert stored_qids(target) == ["q0", "q1", "q2"]
    assert read_predictions(target).predictions[1].answer == "7"


def test_a_run_killed_while_it_finished_repeats_nothing(target: str) -> None:
    """The final file is there, and so is what it was made of."""
    with PredictionStore(target) as store:
        store.append([predicted("q1"), predicted("q0")])
        store._files.replace([encode(predicted("q0")), encode(predicted("q1"))])
        store._files.append(encode(predicted("q1")) + encode(predicted("q0")))
    assert len(read_predictions(target).predictions) == 2
    with PredictionStore(target) as store:
        assert set(store.done()) == {("q0", HASH), ("q1", HASH)}
        assert store.finish(ORDER, HASH)
    assert stored_qids(target) == ["q0", "q1"]
    assert everything_beside(target) == [target.rpartition("/")[2]]


def test_other_settings_answer_again_and_take_over(target: str) -> None:
    with PredictionStore(target) as store:
        store.append([predicted("q0"), predicted("q1"), predicted("elsewhere")])
        store.finish(["q0", "q1", "elsewhere"], HASH)
    with PredictionStore(target) as store:
        assert ("q0", "h2") not in store.done()
        store.append([predicted("q0", settings_hash="h2")])
        store.finish(["q1", "q0"], "h2")
    stored = [(p.qid, p.settings_hash) for p in read_predictions(target).predictions]
    assert stored == [("q1", "h1"), ("q0", "h2"), ("elsewhere", "h1")]


def test_bad_lines_that_were_fixed_leave_the_file(target: str) -> None:
    bad = Prediction("line-2", "junk", "", "error", error="line 2: not JSON", settings_hash=HASH, line=2)
    with PredictionStore(target) as store:
        store.append([predicted("q0"), bad])
        store.finish(["q0", "line-2"], HASH)
    assert stored_qids(target) == ["q0", "line-2"]
    with PredictionStore(target) as store:
        store.append([predicted("q1")])
        store.finish(["q0", "q1"], HASH)
    assert stored_qids(target) == ["q0", "q1"]


def test_pending_questions(tmp_path: Path) -> None:
    bad = BadLine(3, "line-3", "junk", "not JSON")
    questions = [Question(qid, f"question {qid}?") for qid in ("q0", "q1", "q2")]
    reworded = Question("q0", "another question?")

    def left(*asked: Question | BadLine, retry_failed: bool = False) -> list[str]:
        return [q.qid for q in pending(asked, done, HASH, retry_failed=retry_failed)]

    with PredictionStore(str(tmp_path / "out.jsonl")) as store:
        done = store.done()
        assert left(*questions, bad) == ["q0", "q1", "q2", "line-3"]
        line = Prediction("line-3", "junk", "", "error", settings_hash=HASH, line=3)
        store.append([predicted("q0"), predicted("q1", status="error"), line])
        assert left(*questions, bad) == ["q2"]
        assert left(*questions, bad, retry_failed=True) == ["q1", "q2"]
        assert left(reworded) == ["q0"]
        assert left(BadLine(3, "line-3", "other junk", "not JSON")) == ["line-3"]
        assert left(Question("line-3", "junk")) == ["line-3"]


@pytest.mark.parametrize("reordered", [False, True])
@pytest.mark.parametrize("cut", [1, 7, 9, 40, -1])
def test_half_a_line_is_ignored_reported_and_repaired(tmp_path: Path, cut: int, reordered: bool) -> None:
    out = tmp_path / "out.jsonl"
    whole = encode(predicted("q1"))
    if reordered:
        whole = json.dumps(json.loads(whole), sort_keys=True).encode() + b"\n"
    torn = whole[: cut if cut > 0 else -2]
    out.write_bytes(encode(predicted("q0")) + torn)
    assert "line 2: half a line" in read_predictions(str(out)).remarks[0]
    with PredictionStore(str(out)) as store:
        assert set(store.done()) == {("q0", HASH)}
        assert store.torn is not None
        store.append([predicted("q1")])
        store.finish(ORDER, HASH)
    assert stored_qids(str(out)) == ["q0", "q1"]


def test_half_a_line_goes_even_when_nothing_is_left_to_answer(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(encode(predicted("q0")) + b'{"qid": "q')
    with PredictionStore(str(out)) as store:
        assert store.finish(["q0"], HASH)
    assert out.read_bytes() == encode(predicted("q0"))


def test_a_whole_last_line_without_a_line_feed_counts(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(encode(predicted("q0"))[:-1])
    with PredictionStore(str(out)) as store:
        assert set(store.done()) == {("q0", HASH)}
        store.append([predicted("q1")])
    assert stored_qids(str(out)) == ["q0", "q1"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"qid": "a", "question": "x"}',
        b"precious notes",
        b"1\n2\n",
        b'{"qid": 1}\n',
        b'{"notes": "half a line of ano',
        b'{"answer": "x", "author": "half a line of ano',
    ],
)
def test_a_file_that_is_something_else_is_left_alone(tmp_path: Path, content: bytes) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(content)
    with pytest.raises(SourceError, match=r"is not a file of predictions: .*line 1"):
        PredictionStore(str(out))
    assert out.read_bytes() == content
    with pytest.raises(SourceError, match="is not a file of predictions"):
        read_predictions(str(out))


def test_a_parquet_file_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"precious")
    with pytest.raises(SourceError, match="not a Parquet file of predictions"):
        PredictionStore(str(out))
    assert out.read_bytes() == b"precious"
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]


def test_a_parquet_file_of_an_earlier_version_is_read_and_extended(tmp_path: Path) -> None:
    """Its columns stood in another order, and those of cells in yet another; maps and structs are as they were."""
    text, number = pa.string(), pa.int64()
    passage = [("doc_name", text), ("filing_id", text), ("page", number), ("start", number), ("end", number)]
    passages = pa.list_(pa.struct([*passage, ("text", text), ("score", pa.float64())]))
    document = [(name, text) for name in ("doc_name", "filing_id")]
    document += [("score", pa.float64()), ("company", text), ("form", text), ("reasons", pa.list_(text))]
    usage = [("prompt_tokens", number), ("completion_tokens", number)]
    usage += [("cost", pa.float64()), ("cached_tokens", number)]
    names = ("name", "doc_name", "filing_id", "label", "text", "section")
    cell = [(name, text) for name in (*names, "column_label", "statement", "period_end", "concept")]
    cell += [("page", number), ("months", number), ("value", pa.float64()), ("fit", pa.float64())]
    place = pa.struct([("doc_name", text), ("filing_id", text), ("page", number)])
    schema = pa.schema(
        [
            *(pa.field(name, text, nullable=False) for name in ("qid", "question", "answer")),
            pa.field("value", pa.float64()),
            pa.field("unit", text),
            pa.field("status", text, nullable=False),
            pa.field("error", text),
            pa.field("documents", pa.list_(pa.struct(document))),
            pa.field("passages", passages),
            pa.field("evidence", passages),
            pa.field("iterations", number),
            pa.field("usage", pa.map_(text, pa.struct(usage))),
            pa.field("seconds", pa.float64()),
            pa.field("settings_hash", text, nullable=False),
            pa.field("program", text),
            pa.field("missing", pa.list_(text)),
            pa.field("line", number),
            pa.field("trace", pa.list_(text)),
            pa.field("rounds", pa.list_(pa.list_(place))),
            pa.field("grounded", pa.bool_()),
            pa.field("nearest", pa.list_(text)),
            pa.field("operands", pa.list_(pa.struct([*cell, ("box", pa.list_(pa.float64()))]))),
            pa.field("confidence", pa.float64()),
        ]
    )
    newer = ("evidence_blocks", "unusable", "context", "resolved", "unclear", "grid")
    later = {name: kind for name, kind in types_of(PREDICTION_SCHEMA).items() if name not in newer}
    older = types_of(schema)
    changed = {name: older[name] for name in ("usage", "operands")}  # without `calls` and `registrant`
    assert later | changed == older
    operand = CitedCell("a", 1.0, "D", "F", 3, "Cash", "1", period_end=dt.date(2020, 12, 31), box=(1.0, 2.0, 3.0, 4.0))
    full = replace(
        predicted("q1"),
        documents=(DocumentRef("D", "F", 0.5, form="10-K"),),
        rounds=((PageRef("D", "F", 3),), ()),
        operands=(operand,),
        usage={"answer": TokenUsage(1, 2), "curate": TokenUsage(3, 4, 0.5)},
    )
    rows = [json.loads(encode(prediction)) for prediction in (predicted("q0"), full)]
    out = tmp_path / "out.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out)
    assert read_predictions(str(out)).predictions == (predicted("q0"), full)
    with PredictionStore(str(out)) as store:
        store.append([predicted("q2")])
        store.finish(ORDER, HASH)
    assert read_predictions(str(out)).predictions == (predicted("q0"), full, predicted("q2"))


def types_of(schema: pa.Schema) -> dict[str, object]:
    """Names and types, whatever the order of columns and of the fields of structs."""

    def plain(kind: pa.DataType) -> object:
        if pa.types.is_struct(kind):
            return {field.name: plain(field.type) for field in kind}
        if pa.types.is_map(kind):
            return ("map", plain(kind.key_type), plain(kind.item_type))
        return ["list", plain(kind.value_type)] if pa.types.is_list(kind) else str(kind)

    return {field.name: plain(field.type) for field in schema}


def test_two_runs_cannot_write_one_file(tmp_path: Path) -> None:
    out = str(tmp_path / "out.jsonl")
    with PredictionStore(out), pytest.raises(SourceError, match="another run is writing"):
        PredictionStore(out)
    with PredictionStore(out) as store:
        store.append([predicted("q0")])


def test_a_run_that_begins_while_another_ends_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opened the file that the other one then replaced."""
    out = str(tmp_path / "out.jsonl")
    ending = PredictionStore(out)
    ending.append([predicted("q0")])

    def lock(file: int, operation: int) -> None:
        monkeypatch.undo()
        with ending:
            ending.finish(ORDER, HASH)
        fcntl.flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", lock)
    with PredictionStore(out) as beginning:
        beginning.append([predicted("q1")])
    assert stored_qids(out) == ["q0", "q1"]


def test_a_file_that_cannot_be_removed_is_unlocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlink(path: Path) -> None:
        raise PermissionError(path)

    store = PredictionStore(str(tmp_path / "out.jsonl"))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", unlink)
        with pytest.raises(PermissionError):
            store.close()
    PredictionStore(str(tmp_path / "out.jsonl")).close()


def test_two_runs_on_one_object_lose_nothing(s3: str) -> None:
    uri = f"{s3}/two/out.jsonl"
    with PredictionStore(uri) as one, PredictionStore(uri) as two:
        one.append([predicted("q1")])
        two.append([predicted("q0")])
    with PredictionStore(uri) as store:
        store.finish(ORDER, HASH)
    assert stored_qids(uri) == ["q0", "q1"]


@pytest.mark.parametrize("uri", ["out.ods", "s3://bucket/out"])
def test_other_suffixes_are_refused(uri: str) -> None:
    with pytest.raises(SourceError, match=r"ends in \.jsonl, \.parquet, \.xlsx or \.csv"):
        PredictionStore(uri)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SourceError, match="cannot write"):
        PredictionStore(str(tmp_path / "file" / "out.jsonl"))


def test_a_bucket_that_is_not_there(s3: str) -> None:
    message = "cannot write 's3://no-such-bucket/out"
    with PredictionStore("s3://no-such-bucket/out.jsonl") as store, pytest.raises(SourceError, match=message):
        store.append([predicted("q0")])


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no predictions there"):
        read_predictions(str(tmp_path / "out.jsonl"))


def test_an_idle_run_leaves_no_file(target: str) -> None:
    with PredictionStore(target) as store:
        assert not store.finish([], HASH)
    assert not exists(target)


def test_leftovers_of_a_run_killed_while_replacing_are_cleared(tmp_path: Path) -> None:
    (tmp_path / ".out.jsonl.abc.tmp").write_bytes(b"half")
    (tmp_path / ".other.jsonl.abc.tmp").write_bytes(b"not ours")
    with PredictionStore(str(tmp_path / "out.jsonl")) as store:
        store.append([predicted("q0")])
    assert sorted(p.name for p in tmp_path.iterdir()) == [".other.jsonl.abc.tmp", "out.jsonl"]


WRITER = """
import sys
from finray.batch.prediction_store import PredictionStore
from finray.core.predictions import Prediction

with PredictionStore(sys.argv[1]) as store:
    missing = [f"q{n}" for n in range(400) if (f"q{n}", "h") not in store.done()]
    print("ready", flush=True)
    for start in range(0, len(missing), 2):
        batch = missing[start:start + 2]
        store.append([Prediction(q, q, "x" * 5000, "answered", settings_hash="h") for q in batch])
        print(*batch, flush=True)
    store.finish([f"q{n}" for n in reversed(range(400))], "h")
    print("finished", flush=True)
"""


@pytest.mark.parametrize("suffix", ["jsonl", pytest.param("parquet", marks=pytest.mark.slow)])
def test_kill_9_at_any_moment(tmp_path: Path, suffix: str) -> None:
    """What a writer reported as stored is there after each kill, and in the end everything is, once."""
    out = str(tmp_path / f"out.{suffix}")
    reported: set[str] = set()
    for patience in (1, 30, 80, None):
        writer = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), out], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for count, line in enumerate(writer.stdout):
            reported |= {word for word in line.split() if word.startswith("q")}
            if count == patience:
                os.kill(writer.pid, signal.SIGKILL)
                break
        reported |= {word for word in writer.stdout.read().split() if word.startswith("q")}
        writer.stdout.close()
        assert writer.wait() == (0 if patience is None else -signal.SIGKILL)
        assert reported <= {p.qid for p in read_predictions(out).predictions}
    assert stored_qids(out) == [f"q{n}" for n in reversed(range(400))]
