"""A service with scripted answers, for replies that are too rare in the real one."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from typing import Any

from finray.api.errors import ApiError, not_found
from finray.api.page_images import Drawing
from finray.api.service import Asked, AskedRetrieval
from finray.core.journal import Stage
from finray.core.passages import DocumentRef, Passage, RenderedBlock
from finray.core.predictions import CitedCell, Prediction
from finray.core.replies import (
    AnswerEvent,
    DoneEvent,
    FilingCover,
    FilingDetail,
    FilingList,
    FilingPage,
    IterationEvent,
    PassageEvent,
    QuerySummary,
    Ready,
    Retrieved,
    ServiceEvent,
    StageEvent,
    StartedEvent,
)

HOSTILE = '"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
TEXT = "Total revenue | $1,250 | $1,000\nNet income | (80) | 60"
RENDERED = f"**{HOSTILE}**\n|USD|Dec 2023|Dec 2022|\n|---|---:|---:|\n|{HOSTILE}|$1,250|$1,000|"
FILING = "scripted-1"
DOC = f"doc-{HOSTILE}"
VERSION = "1.1.1.1"


class ScriptedService:
    """The first word of a question that is in ``_SCRIPTS`` selects the answer."""

    def __init__(self) -> None:
        self.asked = 0
        self.closed = 0
        """The number of answers that were cancelled."""

    async def status(self) -> Ready:
        return Ready(VERSION, 1, "0")

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        self.asked += 1
        question = asked.questions[0]
        word = next((word for word in question.question.lower().split() if word in _SCRIPTS), "plain")
        yield StartedEvent(VERSION, (question,))
        try:
            for event in _SCRIPTS[word](question.qid, question.question):
                yield event
                await asyncio.sleep(0.01)
            if word == "slow":
                await asyncio.sleep(60)
        except (asyncio.CancelledError, GeneratorExit):
            self.closed += 1
            raise
        yield DoneEvent(VERSION, 0.1)

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        raise not_found("nothing is retrieved here", "question")

    async def read(self, key: str, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return getattr(self, work.__name__)(*args, **kwargs)

    def filings_record(self, *_: object) -> FilingList:
        return FilingList(VERSION, (FilingCover(**_COVER),), has_more=False, next_cursor=None)

    def filing_record(self, filing_id: str) -> FilingDetail:
        return FilingDetail(index_version=VERSION, summary=HOSTILE, pages=(), **_COVER)

    def filing_page(self, filing_id: str, page: int) -> FilingPage:
        return FilingPage(
            index_version=VERSION,
            **{name: _COVER[name] for name in ("filing_id", "doc_name", "company", "form", "n_pages")},
            page=page,
            text=f"{TEXT}\n{HOSTILE}",
            item=HOSTILE,
            statement="income",
            place=None,
            headings=(HOSTILE,),
            facts=(),
            has_image=False,
        )

    async def page_image(self, key: str, filing_id: str, drawing: Drawing) -> bytes:
        raise not_found("no images here", "page")


_COVER: dict[str, Any] = {
    **{"filing_id": FILING, "doc_name": DOC, "company": f"Scripted {HOSTILE} Inc.", "form": "10-K"},
    **{"content_sha256": "", "period_end": dt.date(2023, 12, 31), "fiscal_year": 2023, "fiscal_period": "FY"},
    "n_pages": 3,
}


def _prediction(qid: str, question: str, **changed: Any) -> Prediction:
    now = CitedCell("revenue_fy2023", 1.25e9, DOC, FILING, 1, "Total revenue", "$1,250", HOSTILE, months=12)
    now = replace(now, period_end=dt.date(2023, 12, 31))
    before = replace(now, name="revenue_fy2022", value=1.0e9, text="$1,000", period_end=dt.date(2022, 12, 31))
    prediction = Prediction(
        qid,
        question,
        answer="25.0%",
        status="answered",
        value=25.0,
        unit="percent",
        documents=(DocumentRef(DOC, FILING, 1.0, reasons=(HOSTILE,)),),
        passages=(Passage(DOC, FILING, 1, 0, 31, HOSTILE, 0.9),),
        evidence=(Passage(DOC, FILING, 1, 0, 31, TEXT[:31], 0.9),),
        evidence_blocks=(RenderedBlock("e1", DOC, FILING, 1, "table", HOSTILE, RENDERED),),
        iterations=2,
        seconds=0.1,
        settings_hash="0",
        program="(revenue_fy2023 - revenue_fy2022) / revenue_fy2022 where revenue_fy2023 = 1,250,000,000",
        operands=(now, before),
        confidence=0.8,
    )
    return replace(prediction, **changed)


def _stage(qid: str, stage: Stage, iteration: int, **result: Any) -> Iterator[ServiceEvent]:
    yield StageEvent(qid, stage, iteration, "started")
    yield StageEvent(qid, stage, iteration, "finished", seconds=0.02, usage={}, trace=(HOSTILE,), **result)


def _round(qid: str, number: int, missing: tuple[str, ...]) -> Iterator[ServiceEvent]:
    found = _prediction(qid, "")
    yield from _stage(qid, "transform", number - 1, query=QuerySummary("", (HOSTILE,), (), (), (), (), ()))
    yield from _stage(qid, "documents", number - 1, documents=found.documents)
    yield from _stage(qid, "passages", number - 1, passages=found.passages)
    yield from _stage(qid, "curate", number)
    again = "And what was revenue the year before?" if missing else None
    yield IterationEvent(qid, number, answerable=not missing, kept=1, missing=missing, complementary=again)
    yield PassageEvent(qid, number, found.evidence[0])


def _plain(qid: str, question: str, **changed: Any) -> Iterator[ServiceEvent]:
    yield from _round(qid, 1, ())
    yield from _stage(qid, "answer", 1)
    yield AnswerEvent(qid, VERSION, _prediction(qid, question, **changed))


def _twice(qid: str, question: str) -> Iterator[ServiceEvent]:
    yield from _round(qid, 1, (f"revenue of fiscal 2022 {HOSTILE}",))
    yield from _round(qid, 2, ())
    yield from _stage(qid, "answer", 2)
    yield AnswerEvent(qid, VERSION, _prediction(qid, question))


def _ungrounded(qid: str, question: str) -> Iterator[ServiceEvent]:
    return _plain(qid, question, grounded=False, confidence=0.2)


def _hostile(qid: str, question: str) -> Iterator[ServiceEvent]:
    return _plain(qid, question, answer=HOSTILE, value=None, unit=HOSTILE, program=HOSTILE, missing=(HOSTILE,))


def _refused(qid: str, question: str) -> Iterator[ServiceEvent]:
    unknown: dict[str, Any] = {
        "value": None,
        "unit": None,
        "program": None,
        "operands": (),
        "evidence": (),
        "confidence": None,
    }
    said = {"answer": HOSTILE, "missing": (f"filings {HOSTILE}",), "nearest": (f"fiscal 2022 {HOSTILE}",)}
    return _plain(qid, question, status="unanswerable", **unknown, **said)


def _slow(qid: str, question: str) -> Iterator[ServiceEvent]:
    yield from _stage(qid, "transform", 0)
    yield StageEvent(qid, "documents", 0, "started")


def _broken(qid: str, question: str) -> Iterator[ServiceEvent]:
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
