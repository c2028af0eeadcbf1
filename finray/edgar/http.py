"""HTTP requests to EDGAR: paced, with a contact, and retried as each kind of failure demands.

* 403 with a page ("Request Rate Threshold Exceeded", "Undeclared Automated Tool"): all requests pause.
* 429: all requests pause for as long as ``Retry-After`` asks.
* 5xx, a broken connection, a truncated body: this request waits, longer each time.
* 404, and 403 with the XML of the storage behind EDGAR: the file does not exist.
* A redirect: followed up to five times on the same host. To another host, or from https to http, it is an error: that
  host could supply forged filings and would learn the contact.
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
_PAGE_START_BYTES = 4096
_CONDITIONS = {"etag": "If-None-Match", "last_modified": "If-Modified-Since"}
_MAX_REDIRECTS = 5
_MAX_WAIT_S = 60.0
_MAX_RETRY_AFTER_S = 3600.0
_MAX_CLOCK_SKEW_S = 12 * 3600.0
"""A smaller difference from EDGAR's clock is corrected by the next runs."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``content`` is None if the file has not changed; ``validator`` holds its ETag and Last-Modified."""

    content: bytes | None
    validator: dict[str, str]


class EdgarHttp:
    """A thread-safe HTTP client for EDGAR. Raises SettingsError without a real contact."""

    def __init__(self, settings: EdgarSettings, limiter: Limiter) -> None:
        self._settings = settings
        self.limiter = limiter
        self.requests = 0
        self._stopped = threading.Event()
        # Hooks instead of a transport leave proxies and certificates to httpx and its environment variables.
        self._client = httpx.Client(
            headers={"User-Agent": checked_contact(settings.contact), "Accept-Encoding": "gzip"},
            timeout=httpx.Timeout(settings.timeout_s, connect=10.0),
            follow_redirects=False,  # see stream
            event_hooks={"request": [self._wait_for_turn], "response": [self._check]},
        )

    def stop(self) -> None:
        """End all waiting and later requests at once with EdgarError."""
        self._stopped.set()

    def __enter__(self) -> EdgarHttp:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, url: str, validator: dict[str, str] | None = None) -> Reply:
        """The index or list at ``url``, at most ``edgar.max_index_bytes`` long.

        Raises EdgarMissingError, EdgarBlockedError, EdgarUnavailableError, EdgarRefusedError.
        """
        limit = self._settings.max_index_bytes
        known = validator or {}
        headers = {header: known[name] for name, header in _CONDITIONS.items() if name in known}
        for attempt in self.attempts():
            with attempt, transport_errors(url), self.stream(url, headers) as response:
                if response.status_code == 304:
                    return Reply(None, known)
                try:
                    sent = _sent(response, limit)
                    return Reply(decoded(sent, _encoding(response), limit, url), validators(response))
                except TooLongError as error:
                    raise index_too_long(url, limit) from error
        raise AssertionError

    @contextmanager
    def stream(self, url: str, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """The response with its body unread, after redirects on the same host.

        Raises EdgarRefusedError for a redirect elsewhere or too many, otherwise as :meth:`get` in a single attempt.
        """
        target = httpx.URL(url)
        for _ in range(1 + _MAX_REDIRECTS):
            with self._client.stream("GET", target, headers=headers) as response:
                if not response.has_redirect_location:
                    yield response
                    return
                target = _on_same_host(response)
        raise EdgarRefusedError(f"{url}: redirected more than {_MAX_REDIRECTS} times, last to {str(target)[:200]!r}")

    def _wait_for_turn(self, _request: httpx.Request) -> None:
        self.limiter.acquire(self._stopped.wait)
        if self._stopped.is_set():
            raise EdgarError("stopped before this request was sent")
        self.requests += 1

    def _check(self, response: httpx.Response) -> None:
        """Raise the error of a refused request; its type decides how it is handled."""
        status, url, sent_at = response.status_code, response.url, _sent_at(response)
        if sent_at is not None and abs(sent_at - time.time()) > _MAX_CLOCK_SKEW_S:
            raise UsageError(
                f"this machine's clock is at {_utc(time.time())}, {url.host}'s at {_utc(sent_at)}: a sync decides by "
                "the clock which days are complete. Set the clock, and run the same command again"
            )
        if status < 400 or status == 416:
            return
        body = b""
        if status == 403:
            body = start_of(next(response.iter_raw(), b""), _encoding(response), _PAGE_START_BYTES)
        if status == 404 or (status == 403 and _NO_SUCH_FILE.search(body)):
            raise EdgarMissingError(f"{url}: status {status}, no such file")
        if status == 403:
            self.limiter.pause(self._settings.blocked_pause_s)
            hint = ", because of the contact" if b"undeclared" in body.lower() else ""
            raise EdgarBlockedError(f"{url}: status 403 with a page that refuses every request{hint}")
        if status == 429:
            asked_s = retry_after(response.headers.get("Retry-After"), sent_at)
            pause_s = self._settings.blocked_pause_s if asked_s is None else min(asked_s, _MAX_RETRY_AFTER_S)
            self.limiter.pause(pause_s)
            raise EdgarBlockedError(f"{url}: status 429, too many requests")
        if status >= 500:
            raise EdgarUnavailableError(f"{url}: status {status}")
        raise EdgarMissingError(f"{url}: status {status}; the same request will not succeed")

    def attempts(self) -> Attempts:
        """Attempts of one request. After a pause of all requests, the next attempt waits no longer."""
        wait_s = self._settings.retry_wait_s
        return attempts(
            self._settings.attempts, _worth_another, wait_s=wait_s, longest_wait_s=_MAX_WAIT_S, jitter_s=wait_s
        )


def _worth_another(error: Exception) -> bool | float:
    if isinstance(error, EdgarBlockedError):
        return 0.001  # the limiter already waits
    return isinstance(error, EdgarUnavailableError) and not isinstance(error, EdgarRefusedError)


@contextmanager
def transport_errors(url: str) -> Iterator[None]:
    """Turn broken connections, timeouts and bad bodies into EdgarUnavailableError."""
    try:
        yield
    except httpx.HTTPError as error:
        # httpx's message names no header, so no proxy credential gets into a log.
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
    """The target of a redirect. Raises EdgarRefusedError for another host or port, or from https to http."""
    url, location = response.url, response.headers["Location"]
    try:
        target = url.join(location)
    except httpx.InvalidURL as error:
        raise EdgarRefusedError(f"{url}: redirected to {location[:200]!r}, not a URL") from error
    upgraded = url.copy_with(scheme="https") if url.scheme == "http" and url.port is None else url
    if (target.scheme, target.host, target.port) not in {(u.scheme, u.host, u.port) for u in (url, upgraded)}:
        raise EdgarRefusedError(
            f"{url}: redirected to {str(target)[:200]!r}, another host or protocol, and not followed. If your EDGAR "
            "is a mirror, set EDGAR_BASE_URL and EDGAR_DATA_URL to the host that serves the files"
        )
    return target


def validators(response: httpx.Response) -> dict[str, str]:
    """ETag and Last-Modified, for a later conditional request."""
    names = {"etag": "ETag", "last_modified": "Last-Modified"}
    return {name: response.headers[header] for name, header in names.items() if header in response.headers}


def _sent_at(response: httpx.Response) -> float | None:
    """The response's ``Date`` in seconds since the epoch, or None."""
    try:
        sent = email.utils.parsedate_to_datetime(response.headers["Date"]).timestamp()
        return sent + float(response.headers.get("Age", 0))  # added by caches
    except (KeyError, TypeError, ValueError):
        return None


def _utc(seconds: float) -> str:
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M} UTC"
