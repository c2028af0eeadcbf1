"""The methods that both clients share. Each describes a request and how to read its reply; the client sends it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

import httpx

from finray.client import wire
from finray.core.batch_replies import Batch, BatchAnswers, BatchList, Deleted, DownloadFormat, FileObject, Show
from finray.core.errors import UsageError
from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.question_fields import MAX_CONTEXT
from finray.core.questions import Question
from finray.core.records import to_object
from finray.core.replies import AnswerList, FilingCover, FilingList, FilingPage, Ready, Retrieved

_BATCH_ID = re.compile(r"batch_[0-9a-f]{24}")
_FILING_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request (arguments of httpx) and a function that reads its reply.

    A method that returns a ``Call[T]`` here returns a ``T`` in Client and an awaitable ``T`` in AsyncClient. A call
    that is sent ``once`` is not retried, because it would start work again.
    """

    read: Callable[[httpx.Response], T]
    request: dict[str, Any]
    once: bool = False

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
    def answer(
        self,
        question: str,
        *,
        context: Sequence[str] = (),
        narrowed: FilingFilter | None = None,
        trace: bool = False,
    ) -> Call[Prediction]:
        """The answer, from the filings that match ``narrowed``. ``context`` (the earlier questions of the conversation,
        oldest first) completes the question; ``Prediction.resolved`` is then the question that was answered."""
        asked = Question("1", question, context=tuple(context))
        return _answer([asked], narrowed, trace, lambda reply: _answers(reply)[0])

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
        query: dict[str, Any] = {
            "highlight": [f"{passage.start}-{passage.end}" for passage in highlights],
            "box": [",".join(f"{edge:g}" for edge in box) for box in boxes],
        }
        if dpi is not None:
            query["dpi"] = dpi
        return Call.get(f"{_path(filing_id)}/pages/{int(page)}/image", lambda reply: reply.content, query)

    @method
    def upload_file(self, content: bytes, filename: str) -> Call[FileObject]:
        """Store a file of questions (.csv, .xlsx, .jsonl or .parquet) for batches."""
        request = {"method": "POST", "url": "/v1/files", "files": {"file": (filename, content)}}
        return Call(wire.reader(FileObject), request, once=True)

    @method
    def start_batch(
        self,
        input_file_id: str,
        *,
        narrowed: FilingFilter | None = None,
        question_column: str | None = None,
        sheet: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Call[Batch]:
        """Answer every question of an uploaded file in the background; ``batch`` shows the progress."""
        body = {
            "input_file_id": input_file_id,
            "question_column": question_column,
            "sheet": sheet,
            "metadata": dict(metadata or {}),
        }
        return replace(Call.post("/v1/batches", wire.reader(Batch), narrowed, **body), once=True)

    @method
    def batch(self, batch_id: str) -> Call[Batch]:
        """Status and counts of one batch."""
        return Call.get(_batch(batch_id), wire.reader(Batch))

    @method
    def batches(self, *, after: str | None = None, limit: int = 20) -> Call[BatchList]:
        """The key's batches, newest first; ``after`` is the ``last_id`` of the previous page."""
        query = {"limit": limit} | ({"after": after} if after else {})
        return Call.get("/v1/batches", wire.reader(BatchList), query)

    @method
    def cancel_batch(self, batch_id: str) -> Call[Batch]:
        """Stop a batch. Its answers so far stay."""
        return Call.post(f"{_batch(batch_id)}/cancel", wire.reader(Batch), None)

    @method
    def resume_batch(self, batch_id: str, *, retry_errors: bool = False) -> Call[Batch]:
        """Ask the unanswered questions, with ``retry_errors`` also those that ended in an error."""
        return Call.post(f"{_batch(batch_id)}/resume", wire.reader(Batch), None, retry_errors=retry_errors)

    @method
    def batch_answers(
        self, batch_id: str, *, show: Show = "all", after: int = 0, limit: int = 100
    ) -> Call[BatchAnswers]:
        """Answers in brief, in the order of the file; ``after`` is the ``next_after`` of the previous page."""
        query = {"show": show, "after": after, "limit": limit}
        return Call.get(f"{_batch(batch_id)}/answers", wire.reader(BatchAnswers), query)

    @method
    def batch_answer(self, batch_id: str, number: int) -> Call[Prediction]:
        """The answer to question ``number`` (from 1) with its evidence."""
        return Call.get(f"{_batch(batch_id)}/answers/{int(number)}", wire.reader(Prediction))

    @method
    def download_batch(self, batch_id: str, format: DownloadFormat = "jsonl") -> Call[bytes]:
        """The answers so far as JSON lines (predictions), CSV or a workbook."""
        return Call.get(f"{_batch(batch_id)}/download", lambda reply: reply.content, {"format": format})

    @method
    def delete_batch(self, batch_id: str) -> Call[Deleted]:
        """Delete a batch that has ended, with its answers."""
        return Call(wire.reader(Deleted), {"method": "DELETE", "url": _batch(batch_id)})

    @method
    def ready(self) -> Call[Ready]:
        """The index version and settings that the service answers with."""
        return Call.get("/v1/readyz", wire.reader(Ready))

    @method
    def _filings(self, narrowed: FilingFilter | None, cursor: str | None, limit: int) -> Call[FilingList]:
        chosen = narrowed or FilingFilter()
        query: dict[str, Any] = {
            "company": list(chosen.companies),
            "form": list(chosen.forms),
            "fiscal_year": list(chosen.fiscal_years),
            "limit": limit,
        }
        if cursor:
            query["cursor"] = cursor
        return Call.get("/v1/filings", wire.reader(FilingList), query)


def stream(question: str, context: Sequence[str], narrowed: FilingFilter | None, *, trace: bool) -> dict[str, Any]:
    """The request for an answer as a stream of events."""
    call = _answer([Question("1", question, context=tuple(context))], narrowed, trace, _answers)
    return call.request | {"headers": {"Accept": "text/event-stream"}}


def _answer(
    questions: Sequence[Question], narrowed: FilingFilter | None, trace: bool, read: Callable[[httpx.Response], T]
) -> Call[T]:
    items = [
        {"qid": question.qid, "question": question.question}
        | ({"context": list(question.context[-MAX_CONTEXT:])} if question.context else {})
        for question in questions
    ]
    return Call.post("/v1/answer", read, narrowed, questions=items, trace=trace)


def _answers(reply: httpx.Response) -> list[Prediction]:
    return list(wire.reader(AnswerList)(reply).data)


def _batch(batch_id: str) -> str:
    """Raises UsageError for an invalid batch id."""
    if not _BATCH_ID.fullmatch(batch_id):
        raise UsageError(f"{batch_id[:80]!r} is not a batch id: it is 'batch_' and 24 hex digits")
    return f"/v1/batches/{batch_id}"


def _path(filing_id: str) -> str:
    """Raises UsageError for an invalid filing id."""
    if not _FILING_ID.fullmatch(filing_id):
        raise UsageError(f"{filing_id[:80]!r} is not a filing id: use 1 to 64 letters, digits or '-'")
    return f"/v1/filings/{filing_id}"
