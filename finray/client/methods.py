"""The methods that both clients share. Each describes a request and how to read its reply; the client sends it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

import httpx

from finray.client import wire
from finray.core.errors import UsageError
from finray.core.filing_filter import FilingFilter
from finray.core.records import to_object
from finray.core.replies import AnswerList, FilingCover, FilingList, FilingPage, Ready, Retrieved
from finray.core.types import Filing, Passage, Prediction, Question

_FILING_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request (arguments of httpx) and a function that reads its reply. A method that returns a ``Call[T]`` here
    returns a ``T`` in Client and an awaitable ``T`` in AsyncClient."""

    read: Callable[[httpx.Response], T]
    request: dict[str, Any]

    @classmethod
    def get(cls, path: str, read: Callable[[httpx.Response], T], params: dict[str, Any] | None = None) -> Call[T]:
        return cls(read, {"method": "GET", "url": path, "params": params})

    @classmethod
    def post(
        cls, path: str, read: Callable[[httpx.Response], T], narrowed: FilingFilter | None, **body: Any
    ) -> Call[T]:
        filters = {} if narrowed is None or narrowed.is_empty else {"filters": to_object(narrowed)}
        return cls(read, {"method": "POST", "url": path, "json": body | filters})


class _Sync(Protocol):
    def _do(self, describe: Callable[..., Call[T]], *args: Any, **kwargs: Any) -> T: ...


class _Async(Protocol):
    def _do(self, describe: Callable[..., Call[T]], *args: Any, **kwargs: Any) -> Coroutine[Any, Any, T]: ...


class method(Generic[P, T]):
    """Descriptor that turns a method describing a call into one that sends it with the client's ``_do``."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self.describe = describe

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], Call[T]]: ...
    @overload
    def __get__(self, client: _Sync, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: _Async, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self.describe if client is None else functools.partial(client._do, self.describe, client)


class Methods:
    """Methods with a single reply. Every method raises ServiceError."""

    @method
    def answer(self, question: str, *, narrowed: FilingFilter | None = None, trace: bool = False) -> Call[Prediction]:
        """The answer, from the filings that match ``narrowed``."""
        return _answer([Question("1", question)], narrowed, trace, lambda reply: _answers(reply)[0])

    @method
    def answer_all(
        self, questions: Sequence[Question], *, narrowed: FilingFilter | None = None, trace: bool = False
    ) -> Call[list[Prediction]]:
        """Answers to a few questions, in order, from one version of the index."""
        return _answer(questions, narrowed, trace, _answers)

    @method
    def retrieve(
        self,
        question: str,
        *,
        narrowed: FilingFilter | None = None,
        k_documents: int | None = None,
        k_passages: int | None = None,
    ) -> Call[Retrieved]:
        """Filings and passages for a question, without an answer."""
        chosen = {"k_documents": k_documents, "k_passages": k_passages}
        k = {name: value for name, value in chosen.items() if value is not None}
        return Call.post("/v1/retrieve", wire.reader(Retrieved), narrowed, question=question, **k)

    @method
    def filing(self, filing_id: str) -> Call[Filing]:
        """Cover facts of one filing."""
        return Call.get(_path(filing_id), wire.reader(FilingCover))

    @method
    def page(self, filing_id: str, page: int) -> Call[FilingPage]:
        """One page; ``page`` counts from 0."""
        return Call.get(f"{_path(filing_id)}/pages/{int(page)}", wire.reader(FilingPage))

    @method
    def page_image(
        self,
        filing_id: str,
        page: int,
        *,
        highlights: Iterable[Passage] = (),
        boxes: Iterable[Sequence[float]] = (),
        dpi: int | None = None,
    ) -> Call[bytes]:
        """PNG of one page, with passages of this page and boxes (PDF points) marked."""
        query: dict[str, Any] = {"highlight": [f"{p.start}-{p.end}" for p in highlights]}
        query["box"] = [",".join(f"{edge:g}" for edge in box) for box in boxes]
        query |= {"dpi": dpi} if dpi is not None else {}
        return Call.get(f"{_path(filing_id)}/pages/{int(page)}/image", lambda reply: reply.content, query)

    @method
    def ready(self) -> Call[Ready]:
        """The index version and settings that the service answers with."""
        return Call.get("/v1/readyz", wire.reader(Ready))

    @method
    def _filings(self, narrowed: FilingFilter | None, cursor: str | None, limit: int) -> Call[FilingList]:
        chosen = narrowed or FilingFilter()
        query: dict[str, Any] = {"company": list(chosen.companies), "form": list(chosen.forms)}
        query |= {"fiscal_year": list(chosen.fiscal_years), "limit": limit} | ({"cursor": cursor} if cursor else {})
        return Call.get("/v1/filings", wire.reader(FilingList), query)


def stream(question: str, narrowed: FilingFilter | None, *, trace: bool) -> dict[str, Any]:
    """The request for an answer as a stream of events."""
    call = _answer([Question("1", question)], narrowed, trace, _answers)
    return call.request | {"headers": {"Accept": "text/event-stream"}}


def _answer(
    questions: Sequence[Question], narrowed: FilingFilter | None, trace: bool, read: Callable[[httpx.Response], T]
) -> Call[T]:
    items = [{"qid": question.qid, "question": question.question} for question in questions]
    return Call.post("/v1/answer", read, narrowed, questions=items, trace=trace)


def _answers(reply: httpx.Response) -> list[Prediction]:
    return list(wire.reader(AnswerList)(reply).data)


def _path(filing_id: str) -> str:
    """Raises UsageError for an invalid filing id."""
    if not _FILING_ID.fullmatch(filing_id):
        raise UsageError(f"{filing_id[:80]!r} is not a filing id: use 1 to 64 letters, digits or '-'")
    return f"/v1/filings/{filing_id}"
