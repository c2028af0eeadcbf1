"""A service whose answers are written down here: what the real one says too rarely to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

from finray.api.errors import ApiError, not_found
from finray.api.events import Event
from finray.api.page_images import Mark
from finray.api.service import Asked, AskedRetrieval
from finray.core.filing_filter import FilingFilter

HOSTILE = '"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
TEXT = "Total revenue | $1,250 | $1,000\nNet income | (80) | 60"
FILING = "scripted-1"
VERSION = {"index_version": "1.1.1.1"}


class ScriptedService:
    """What a question is answered with is the first word of it that stands in ``_SCRIPTS``."""

    def __init__(self) -> None:
        self.closed = 0
        """How many answers were ended before they were done."""

    async def status(self) -> dict[str, Any]:
        return {**VERSION, "filings": 1, "settings_hash": "0"}

    async def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        question = asked.questions[0]
        word = next((word for word in question.question.lower().split() if word in _SCRIPTS), "plain")
        yield Event("started", {**VERSION, "questions": [{"qid": question.qid, "question": question.question}]})
        try:
            for event in _SCRIPTS[word](question.qid, question.question):
                yield event
                await asyncio.sleep(0.01)
            if word == "slow":
                await asyncio.sleep(60)
        except (asyncio.CancelledError, GeneratorExit):
            self.closed += 1
            raise
        yield Event("done", {**VERSION, "seconds": 0.1})

    async def retrieve(self, asked: AskedRetrieval) -> dict[str, Any]:
        raise not_found("nothing is retrieved here", "question")

    async def filings(self, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]:
        return {**VERSION, "object": "list", "data": [_cover()], "has_more": False, "next_cursor": None}

    async def filing(self, filing_id: str) -> dict[str, Any]:
        return {**VERSION, **_cover(), "summary": HOSTILE, "pages": []}

    async def page(self, filing_id: str, page: int) -> dict[str, Any]:
        cover = {name: _cover()[name] for name in ("filing_id", "doc_name", "company", "form", "n_pages")}
        place = {"item": HOSTILE, "statement": HOSTILE, "place": None, "headings": [HOSTILE]}
        return {
            **VERSION,
            **cover,
            **place,
            "page": page,
            "text": f"{TEXT}\n{HOSTILE}",
            "facts": [],
            "has_image": False,
        }

    async def page_image(self, filing_id: str, page: int, marks: tuple[Mark, ...], dpi: int) -> bytes:
        raise not_found("no images here", "page")


def _cover() -> dict[str, Any]:
    names = {"filing_id": FILING, "doc_name": f"doc-{HOSTILE}", "company": f"Scripted {HOSTILE} Inc.", "form": "10-K"}
    period = {"period_end": "2023-12-31", "fiscal_year": 2023, "fiscal_period": "FY", "is_amendment": False}
    return {**names, **period, "cik": None, "ticker": None, "aliases": [], "n_pages": 3}


def _prediction(qid: str, question: str, **changed: Any) -> dict[str, Any]:
    passage = {"doc_name": f"doc-{HOSTILE}", "filing_id": FILING, "page": 1, "start": 0, "end": 31, "score": 0.9}
    cell = {"name": "revenue_fy2023", "value": 1.25e9, "label": "Total revenue", "text": "$1,250", "section": HOSTILE}
    cell |= {"doc_name": f"doc-{HOSTILE}", "filing_id": FILING, "page": 1, "period_end": "2023-12-31", "months": 12}
    before = cell | {"name": "revenue_fy2022", "value": 1.0e9, "text": "$1,000", "period_end": "2022-12-31"}
    record: dict[str, Any] = {
        "qid": qid,
        "question": question,
        "answer": "25.0%",
        "value": 25.0,
        "unit": "percent",
        "status": "answered",
        "error": None,
        "documents": [{"doc_name": f"doc-{HOSTILE}", "filing_id": FILING, "score": 1.0, "reasons": [HOSTILE]}],
        "passages": [passage | {"text": HOSTILE}],
        "evidence": [passage | {"text": TEXT[:31]}],
        "iterations": 2,
        "usage": {},
        "seconds": 0.1,
        "settings_hash": "0",
        "program": "(revenue_fy2023 - revenue_fy2022) / revenue_fy2022 where revenue_fy2023 = 1,250,000,000",
        "operands": [cell, before],
        "confidence": 0.8,
    }
    return record | changed


def _stage(qid: str, stage: str, iteration: int, **result: Any) -> Iterator[Event]:
    data = {"qid": qid, "stage": stage, "iteration": iteration}
    yield Event("stage", data | {"state": "started"})
    yield Event("stage", data | {"state": "finished", "seconds": 0.02, "usage": {}, "trace": [HOSTILE], **result})


def _round(qid: str, number: int, missing: list[str]) -> Iterator[Event]:
    record = _prediction(qid, "")
    empty: dict[str, Any] = {name: [] for name in ("unknown_companies", "periods", "forms", "metrics", "statements")}
    yield from _stage(qid, "transform", number - 1, query=empty | {"text": "", "companies": [HOSTILE]})
    yield from _stage(qid, "documents", number - 1, documents=record["documents"])
    yield from _stage(qid, "passages", number - 1, passages=record["passages"])
    yield from _stage(qid, "curate", number)
    place = {"qid": qid, "iteration": number}
    again = "And what was revenue the year before?" if missing else None
    yield Event("iteration", place | {"answerable": not missing, "kept": 1, "missing": missing, "complementary": again})
    yield Event("passage", place | {"passage": record["evidence"][0]})


def _plain(qid: str, question: str, **changed: Any) -> Iterator[Event]:
    yield from _round(qid, 1, [])
    yield from _stage(qid, "answer", 1)
    record = _prediction(qid, question, **changed)
    yield Event("answer", {"qid": qid, **VERSION, "prediction": record})


def _twice(qid: str, question: str) -> Iterator[Event]:
    yield from _round(qid, 1, [f"revenue of fiscal 2022 {HOSTILE}"])
    yield from _round(qid, 2, [])
    yield from _stage(qid, "answer", 2)
    yield Event("answer", {"qid": qid, **VERSION, "prediction": _prediction(qid, question)})


def _ungrounded(qid: str, question: str) -> Iterator[Event]:
    return _plain(qid, question, grounded=False, confidence=0.2)


def _hostile(qid: str, question: str) -> Iterator[Event]:
    return _plain(qid, question, answer=HOSTILE, value=None, unit=HOSTILE, program=HOSTILE, missing=[HOSTILE])


def _refused(qid: str, question: str) -> Iterator[Event]:
    unknown: dict[str, Any] = {
        "value": None,
        "unit": None,
        "program": None,
        "operands": [],
        "evidence": [],
        "confidence": None,
    }
    said = {"answer": HOSTILE, "missing": [f"filings {HOSTILE}"], "nearest": [f"fiscal 2022 {HOSTILE}"]}
    return _plain(qid, question, status="unanswerable", **unknown, **said)


def _slow(qid: str, question: str) -> Iterator[Event]:
    yield from _stage(qid, "transform", 0)
    yield Event("stage", {"qid": qid, "stage": "documents", "iteration": 0, "state": "started"})


def _broken(qid: str, question: str) -> Iterator[Event]:
    yield from _stage(qid, "transform", 0)
    raise ApiError(503, "model_unavailable", "a model that this service needs cannot be reached; try again later")


_SCRIPTS = {
    "plain": _plain,
    "twice": _twice,
    "ungrounded": _ungrounded,
    "hostile": _hostile,
    "refused": _refused,
    "slow": _slow,
    "broken": _broken,
}
