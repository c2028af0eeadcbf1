"""Access to S3: endpoint, retries, timeouts and the two clients.

Files go through s3fs, tables through Lance's own client. Both take endpoint, region and credentials from the usual
``AWS_*`` environment, and the number of tries from ``AWS_MAX_ATTEMPTS``. A request without an answer times out after a
minute and is retried, so an unreachable S3 ends a job after minutes instead of hanging it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cache
from typing import Any, BinaryIO, Final, TypeVar

import aiohttp
import fsspec
from botocore.exceptions import BotoCoreError, ClientError
from fsspec.spec import AbstractBufferedFile

from finray.core import retries
from finray.core.errors import SettingsError

T = TypeVar("T")
S3_ERRORS: Final[tuple[type[Exception], ...]] = (BotoCoreError, ClientError, aiohttp.ClientError)
_ATTEMPTS: Final = 6
"""A job of thousands of requests succeeds even if one request in five fails."""
_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 60
_LANCE_RETRY_SECONDS: Final = 60
_LONGEST_PAUSE_SECONDS: Final = 10.0
_READ_AHEAD: Final = 8 * 2**20


def attempts() -> int:
    """How often a request is tried: ``AWS_MAX_ATTEMPTS``, as in AWS's own clients, by default six times."""
    value = os.environ.get("AWS_MAX_ATTEMPTS") or str(_ATTEMPTS)
    if not value.isdigit() or int(value) < 1:
        raise SettingsError(f"AWS_MAX_ATTEMPTS={value!r} is not a number of tries; write 1 or more, or leave it out")
    return int(value)


def retried(step: Callable[[], T], on: Callable[[Exception], bool], tries: int, timeout: float | None = None) -> T:
    """The result of ``step``, repeated up to ``tries`` times while ``on`` accepts its error.

    Waits half a second before the second try, then longer, with jitter. No try begins ``timeout`` seconds after the
    first. Raises the last error.
    """
    for attempt in retries.attempts(
        tries, on, wait_s=0.25, longest_wait_s=_LONGEST_PAUSE_SECONDS, jitter_s=0.5, timeout_s=timeout
    ):
        with attempt:
            return step()
    raise AssertionError


def endpoint() -> str | None:
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None


def s3_filesystem() -> Any:
    """The process's s3fs file system. It caches no listings, because corpora change under a running service."""
    return _s3_filesystem(endpoint(), attempts(), _READ_SECONDS)


@cache
def _s3_filesystem(endpoint_url: str | None, max_attempts: int, read_seconds: float) -> Any:
    mode = os.environ.get("AWS_RETRY_MODE", "standard")
    filesystem = fsspec.filesystem(
        "s3",
        endpoint_url=endpoint_url,
        use_listings_cache=False,
        skip_instance_cache=True,
        config_kwargs={
            "retries": {"total_max_attempts": max_attempts, "mode": mode},
            "connect_timeout": _CONNECT_SECONDS,
            "read_timeout": read_seconds,
        },
    )
    # botocore already retries; s3fs would multiply that, and a job would take an hour to fail.
    filesystem.retries = 1
    return filesystem


def get(key: str, start: int | None = None, end: int | None = None) -> bytes:
    """An object, or its bytes [start, end). Retries a truncated body, which botocore does not."""

    def read() -> bytes:
        content = s3_filesystem().cat_file(key, start=start, end=end)
        assert isinstance(content, bytes)
        return content

    broke_off = (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError)
    return retried(read, lambda error: isinstance(error, broke_off), attempts())


def open_object(key: str) -> BinaryIO:
    """An object as a stream; each piece is a separate request with its own retries.

    Raises FileNotFoundError if it does not exist.
    """
    return io.BufferedReader(_Object(s3_filesystem(), key, cache_type="none"), _READ_AHEAD)


class _Object(AbstractBufferedFile):  # type: ignore[misc]  # fsspec has no types
    def _fetch_range(self, start: int, end: int) -> bytes:
        return get(self.path, start, end)


def lance_options() -> dict[str, str]:
    """Lance's storage options for S3: the ``AWS_*`` environment, and the same number of tries.

    Lance itself limits a request to 5 s for connecting and 30 s in total.
    """
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION")
    options = {name.lower(): os.environ[name] for name in names if name in os.environ}
    if "AWS_DEFAULT_REGION" in os.environ:
        options.setdefault("aws_region", os.environ["AWS_DEFAULT_REGION"])
    address = endpoint()
    if address:
        options["aws_endpoint"] = address
        options["allow_http"] = str(address.startswith("http://")).lower()
        options.setdefault("aws_region", "us-east-1")
    more_tries = str(attempts() - 1)
    return options | {
        "client_max_retries": more_tries,
        "client_retry_timeout": str(_LANCE_RETRY_SECONDS),
        "download_retry_count": more_tries,
    }
