"""Files and batches over the real application: results, filters, stop and resume, restarts, keys and limits."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.batches import runs
from finray.api.batches.batches import Batches, NewBatch
from finray.api.batches.place import BatchPlace, StoredBatch
from finray.api.errors import ApiError
from finray.api.keys import KeyRing, add_key
from finray.api.service import LocalService
from finray.client import AsyncClient, ServiceError
from finray.core.batch_replies import Batch
from finray.core.errors import SourceError, UsageError
from finray.core.settings import Settings
from tests.api.batch_service import Borrowed, Decided

Serve = Callable[..., TestClient]
ENDED = {"completed", "failed", "cancelled"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "batches"


@pytest.fixture
def make(serving_settings: Settings, keys_file: Path, key: str, place: Path) -> Serve:
    """A client of a service over ``place``, which runs while the client is entered."""

    def make_client(behind: Any, **changed: Any) -> TestClient:
        serving = serving_settings.serving.model_copy(update=changed)
        settings = serving_settings.model_copy(update={"serving": serving})
        batches = Batches(str(place), behind, settings)
        app = create_app(behind, serving, KeyRing(str(keys_file), 0.0), batches=batches)
        return TestClient(app, raise_server_exceptions=False, headers={"Authorization": f"Bearer {key}"})

    return make_client


@pytest.fixture
def serve(make: Serve) -> Iterator[Serve]:
    """Like ``make``, but running until the test ends."""
    with ExitStack() as stack:
        yield lambda *args, **changed: stack.enter_context(make(*args, **changed))


@pytest.fixture
def decided(serving_settings: Settings) -> Decided:
    return Decided(serving_settings)


@pytest.fixture
async def batches(decided: Decided, serving_settings: Settings, place: Path) -> AsyncIterator[Batches]:
    """Without HTTP, for what depends on the order of steps."""
    batches = Batches(str(place), decided, serving_settings)
    yield batches
    await batches.stop()


def upload(client: TestClient, content: str | bytes, name: str = "questions.csv") -> str:
    reply = client.post("/v1/files", files={"file": (name, content)}, data={"purpose": "batch"})
    assert reply.status_code == 200, reply.text
    found: str = reply.json()["id"]
    return found


def start(client: TestClient, content: str | bytes, name: str = "questions.csv", **more: Any) -> str:
    body = {
        "input_file_id": upload(client, content, name),
        "endpoint": "/v1/answer",
        "completion_window": "24h",
        **more,
    }
    reply = client.post("/v1/batches", json=body)
    assert reply.status_code == 200, reply.text
    found: str = reply.json()["id"]
    return found


def wait(client: TestClient, batch: str, until: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
    """The batch once ``until``, by default once it has ended."""
    deadline = time.monotonic() + 30
    while True:
        found: dict[str, Any] = client.get(f"/v1/batches/{batch}").json()
        if until(found) if until else found["status"] in ENDED:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def answers(client: TestClient, batch: str, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/v1/batches/{batch}/answers", params=query).json()["data"]
    return found


def error_of(reply: Any) -> dict[str, Any]:
    error: dict[str, Any] = reply.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def table(*questions: str) -> str:
    return "question\n" + "".join(f'"{question}"\n' for question in questions)


async def new_batch(batches: Batches, *questions: str) -> NewBatch:
    file = await batches.add_file("tester", "questions.csv", table(*questions or ("one?",)).encode())
    return NewBatch(Batch(id="", input_file_id=file.id, filename="", created_at=0, status="validating"))


async def ended(batches: Batches, batch: Batch) -> Batch:
    """The batch once it has ended, after its end is stored."""
    async with asyncio.timeout(30):
        while (found := await batches.batch("tester", batch.id)).status not in ENDED:
            await asyncio.sleep(0.02)
        while any((Path(batches._folders.place.uri) / "unfinished").glob(batch.id)):
            await asyncio.sleep(0.02)
    return found


def test_a_table_is_answered_by_the_engine_and_comes_back_as_a_workbook(
    serve: Serve, service: LocalService, sample_questions: list[dict[str, Any]]
) -> None:
    asked = [line for line in sample_questions if line["question_type"] == "numeric_table"][:3]
    rows = "Nr;Question\n" + "".join(f'{n};"{line["question"]}"\n' for n, line in enumerate(asked))
    client = serve(Borrowed(service))
    batch = start(client, rows, "panel.csv", metadata={"for": "Ana"})
    done = wait(client, batch)
    assert done["status"] == "completed" and done["metadata"] == {"for": "Ana"}
    assert done["request_counts"] == {"total": 3, "completed": 3, "failed": 0}
    assert "semicolon" in done["remarks"][0]
    found = answers(client, batch)
    assert [line["question"] for line in found] == [line["question"] for line in asked]
    single = client.post("/v1/answer", json={"question": asked[0]["question"]}).json()["data"][0]
    assert found[0]["value"] == single["value"] is not None
    assert found[0]["doc_name"] and found[0]["page"] is not None
    whole = client.get(f"/v1/batches/{batch}/answers/1").json()
    assert whole["operands"] == single["operands"] and whole["evidence"] == single["evidence"]
    reply = client.get(f"/v1/batches/{batch}/download", params={"format": "xlsx", "links": "service"})
    assert 'filename="panel.answers.xlsx"' in reply.headers["content-disposition"]
    book = openpyxl.load_workbook(io.BytesIO(reply.content))
    sheet = list(book["answers"].values)
    assert sheet[0][:2] == ("Nr", "Question")
    assert [row[0] for row in sheet[1:]] == [0, 1, 2]
    assert sheet[1][sheet[0].index("value")] == single["value"]
    assert str(sheet[1][sheet[0].index("link")]).startswith("http://testserver/v1/filings/")
    text = client.get(f"/v1/batches/{batch}/download", params={"format": "csv"}).content.decode("utf-8-sig")
    assert [row[1] for row in csv.reader(io.StringIO(text))][1:] == [line["question"] for line in asked]
    lines = client.get(f"/v1/batches/{batch}/download").text.splitlines()
    assert [json.loads(line)["question"] for line in lines] == [line["question"] for line in asked]


def test_openai_request_lines_come_back_as_openai_output_lines(serve: Serve, decided: Decided) -> None:
    client = serve(decided)
    chat = {
        "model": "finray",
        "messages": [{"role": "system", "content": "Hi"}, {"role": "user", "content": "Revenue?"}],
    }
    requests = [
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": chat},
        {"custom_id": "b", "method": "POST", "url": "/v1/answer", "body": {"question": "broken?"}},
        {"custom_id": "c", "method": "POST", "url": "/v1/answer", "body": {}},
    ]
    batch = start(client, "\n".join(map(json.dumps, requests)), "requests.jsonl", endpoint="/v1/chat/completions")
    done = wait(client, batch)
    assert (done["object"], done["endpoint"], done["status"]) == ("batch", "/v1/chat/completions", "completed")
    assert done["request_counts"] == {"total": 3, "completed": 1, "failed": 2}
    output = client.get(f"/v1/files/{done['output_file_id']}/content").text
    (line,) = [json.loads(each) for each in output.splitlines()]
    assert line["custom_id"] == "a" and line["response"]["status_code"] == 200 and line["error"] is None
    assert line["response"]["body"]["question"] == "Revenue?"
    failed = [json.loads(x) for x in client.get(f"/v1/files/{done['error_file_id']}/content").text.splitlines()]
    assert {line["custom_id"] for line in failed} == {"b", "c"}
    assert all(line["response"] is None and line["error"]["message"] for line in failed)
    assert client.get(f"/v1/files/{done['output_file_id']}").json()["purpose"] == "batch_output"


def test_answers_are_filtered_counted_and_paged(serve: Serve, decided: Decided) -> None:
    client = serve(decided)
    batch = start(client, table("one?", "refused?", "unsure?", "ungrounded?", "broken?", "busy?", "one?"))
    done = wait(client, batch)
    assert done["counts"] == {
        "answered": 5, "unanswerable": 1, "error": 1, "waiting": 0, "low_confidence": 1, "not_grounded": 1
    }  # fmt: skip
    assert [line["number"] for line in answers(client, batch, show="unanswerable")] == [2]
    assert [line["number"] for line in answers(client, batch, show="low_confidence")] == [3]
    assert [line["number"] for line in answers(client, batch, show="not_grounded")] == [4]
    (failed,) = answers(client, batch, show="error")
    assert (failed["number"], failed["status"]) == (5, "error") and "not answered after" in failed["reason"]
    pages, after = [], 0
    while after is not None:
        page = client.get(f"/v1/batches/{batch}/answers", params={"limit": 3, "after": after}).json()
        pages.append([line["number"] for line in page["data"]])
        after = page["next_after"]
    assert pages == [[1, 2, 3], [4, 5, 6], [7]]
    assert error_of(client.get(f"/v1/batches/{batch}/answers/8"))["code"] == "not_found"


def test_stopped_resumed_and_errors_repeated(serve: Serve, decided: Decided) -> None:
    client = serve(decided, batch_in_flight=1)
    batch = start(client, table("one?", "broken?", "slow?", "last?"))
    running = wait(client, batch, lambda found: found["request_counts"]["completed"] == 1)
    assert running["status"] == "in_progress"
    assert client.get(f"/v1/batches/{batch}/answers/3").status_code == 404
    assert [line["status"] for line in answers(client, batch)] == ["answered", "error", "waiting", "waiting"]
    early = client.get(f"/v1/batches/{batch}/download", params={"format": "csv"}).content.decode("utf-8-sig")
    assert "not asked yet" in early
    assert error_of(client.post(f"/v1/batches/{batch}/resume"))["code"] == "batch_running"
    assert error_of(client.delete(f"/v1/batches/{batch}"))["code"] == "batch_running"
    assert client.post(f"/v1/batches/{batch}/cancel").json()["status"] == "cancelling"
    stopped = wait(client, batch)
    assert stopped["status"] == "cancelled" and stopped["cancelled_at"]
    assert stopped["counts"]["waiting"] == 2
    assert error_of(client.post(f"/v1/batches/{batch}/cancel"))["code"] == "batch_ended"
    decided.released = True
    assert client.post(f"/v1/batches/{batch}/resume").json()["status"] in ("validating", "in_progress")
    done = wait(client, batch)
    assert done["request_counts"] == {"total": 4, "completed": 3, "failed": 1} and done["cancelled_at"] is None
    client.post(f"/v1/batches/{batch}/resume", json={"retry_errors": True})
    assert wait(client, batch)["request_counts"] == {"total": 4, "completed": 4, "failed": 0}
    assert sorted(decided.asked) == ["broken?", "broken?", "last?", "one?", "slow?"]


def test_a_restarted_service_goes_on_where_the_last_one_stopped(
    make: Serve, decided: Decided, serving_settings: Settings
) -> None:
    with make(decided, batch_in_flight=1) as client:
        batch = start(client, table("one?", "two?", "slow?", "last?"))
        wait(client, batch, lambda found: found["request_counts"]["completed"] == 2)
    assert decided.asked == ["one?", "two?"]
    later = Decided(serving_settings)
    with make(later, batch_in_flight=1) as client:
        wait(client, batch, lambda found: found["status"] == "in_progress")
        later.released = True
        done = wait(client, batch)
        assert done["status"] == "completed" and done["counts"]["answered"] == 4
    assert later.asked == ["slow?", "last?"], "nothing is lost, nothing is asked twice"
    with make(Decided(serving_settings)) as client:
        assert wait(client, batch) == done
        assert [line["status"] for line in answers(client, batch)] == ["answered"] * 4


def test_what_a_killed_service_had_stored_is_not_asked_again(
    make: Serve, decided: Decided, place: Path, serving_settings: Settings
) -> None:
    crashed = place.with_name("crashed")
    with make(decided, batch_in_flight=1) as client:
        batch = start(client, table("one?", "two?", "slow?"))
        wait(client, batch, lambda found: found["request_counts"]["completed"] == 2)
        shutil.copytree(place, crashed)  # as the disk was at that moment
        client.post(f"/v1/batches/{batch}/cancel")
        wait(client, batch)
    (store,) = crashed.rglob("*.answers.jsonl")
    store.write_bytes(store.read_bytes() + b'{"qid": "q-1", "ques')  # half a line
    shutil.rmtree(place)
    crashed.rename(place)
    later = Decided(serving_settings)
    later.released = True
    with make(later) as client:
        done = wait(client, batch)
    assert done["status"] == "completed" and done["counts"]["answered"] == 3
    assert later.asked == ["slow?"]


def test_a_batch_that_was_being_stopped_stays_stopped(
    make: Serve, decided: Decided, place: Path, serving_settings: Settings
) -> None:
    with make(decided) as client:
        batch = start(client, table("slow?"))
        wait(client, batch, lambda found: found["status"] == "in_progress")
    (record,) = (place / "keys" / "tester").glob("batch_*.json")
    record.write_text(record.read_text().replace('"in_progress"', '"cancelling"'))  # killed before it stopped
    later = Decided(serving_settings)
    with make(later) as client:
        assert wait(client, batch)["status"] == "cancelled"
    assert later.asked == []


def test_a_damaged_folder_of_one_key_delays_no_batch_of_another(
    make: Serve, decided: Decided, place: Path, serving_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make(decided) as client:
        batch = start(client, table("slow?"))
        wait(client, batch, lambda found: found["status"] == "in_progress")
    broken = f"batch_{'0' * 24}"
    (place / "keys" / "other").mkdir()
    (place / "keys" / "other" / f"{broken}.json").write_text("{")
    # A folder may list its files in any order: here the broken one first.
    monkeypatch.setattr(BatchPlace, "unfinished", lambda _: {broken: "other", batch: "tester"})
    later = Decided(serving_settings)
    later.released = True
    with make(later) as client:
        assert wait(client, batch)["status"] == "completed"


def test_a_batch_whose_end_is_not_stored_stays_marked_while_another_folder_is_damaged(
    make: Serve, decided: Decided, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next service must find it: its record still says that it runs."""
    broken = f"batch_{'0' * 24}"
    for path, content in ((f"keys/other/{broken}.json", "{"), (f"unfinished/{broken}", "other")):
        (place / path).parent.mkdir(parents=True)
        (place / path).write_text(content)
    store = BatchPlace.save_batch

    def save(self: BatchPlace, key: str, stored: StoredBatch) -> None:
        if stored.batch.status in ENDED:
            raise SourceError("no space left")
        store(self, key, stored)

    monkeypatch.setattr(BatchPlace, "save_batch", save)
    monkeypatch.setattr(runs, "UNAVAILABLE_S", 0.02)
    with make(decided) as client:
        batch = start(client, table("one?"))
        assert wait(client, batch)["status"] == "completed"
        time.sleep(0.3)  # the damaged folder is tried again meanwhile
    assert (place / "unfinished" / batch).exists()


