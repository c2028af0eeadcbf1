"""Replies of the HTTP service: the definition that service, clients and OpenAPI file share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from finray.core.filing import Filing, LineItem, Place, Statement
from finray.core.journal import Stage
from finray.core.passages import DocumentRef, Passage
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question
from finray.core.records import OmitNone, Record

ErrorType = Literal[
    "invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error"
]


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """A problem with a request, in the shape of OpenAI's errors."""

    message: str
    type: ErrorType
    param: str | None
    """The field at fault."""
    code: str | None
    """A short stable slug."""


@dataclass(frozen=True, slots=True)
class ErrorReply(Record):
    error: Problem


@dataclass(frozen=True, slots=True)
class Health(Record):
    status: Literal["ok"] = "ok"


@dataclass(frozen=True, slots=True)
class Ready(Record):
    index_version: str
    filings: int
    settings_hash: str
    status: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class QuerySummary(Record):
    """How a question was understood."""

    text: str
    companies: tuple[str, ...]
    unknown_companies: tuple[str, ...]
    periods: tuple[str, ...]
    forms: tuple[str, ...]
    metrics: tuple[str, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class AnswerList(Record):
    """Predictions in the order of the questions, all from one version of the index."""

    index_version: str
    seconds: float
    data: tuple[Prediction, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class Retrieved(Record):
    """Filings and passages for a question, best first."""

    index_version: str
    question: str
    query: QuerySummary
    documents: tuple[DocumentRef, ...]
    passages: tuple[Passage, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingCover(Filing):
    """The cover facts of a filing, without its location."""

    source_uri: Annotated[str, Field(exclude=True)] = ""
    n_pages: int


@dataclass(frozen=True, slots=True)
class FilingList(Record):
    """One page of a list of filings, by filing id."""

    index_version: str
    data: tuple[FilingCover, ...]
    has_more: bool
    next_cursor: str | None
    """Value of ``cursor`` for the next request."""
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class PagePlace(Record):
    """Item, statement and place of a page."""

    page: int
    item: str | None
    statement: Statement | None
    place: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingDetail(FilingCover):
    """A filing with an overview of its pages."""

    index_version: str
    summary: str
    pages: tuple[PagePlace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingPage(PagePlace):
    """One page of a filing with every number of its tables."""

    index_version: str
    filing_id: str
    doc_name: str
    company: str
    form: str
    n_pages: int
    text: str
    headings: tuple[str, ...]
    facts: tuple[LineItem, ...]
    has_image: bool


class ServiceEvent(Record):
    """A server-sent event; its fields are the event's data."""

    __slots__ = ()
    name: ClassVar[str]


@dataclass(frozen=True, slots=True)
class StartedEvent(ServiceEvent):
    """Work on the questions begins."""

    name: ClassVar[str] = "started"
    index_version: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class StageEvent(ServiceEvent):
    """A stage begins, or has finished; then with its result."""

    name: ClassVar[str] = "stage"
    qid: str
    stage: Stage
    iteration: int
    """0 for the first retrieval, then rounds of the loop from 1."""
    state: Literal["started", "finished"]
    seconds: OmitNone[float | None] = None
    usage: OmitNone[Mapping[str, TokenUsage] | None] = None
    trace: OmitNone[tuple[str, ...] | None] = None
    query: OmitNone[QuerySummary | None] = None
    documents: OmitNone[tuple[DocumentRef, ...] | None] = None
    passages: OmitNone[tuple[Passage, ...] | None] = None


@dataclass(frozen=True, slots=True)
class IterationEvent(ServiceEvent):
    """After each curation."""

    name: ClassVar[str] = "iteration"
    qid: str
    iteration: int
    answerable: bool
    kept: int
    missing: tuple[str, ...]
    complementary: str | None
    """The question that the next round retrieves for."""


@dataclass(frozen=True, slots=True)
class PassageEvent(ServiceEvent):
    """A passage that the curator kept."""

    name: ClassVar[str] = "passage"
    qid: str
    iteration: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class AnswerEvent(ServiceEvent):
    """A question is done."""

    name: ClassVar[str] = "answer"
    qid: str
    index_version: str
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class ErrorEvent(ServiceEvent):
    """Ends the stream."""

    name: ClassVar[str] = "error"
    error: Problem


@dataclass(frozen=True, slots=True)
class DoneEvent(ServiceEvent):
    """All questions are done."""

    name: ClassVar[str] = "done"
    index_version: str
    seconds: float


EVENTS: dict[str, type[ServiceEvent]] = {
    kind.name: kind
    for kind in (StartedEvent, StageEvent, IterationEvent, PassageEvent, AnswerEvent, ErrorEvent, DoneEvent)
}
