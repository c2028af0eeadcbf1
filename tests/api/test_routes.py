"""The routes over the real engine and a small index."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from finray.api.service import LocalService
from finray.core.predictions import Prediction
from finray.core.replies import StartedEvent

MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session")
def asked(sample_questions: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in sample_questions if line["question_type"] == "numeric_table")


def error_of(reply: Any) -> dict[str, Any]:
    body = reply.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = body["error"]
    return error


def events_in(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n", 1) for block in text.strip().split("\n\n") if not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_an_answer_is_the_engines_with_the_index_version(
    client: TestClient, asked: dict[str, Any], ask: Callable[[str], Prediction]
) -> None:
    reply = client.post("/v1/answer", json={"question": asked["question"]})
    assert reply.status_code == 200
    (found,) = reply.json()["data"]
    expected = ask(asked["question"])
    assert (found["answer"], found["value"], found["status"]) == (expected.answer, expected.value, "answered")
    assert [p["page"] for p in found["evidence"]] == [p.page for p in expected.evidence]
    assert "trace" not in found
    assert reply.json()["index_version"] == client.get("/readyz").json()["index_version"]


def test_several_questions_come_back_in_order_with_their_ids(
    client: TestClient, sample_questions: list[dict[str, Any]]
) -> None:
    lines = sample_questions[:5]
    items = [{"qid": line["qid"], "question": line["question"]} for line in lines]
    reply = client.post("/v1/answer", json={"questions": items, "trace": True})
    assert [found["qid"] for found in reply.json()["data"]] == [line["qid"] for line in lines]
    assert all(found["trace"] for found in reply.json()["data"])


def test_events_report_stages_passages_and_the_answer_in_order(client: TestClient, asked: dict[str, Any]) -> None:
    reply = client.post("/v1/answer", json={"question": asked["question"]}, headers={"Accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = events_in(reply.text)
    names = [name for name, _ in events]
    assert names[0] == "started"
    assert names[-2:] == ["answer", "done"]
    finished = [data["stage"] for name, data in events if name == "stage" and data["state"] == "finished"]
    assert finished[:4] == ["transform", "documents", "passages", "curate"]
    assert finished[-1] == "answer"
    kept = [data["passage"] for name, data in events if name == "passage"]
    answer = next(data for name, data in events if name == "answer")
    assert answer["prediction"]["status"] == "answered"
    assert {(p["filing_id"], p["page"]) for p in answer["prediction"]["evidence"]} <= {
        (p["filing_id"], p["page"]) for p in kept
    }
    documents = next(data["documents"] for name, data in events if name == "stage" and "documents" in data)
    assert documents[0]["reasons"]


def test_filters_narrow_answers_and_retrieval(client: TestClient, service: LocalService, asked: dict[str, Any]) -> None:
    years = {filing.fiscal_year for filing in service.index.filings.values()}
    body = {"question": "What was the total revenue?", "filters": {"fiscal_years": [max(y for y in years if y)]}}
    found = client.post("/v1/retrieve", json={**body, "k_passages": 20}).json()
    filings = {p["filing_id"] for p in found["passages"]}
    assert filings
    assert {service.index.filings[i].fiscal_year for i in filings} == set(body["filters"]["fiscal_years"])  # type: ignore[index]
    nobody = {"question": asked["question"], "filters": {"companies": ["Nobody Inc."]}}
    assert client.post("/v1/answer", json=nobody).json()["data"][0]["status"] == "unanswerable"


def test_retrieval_returns_as_many_as_asked_with_the_query(client: TestClient, asked: dict[str, Any]) -> None:
    body = {"question": asked["question"], "k_documents": 2, "k_passages": 3}
    found = client.post("/v1/retrieve", json=body).json()
    assert len(found["documents"]) == 2
    assert len(found["passages"]) == 3
    assert found["query"]["periods"]


def test_filings_are_paged_without_gaps_or_repeats(client: TestClient, service: LocalService) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = client.get("/v1/filings", params={"limit": 3, "cursor": cursor}).json()
        seen += [cover["filing_id"] for cover in page["data"]]
        if not page["has_more"]:
            break
        cursor = page["next_cursor"]
    assert seen == sorted(service.index.filings)


def test_filings_are_filtered_by_company_form_and_year(client: TestClient, service: LocalService) -> None:
    company = next(iter(service.index.filings.values())).company
    params: dict[str, Any] = {"company": company.upper(), "form": ["10-K"], "fiscal_year": 2022}
    found = client.get("/v1/filings", params=params).json()["data"]
    assert found
    assert {(cover["company"], cover["form"], cover["fiscal_year"]) for cover in found} == {(company, "10-K", 2022)}


def test_covers_do_not_disclose_the_location_of_filings(client: TestClient, service: LocalService) -> None:
    filing_id = next(iter(service.index.filings))
    for path in ("/v1/filings", f"/v1/filings/{filing_id}", f"/v1/filings/{filing_id}/pages/0"):
        text = client.get(path).text
        assert "source_uri" not in text
        assert "/filings/" not in text


def test_a_page_has_its_text_place_and_numbers(client: TestClient, asked: dict[str, Any]) -> None:
    evidence = client.post("/v1/answer", json={"question": asked["question"]}).json()["data"][0]["evidence"][0]
    page = client.get(f"/v1/filings/{evidence['filing_id']}/pages/{evidence['page']}").json()
    assert page["text"][evidence["start"] : evidence["end"]] == evidence["text"]
    assert page["facts"]
    assert all(fact["page"] == evidence["page"] for fact in page["facts"])
    listed = client.get(f"/v1/filings/{evidence['filing_id']}").json()["pages"]
    assert [entry["page"] for entry in listed] == list(range(page["n_pages"]))


def test_an_html_filing_has_no_image(client: TestClient, service: LocalService) -> None:
    reply = client.get(f"/v1/filings/{next(iter(service.index.filings))}/pages/0/image")
    assert reply.status_code == 404
    assert "not a PDF" in error_of(reply)["message"]


@pytest.mark.parametrize(
    ("method", "path", "content", "status", "code"),
    [
        ("GET", "/v1/nothing", None, 404, "unknown_route"),
        ("DELETE", "/v1/filings", None, 405, "method_not_allowed"),
        ("POST", "/v1/answer", b"{", 422, "invalid_request"),
        ("POST", "/v1/answer", b"{}", 422, "invalid_request"),
        ("POST", "/v1/answer", b'{"question": "a", "questions": []}', 422, "invalid_request"),
        ("POST", "/v1/answer", b'{"question": "a", "more": 1}', 422, "invalid_request"),
        ("POST", "/v1/answer", b'{"question": "  "}', 422, "invalid_question"),
        ("POST", "/v1/answer", rb'{"question": "a\u0000b"}', 422, "invalid_question"),
        ("POST", "/v1/answer", rb'{"question": "a\ud800b"}', 422, None),
        ("POST", "/v1/answer", b'{"question": "' + b"a" * 2_001 + b'"}', 422, "question_too_long"),
        ("POST", "/v1/answer", json.dumps({"questions": [{"question": "a"}] * 17}).encode(), 422, "too_many_questions"),
        (
            "POST",
            "/v1/answer",
            json.dumps({"questions": [{"question": "a", "qid": "x"}] * 2}).encode(),
            422,
            "duplicate_qid",
        ),
        ("POST", "/v1/answer", b" " * 300_000, 413, "request_too_large"),
        ("GET", "/v1/filings?limit=0", None, 422, "invalid_request"),
        ("GET", "/v1/filings?cursor=%C3%A9", None, 422, "invalid_cursor"),
        ("GET", "/v1/filings/0000000000-00-000000", None, 404, "not_found"),
        ("GET", "/v1/filings/..%2f..%2fetc%2fpasswd/pages/0", None, 404, "unknown_route"),
        ("GET", "/v1/filings/%2e%2e/pages/0", None, None, None),
        ("GET", "/v1/filings/a'%20OR%201=1/pages/0", None, 422, "invalid_request"),
        ("GET", "/v1/filings/abc/pages/-1", None, 422, "invalid_request"),
    ],
)
def test_every_error_has_the_same_shape(
    client: TestClient, method: str, path: str, content: bytes | None, status: int | None, code: str | None
) -> None:
    headers = {"Content-Type": "application/json"} if content is not None else {}
    reply = client.request(method, path, content=content, headers=headers)
    error = error_of(reply)
    assert 400 <= reply.status_code < 500
    assert status in (None, reply.status_code)
    assert code in (None, error["code"])


def test_a_body_without_length_is_limited_too(client: TestClient) -> None:
    reply = client.post("/v1/answer", content=(b" " * 1_000 for _ in range(300)))
    assert reply.status_code == 413


def test_request_ids_are_echoed_generated_and_validated(client: TestClient) -> None:
    assert client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert len(client.get("/healthz").headers["x-request-id"]) == 32
    assert error_of(client.get("/healthz", headers={"X-Request-Id": "a b"}))["code"] == "invalid_request_id"


def test_no_other_site_may_read_replies(client: TestClient) -> None:
    reply = client.get("/v1/healthz", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in reply.headers
    preflight = client.options(
        "/v1/answer", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 405


def test_a_bug_is_a_500_without_details(make_client: MakeClient) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise ZeroDivisionError("secret")

    reply = make_client(Broken()).get("/v1/filings")
    assert reply.status_code == 500
    assert error_of(reply)["code"] == "internal_error"
    assert "secret" not in reply.text
    assert "Traceback" not in reply.text


def test_a_bug_in_the_middle_of_a_stream_is_an_error_event(make_client: MakeClient) -> None:
    class Failing:
        async def answer(self, asked: object) -> Any:
            yield StartedEvent("1", ())
            raise ZeroDivisionError("secret")

    reply = make_client(Failing()).post("/v1/answer", json={"question": "q"}, headers={"Accept": "text/event-stream"})
    names = [name for name, _ in events_in(reply.text)]
    assert names == ["started", "error"]
    assert "secret" not in reply.text
