"""Requests to EDGAR: paced, with a contact, and patient in the way that each refusal asks for.

What EDGAR answers, and what is done:

* 403 with a page ("Request Rate Threshold Exceeded", "Undeclared Automated Tool"): every request waits.
* 429: every request waits as long as ``Retry-After`` says.
* 5xx, a connection that breaks, a body that ends early: this request waits, longer each time.
* 404, and 403 with the XML of the storage behind EDGAR: there is no such file.
* A redirect: followed on the same host, a few times. To another host, or from https to http, it is an error: whoever
  answers there would choose what is taken for a filing, and learn who asks.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from finray.core.errors import (
    EdgarBlockedError,
    EdgarError,
    EdgarMissingError,
    EdgarRefusedError,
    EdgarUnavailableError,
    UsageError,
)
from finray.core.retries import Attempts, attempts, retry_after
from finray.core.settings import EdgarSettings
from finray.edgar.contact import checked_contact
from finray.edgar.encoding import TooLongError, decoded, index_too_long, start_of
from finray.edgar.limiter import Limiter

_NO_SUCH_FILE = re.compile(rb"<code>\s*(?:accessdenied|nosuchkey)\s*</code>", re.I)
_LOOK_AT = 4096
_MOST_REDIRECTS = 5
_LONGEST_WAIT_S = 60.0
_LONGEST_RETRY_AFTER_S = 3600.0
_CLOCK_OFF_S = 12 * 3600.0
"""EDGAR's own clock is right; less than this changes no decision for long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``content`` is None where the file has not changed since ``validator`` was noted. ``validator`` is what a later
    request gives back: ETag and Last-Modified."""

    content: bytes | None
    validator: dict[str, str]


class EdgarHttp:
    """An HTTP client for EDGAR; for several threads. Raises SettingsError without a real contact."""

    def __init__(self, settings: EdgarSettings, limiter: Limiter) -> None:
        self._settings = settings
        self.limiter = limiter
        self.requests = 0
        self._stopped = threading.Event()
        # Hooks, not a transport: they run for every request, and leave proxies and certificates to httpx and its usual
        # environment variables.
        self.client = httpx.Client(
            headers={"User-Agent": checked_contact(settings.contact), "Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(settings.timeout_s, connect=10.0),
            follow_redirects=False,  # see stream
            event_hooks={"request": [self._wait_for_turn], "response": [self._check]},
        )

    def stop(self) -> None:
        """Whoever waits for a turn, perhaps for minutes, gives up at once with EdgarError; so does who asks later."""
        self._stopped.set()

    def __enter__(self) -> EdgarHttp:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, url: str, validator: dict[str, str] | None = None) -> Reply:
        """The file at ``url``, an index or a list: at most ``edgar.max_index_bytes`` long.

        Raises EdgarMissingError, EdgarBlockedError, EdgarUnavailableError, EdgarRefusedError.
        """
        limit = self._settings.max_index_bytes
        for attempt in self.attempts():
            with attempt, transport_errors(url), self.stream(url, conditions(validator or {})) as response:
                if response.status_code == 304:
                    return Reply(None, validator or {})
                try:
                    sent = _sent(response, limit)
                    return Reply(decoded(sent, _encoding(response), limit, url), validators(response))
                except TooLongError as error:
                    raise index_too_long(url, limit) from error
        raise AssertionError

    @contextmanager
    def stream(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """One request, whose body is still to be read, and those to which it is redirected on the same host.

        Raises EdgarRefusedError for a redirect elsewhere or too many, else as :meth:`get` without further attempts.
        """
        target = httpx.URL(url)
        for _ in range(1 + _MOST_REDIRECTS):
            with self.client.stream("GET", target, headers=headers) as response:
                if not response.has_redirect_location:
                    yield response
                    return
                target = _on_same_host(response)
        raise EdgarRefusedError(f"{url}: redirected more than {_MOST_REDIRECTS} times, last to {str(target)[:200]!r}")

    def _wait_for_turn(self, _request: httpx.Request) -> None:
        self.limiter.acquire(self._stopped.wait)
        if self._stopped.is_set():
            raise EdgarError("stopped before this request was sent")
        self.requests += 1

    def _check(self, response: httpx.Response) -> None:
        """Turn a refusal into the error that says what to do about it."""
        status, url, sent_at = response.status_code, response.url, _sent_at(response)
        if sent_at is not None and abs(sent_at - time.time()) > _CLOCK_OFF_S:
            raise UsageError(
                f"this machine's clock says {_utc(time.time())}, {url.host}'s says {_utc(sent_at)}: a sync decides by "
                "the clock which days are complete. Set the clock, and run the same command again"
            )
        if status < 400 or status == 416:
            return
        body = start_of(next(response.iter_raw(), b""), _encoding(response), _LOOK_AT) if status == 403 else b""
        if status == 404 or (status == 403 and _NO_SUCH_FILE.search(body)):
            raise EdgarMissingError(f"{url}: status {status}, no such file")
        if status == 403:
            self.limiter.pause(self._settings.blocked_pause_s)
            hint = ", because of the contact" if b"undeclared" in body.lower() else ""
            raise EdgarBlockedError(f"{url}: status 403 with a page that refuses every request{hint}")
        if status == 429:
            asked_s = retry_after(response.headers.get("Retry-After"), sent_at)
            pause_s = self._settings.blocked_pause_s if asked_s is None else min(asked_s, _LONGEST_RETRY_AFTER_S)
            self.limiter.pause(pause_s)
            raise EdgarBlockedError(f"{url}: status 429, too many requests")
        if status >= 500:
            raise EdgarUnavailableError(f"{url}: status {status}")
        raise EdgarMissingError(f"{url}: status {status}; the same request will not succeed")

    def attempts(self) -> Attempts:
        """Attempts of one request. A pause of all costs an attempt, and no wait of its own."""
        wait_s = self._settings.retry_wait_s
        return attempts(
            self._settings.attempts, _worth_another, wait_s=wait_s, longest_wait_s=_LONGEST_WAIT_S, jitter_s=wait_s
        )


def _worth_another(error: Exception) -> bool | float:
    if isinstance(error, EdgarBlockedError):
        return 0.001  # the limiter holds everybody back
    return isinstance(error, EdgarUnavailableError) and not isinstance(error, EdgarRefusedError)


@contextmanager
def transport_errors(url: str) -> Iterator[None]:
    """Broken connections, timeouts, bodies that end early or do not decompress, as EdgarUnavailableError."""
    try:
        yield
    except httpx.HTTPError as error:
        # The message of httpx names no header, so that no credential of a proxy gets into a log.
        raise EdgarUnavailableError(f"{url}: {type(error).__name__}: {error}") from error


def _sent(response: httpx.Response, limit: int) -> bytes:
    """The body as it was sent. Raises TooLongError."""
    pieces, total = [], 0
    for piece in response.iter_raw():
        pieces.append(piece)
        total += len(piece)
        if total > limit:
            raise TooLongError
    return b"".join(pieces)


def _encoding(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Encoding", ""))


def _on_same_host(response: httpx.Response) -> httpx.URL:
    """Where a redirect leads. Raises EdgarRefusedError for another host or port, and for what is not https any more."""
    url, location = response.url, response.headers["Location"]
    try:
        target = url.join(location)
    except httpx.InvalidURL as error:
        raise EdgarRefusedError(f"{url}: redirected to {location[:200]!r}, which is no URL") from error
    upgraded = url.copy_with(scheme="https") if url.scheme == "http" and url.port is None else url
    if (target.scheme, target.host, target.port) not in {(u.scheme, u.host, u.port) for u in (url, upgraded)}:
        raise EdgarRefusedError(
            f"{url}: redirected to {str(target)[:200]!r}, another host or protocol, which is not asked. If your EDGAR "
            "is a mirror, name the host that answers itself in EDGAR_BASE_URL and EDGAR_DATA_URL"
        )
    return target


def conditions(validator: dict[str, str]) -> dict[str, str]:
    names = {"etag": "If-None-Match", "last_modified": "If-Modified-Since"}
    return {names[name]: value for name, value in validator.items() if name in names}


def validators(response: httpx.Response) -> dict[str, str]:
    names = {"etag": "ETag", "last_modified": "Last-Modified"}
    return {name: response.headers[header] for name, header in names.items() if header in response.headers}


def _sent_at(response: httpx.Response) -> float | None:
    """When the server says that it answered, in seconds since the epoch; None where it does not say."""
    try:
        sent = email.utils.parsedate_to_datetime(response.headers["Date"]).timestamp()
        return sent + float(response.headers.get("Age", 0))  # that of a cache on the way
    except (KeyError, TypeError, ValueError):
        return None


def _utc(seconds: float) -> str:
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M} UTC"