async def test_a_batch_that_is_deleted_while_it_is_resumed_does_not_come_back(
    batches: Batches, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = await ended(batches, await batches.create("tester", await new_batch(batches)))
    deleting, go_on = asyncio.Event(), threading.Event()
    loop, delete = asyncio.get_running_loop(), BatchPlace.delete_batch

    def slow(self: BatchPlace, key: str, batch_id: str) -> None:
        loop.call_soon_threadsafe(deleting.set)
        go_on.wait(10)
        delete(self, key, batch_id)

    monkeypatch.setattr(BatchPlace, "delete_batch", slow)
    deletion = asyncio.create_task(batches.delete("tester", batch.id))
    await deleting.wait()
    resumption = asyncio.create_task(batches.resume("tester", batch.id, retry_errors=False))
    await asyncio.sleep(0.05)
    go_on.set()
    assert (await deletion).deleted
    with pytest.raises(ApiError, match="there is no batch"):
        await resumption
    assert not list(place.rglob(f"{batch.id}*"))


@pytest.mark.parametrize("resumed", [False, True])
async def test_a_batch_whose_start_was_stored_is_run_by_the_next_service(
    batches: Batches,
    decided: Decided,
    serving_settings: Settings,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    resumed: bool,
) -> None:
    """The service may be killed as soon as the record of the batch is written."""
    new = await new_batch(batches, "one?", "broken?")
    batch = await ended(batches, await batches.create("tester", new)) if resumed else None
    crashed, save = place.with_name("crashed"), BatchPlace.save_batch

    def saved(self: BatchPlace, key: str, stored: StoredBatch) -> None:
        save(self, key, stored)
        if not crashed.exists():
            shutil.copytree(place, crashed)  # as the disk was at that moment

    monkeypatch.setattr(BatchPlace, "save_batch", saved)
    decided.released = True
    if batch is None:
        batch = await batches.create("tester", new)
    else:
        await batches.resume("tester", batch.id, retry_errors=True)
    await ended(batches, batch)
    later = Decided(serving_settings)
    later.released = True
    next_service = Batches(str(crashed), later, serving_settings)
    await next_service.start()
    assert (await ended(next_service, batch)).counts.answered == 2
    await next_service.stop()
    assert later.asked == (["broken?"] if resumed else ["one?", "broken?"])


async def test_a_resumption_that_cannot_be_stored_changes_nothing(
    batches: Batches, decided: Decided, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = await ended(batches, await batches.create("tester", await new_batch(batches, "broken?")))

    def fails(self: BatchPlace, key: str, stored: StoredBatch) -> None:
        raise SourceError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(BatchPlace, "save_batch", fails)
        with pytest.raises(ApiError, match="cannot be stored"):
            await batches.resume("tester", batch.id, retry_errors=True)
        await asyncio.sleep(0.05)
    assert await batches.batch("tester", batch.id) == batch and decided.asked == ["broken?"]
    await batches.resume("tester", batch.id, retry_errors=True)
    await ended(batches, batch)
    assert decided.asked == ["broken?", "broken?"]


async def test_an_unreadable_record_is_logged_once_until_it_changes(
    batches: Batches, place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = f"batch_{'0' * 24}"
    record = place / "keys" / "other" / f"{broken}.json"
    for path, content in ((record, "{"), (place / "unfinished" / broken, "other")):
        path.parent.mkdir(parents=True)
        path.write_text(content)
    monkeypatch.setattr(runs, "UNAVAILABLE_S", 0.01)
    await batches.start()
    await asyncio.sleep(0.2)
    assert len(caplog.messages) == 1 and str(record) in caplog.text
    record.write_text("[]")
    await asyncio.sleep(0.2)
    assert len(caplog.messages) == 2


def test_keys_see_only_their_own(serve: Serve, decided: Decided, keys_file: Path) -> None:
    client = serve(decided)
    file = upload(client, table("one?"))
    batch = start(client, table("one?"))
    wait(client, batch)
    other = {"Authorization": f"Bearer {add_key(str(keys_file), f'other-{time.monotonic_ns()}')}"}
    for path in (
        f"/v1/files/{file}",
        f"/v1/files/{file}/content",
        f"/v1/batches/{batch}",
        f"/v1/batches/{batch}/answers",
    ):
        assert client.get(path).status_code == 200
        assert client.get(path, headers=other).status_code == 404
    assert client.get("/v1/batches", headers=other).json()["data"] == []
    assert client.get("/v1/files", headers=other).json()["data"] == []
    reply = client.post("/v1/batches", json={"input_file_id": file}, headers=other)
    assert error_of(reply)["param"] == "input_file_id"
    for method, path in (
        ("POST", f"batches/{batch}/cancel"),
        ("DELETE", f"batches/{batch}"),
        ("DELETE", f"files/{file}"),
    ):
        assert client.request(method, f"/v1/{path}", headers=other).status_code == 404


def test_lists_are_newest_first_and_paged(serve: Serve, decided: Decided) -> None:
    client = serve(decided, max_running_batches=5)
    made = [start(client, table("one?")) for _ in range(3)]
    for batch in made:
        wait(client, batch)
    for what in ("batches", "files"):
        first = client.get(f"/v1/{what}", params={"limit": 2}).json()
        rest = client.get(f"/v1/{what}", params={"limit": 2, "after": first["last_id"]}).json()
        assert first["has_more"] and not rest["has_more"]
        assert len({each["id"] for each in first["data"] + rest["data"]}) == 3
        assert error_of(client.get(f"/v1/{what}", params={"after": "nothing"}))["param"] == "after"


def test_a_batch_is_deleted_with_its_answers_and_then_its_file(serve: Serve, decided: Decided, place: Path) -> None:
    client = serve(decided)
    batch = start(client, table("one?"))
    file = wait(client, batch)["input_file_id"]
    assert error_of(client.delete(f"/v1/files/{file}"))["code"] == "file_in_use"
    assert client.delete(f"/v1/batches/{batch}").json() == {"id": batch, "object": "batch", "deleted": True}
    assert client.delete(f"/v1/files/{file}").json()["deleted"] is True
    assert client.get(f"/v1/batches/{batch}").status_code == 404
    assert [path.name for path in place.rglob("*") if path.is_file()] == ["lock"]


def test_limits_of_a_key(serve: Serve, decided: Decided) -> None:
    client = serve(decided, max_running_batches=1, max_batch_questions=2, max_file_bytes=1024, max_files=3)
    large = client.post("/v1/files", files={"file": ("q.csv", b"x" * 20_000)})
    assert large.status_code == 413 and "serving.max_file_bytes" in error_of(large)["message"]
    running = start(client, table("slow?"))
    refused = client.post("/v1/batches", json={"input_file_id": upload(client, table("one?"))})
    assert refused.status_code == 429 and "serving.max_running_batches" in error_of(refused)["message"]
    decided.released = True
    wait(client, running)
    many = wait(client, start(client, table("one?", "two?", "three?")))
    assert many["status"] == "failed"
    assert many["errors"]["data"][0]["message"] == (
        "'questions.csv' has 3 questions, more than 2 (serving.max_batch_questions); split it"
    )
    full = client.post("/v1/files", files={"file": ("q.csv", b"question\none?\n")})
    assert full.status_code == 429 and "serving.max_files" in error_of(full)["message"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.pdf", b"%PDF", "ends in"),
        ("q.csv", b"", "is empty"),
    ],
)
def test_a_file_in_an_unknown_format_or_without_content_is_refused_at_once(
    serve: Serve, decided: Decided, name: str, content: bytes, said: str
) -> None:
    error = error_of(serve(decided).post("/v1/files", files={"file": (name, content)}))
    assert error["code"] == "invalid_file" and said in error["message"] and "\n" not in error["message"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", b"name,year\nAcme,2023\n", "name it by question_column"),
        ("q.csv", b'question\n"open\n', "quotation marks"),
        ("q.csv", b"\x81\x8d\x00", "not text"),
        ("q.xlsx", b"PK\x03\x04 nonsense", "'q.xlsx'"),
        ("q.parquet", b"nonsense", "not a Parquet file"),
        ("q.jsonl", b"\n \n", "has no questions"),
    ],
)
def test_a_file_that_cannot_be_used_fails_its_batch_with_one_line(
    serve: Serve, decided: Decided, name: str, content: bytes, said: str
) -> None:
    client = serve(decided)
    batch = start(client, content, name)
    found = wait(client, batch)
    assert found["status"] == "failed"
    (error,) = found["errors"]["data"]
    assert said in error["message"] and "\n" not in error["message"]
    assert error_of(client.get(f"/v1/batches/{batch}/answers"))["code"] == "no_answers"


def test_two_head_rows_another_encoding_and_bad_rows_lose_nothing(serve: Serve, decided: Decided) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (("Panel", "Ask"), ("Nr", "Question"), (1, "One?"), (2, None), (3, "Three?")):
        sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    client = serve(decided)
    done = wait(client, start(client, content.getvalue(), "two heads.xlsx"))
    assert done["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    assert "row 2" in done["remarks"][0]
    batch = start(client, "Frage;Firma\nWie hoch war der Umsatz?;M\xfcller\n".encode("cp1252"), "umsatz.csv")
    done = wait(client, batch)
    assert done["counts"]["answered"] == 1 and any("Windows-1252" in remark for remark in done["remarks"])
    text = client.get(f"/v1/batches/{batch}/download", params={"format": "csv"}).content.decode("utf-8-sig")
    assert "M\xfcller" in text


@pytest.mark.slow
def test_another_service_over_the_same_folder_is_refused(
    serve: Serve, decided: Decided, place: Path, serving_settings: Settings
) -> None:
    first = serve(decided)
    batch = start(first, table("slow?"))
    second = serve(Decided(serving_settings))
    refused = second.get("/v1/batches")
    assert refused.status_code == 503 and refused.headers["retry-after"]
    assert str(place) not in refused.text
    decided.released = True
    assert wait(first, batch)["status"] == "completed"


async def test_the_python_client_runs_a_batch(
    decided: Decided, serving_settings: Settings, keys_file: Path, key: str, place: Path
) -> None:
    batches = Batches(str(place), decided, serving_settings)
    app = create_app(decided, serving_settings.serving, KeyRing(str(keys_file), 0.0), batches=batches)
    async with AsyncClient("http://test", key, transport=httpx.ASGITransport(app=app)) as client:
        file = await client.upload_file(table("one?", "broken?", "refused?").encode(), "q.csv")
        batch = await client.start_batch(file.id, metadata={"for": "Ana"})
        for _ in range(2):
            while (batch := await client.batch(batch.id)).status in ("validating", "in_progress"):
                await asyncio.sleep(0.02)
            decided.released = True
            if batch.counts.error:
                await client.resume_batch(batch.id, retry_errors=True)
        assert (batch.status, batch.counts.answered, batch.counts.unanswerable) == ("completed", 2, 1)
        assert [found.id for found in (await client.batches()).data] == [batch.id]
        (refused,) = (await client.batch_answers(batch.id, show="unanswerable")).data
        assert (await client.batch_answer(batch.id, refused.number)).missing == ("filings",)
        assert b"1.5 billion" in await client.download_batch(batch.id, "csv")
        with pytest.raises(ServiceError, match="batch_ended"):
            await client.cancel_batch(batch.id)
        assert (await client.delete_batch(batch.id)).deleted
        with pytest.raises(UsageError, match="not a batch id"):
            await client.batch("../keys")
    await batches.stop()


def test_without_batches_the_routes_reply_503(client: TestClient) -> None:
    assert error_of(client.get("/v1/batches"))["code"] == "no_batches"
    assert client.post("/v1/files", files={"file": ("q.csv", b"x")}).status_code == 503
