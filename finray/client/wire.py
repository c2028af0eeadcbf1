"""What goes over the wire: requests to send, replies as typed values, errors, events. No connection here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import httpx

from finray.core.errors import FinrayError, UsageError
from finray.core.filing_filter import FilingFilter
from finray.core.records import from_object, to_object
from finray.core.replies import EVENTS, ServiceEvent
from finray.core.types import Passage, Question

RETRIED = frozenset({429, 502, 503})
LONGEST_WAIT_S = 30.0
_FILING_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
T = TypeVar("T")


class ServiceError(FinrayError):
    """The service refused or failed, or could not be reached (``status`` 0).

    ``code``, ``type`` and ``param`` are those of the error's body, ``retry_after`` the seconds that the service named.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        kind: str = "server_error",
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}" if status else f"{code}: {message}")
        self.status, self.code, self.message, self.type, self.param = status, code, message, kind, param
        self.request_id, self.retry_after = request_id, retry_after


def headers(api_key: str | None) -> dict[str, str]:
    """Raises UsageError for a key that no header can carry."""
    if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key.strip()):
        raise UsageError("the API key holds characters that no HTTP header can carry; set it to the key alone")
    return {"Authorization": f"Bearer {api_key.strip()}"} if api_key else {}


def filters_body(narrowed: FilingFilter | None) -> dict[str, Any]:
    if narrowed is None or narrowed.is_empty:
        return {}
    return {"filters": to_object(narrowed)}


def answer_body(questions: Sequence[Question], narrowed: FilingFilter | None, *, trace: bool) -> dict[str, Any]:
    items = [{"qid": question.qid, "question": question.question} for question in questions]
    return {"questions": items, "trace": trace, **filters_body(narrowed)}


def retrieve_body(
    question: str, narrowed: FilingFilter | None, k_documents: int | None, k_passages: int | None
) -> dict[str, Any]:
    k = {"k_documents": k_documents, "k_passages": k_passages}
    return {"question": question, **filters_body(narrowed), **{n: v for n, v in k.items() if v is not None}}


def filings_query(narrowed: FilingFilter | None, cursor: str | None, limit: int) -> dict[str, Any]:
    chosen = narrowed or FilingFilter()
    query: dict[str, Any] = {"company": list(chosen.companies), "form": list(chosen.forms)}
    return query | {"fiscal_year": list(chosen.fiscal_years), "limit": limit} | ({"cursor": cursor} if cursor else {})


def page_path(filing_id: str, page: int | None = None, *, image: bool = False) -> str:
    """Raises UsageError for what cannot be the id of a filing."""
    if not _FILING_ID.fullmatch(filing_id):
        raise UsageError(f"{filing_id[:80]!r} is not the id of a filing")
    path = f"/v1/filings/{filing_id}" + (f"/pages/{int(page)}" if page is not None else "")
    return path + "/image" if image else path


def image_query(highlights: Iterable[Passage], boxes: Iterable[Sequence[float]], dpi: int | None) -> dict[str, Any]:
    query: dict[str, Any] = {"highlight": [f"{p.start}-{p.end}" for p in highlights]}
    query["box"] = [",".join(f"{edge:g}" for edge in box) for box in boxes]
    return query | ({"dpi": dpi} if dpi is not None else {})


def read(kind: type[T], reply: httpx.Response) -> T:
    """The reply as a ``kind``. Raises ServiceError."""
    try:
        record = reply.json()
    except ValueError as error:
        raise ServiceError(0, "unexpected_reply", "the reply is not JSON; is this a finray service?") from error
    return _read(kind, record)


def problem(reply: httpx.Response) -> ServiceError | None:
    """What went wrong, or None."""
    if reply.is_success:
        return None
    request_id = reply.headers.get("x-request-id")
    wait = reply.headers.get("retry-after", "")
    retry_after = float(wait) if wait.isdecimal() else None
    try:
        error = reply.json()["error"]
        code, message, kind, param = error["code"], error["message"], error["type"], error["param"]
    except (ValueError, KeyError, TypeError):
        code, message, kind, param = "http_error", f"HTTP {reply.status_code}", "server_error", None
    return ServiceError(
        reply.status_code, code, message, kind=kind, param=param, request_id=request_id, retry_after=retry_after
    )


def wait_before(error: ServiceError, attempt: int) -> float:
    """Seconds before the next try: what the service asked for, else doubling from half a second."""
    wait = error.retry_after if error.retry_after is not None else 0.5 * 2**attempt
    return float(min(wait, LONGEST_WAIT_S))


def unreachable(base_url: httpx.URL, error: httpx.HTTPError) -> ServiceError:
    return ServiceError(0, "unreachable", f"no reply from {base_url}: {type(error).__name__}: {error}")


class EventReader:
    """Lines of a stream to events. Raises ServiceError for the event ``error``."""

    def __init__(self) -> None:
        self._name = ""
        self._data: list[str] = []

    def read(self, line: str) -> Iterator[ServiceEvent]:
        """The event that ``line`` completes, if any."""
        if line.startswith("event:"):
            self._name = line[6:].strip()
        elif line.startswith("data:"):
            self._data.append(line[5:].lstrip())
        elif not line and self._data:
            name, data = self._name, json.loads("\n".join(self._data))
            self._name, self._data = "", []
            if name == "error":
                error = data["error"]
                raise ServiceError(200, error["code"], error["message"], kind=error["type"], param=error["param"])
            if name in EVENTS:  # another is of a newer service
                yield _read(EVENTS[name], data)


def _read(kind: type[T], record: object) -> T:
    try:
        return from_object(kind, record)
    except ValueError as error:
        raise ServiceError(0, "unexpected_reply", f"{error}; is this a finray service of this version?") from error


def is_passing(error: ServiceError) -> bool:
    """Whether trying again may help: refused for the moment, or the connection could not be made."""
    return error.status in RETRIED or isinstance(error.__cause__, httpx.ConnectError)
