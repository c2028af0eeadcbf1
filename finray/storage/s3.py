"""How finray speaks to S3: where it is, how often and how long a request is tried, and the two clients.

Files go through s3fs, tables through Lance's own client. Both take endpoint, region and credentials from the usual
``AWS_*`` environment, and ``AWS_MAX_ATTEMPTS`` as the number of tries. A request that gets no answer is given up after
a minute and tried again, so an S3 that stays away ends a job after minutes, never not.
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

from finray.core import retries
from finray.core.errors import SettingsError

T = TypeVar("T")
S3_ERRORS: Final[tuple[type[Exception], ...]] = (BotoCoreError, ClientError, aiohttp.ClientError)
_ATTEMPTS: Final = 6
"""Enough for one request in five to fail and a job of thousands of requests to succeed."""
_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 60
_LANCE_RETRY_SECONDS: Final = 60
_LONGEST_PAUSE_SECONDS: Final = 10.0
_READ_AHEAD: Final = 8 * 2**20


def attempts() -> int:
    """How often a request is tried: ``AWS_MAX_ATTEMPTS``, as for every client of AWS, else six times."""
    value = os.environ.get("AWS_MAX_ATTEMPTS") or str(_ATTEMPTS)
    if not value.isdigit() or int(value) < 1:
        raise SettingsError(f"AWS_MAX_ATTEMPTS={value!r} is not a number of tries; write 1 or more, or leave it out")
    return int(value)


def retried(step: Callable[[], T], on: Callable[[Exception], bool], tries: int, timeout: float | None = None) -> T:
    """The result of ``step``, done up to ``tries`` times while it raises what ``on`` accepts.

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
    """The s3fs file system of this process. No listing cache: corpora change under a running service."""
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
    # botocore tries again by itself; s3fs around it would multiply the tries, and an hour would pass before a job ends.
    filesystem.retries = 1
    return filesystem


def get(key: str, start: int | None = None, end: int | None = None) -> bytes:
    """An object, or its bytes ``start`` to ``end``. Retries a body that ends early, which botocore does not."""

    def read() -> bytes:
        content = s3_filesystem().cat_file(key, start=start, end=end)
        assert isinstance(content, bytes)
        return content

    broke_off = (aiohttp.ClientPayloadError, aiohttp.ClientConnectionError)
    return retried(read, lambda error: isinstance(error, broke_off), attempts())


def open_object(key: str) -> BinaryIO:
    """An object for reading piece by piece; each piece is a request of its own, tried again where it fails.

    Raises FileNotFoundError where there is none.
    """
    return io.BufferedReader(_Object(key, int(s3_filesystem().info(key)["size"])), _READ_AHEAD)


class _Object(io.RawIOBase):
    def __init__(self, key: str, size: int) -> None:
        self._key, self._size, self._at = key, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._size, self._at + len(buffer))
        if end <= self._at:
            return 0
        content = get(self._key, self._at, end)
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)


def lance_options() -> dict[str, str]:
    """What Lance needs to use S3: the ``AWS_*`` environment, and the same number of tries.

    Lance's own limits of a request are 5 s to connect and 30 s for all of it.
    """
    names = {
        "aws_access_key_id": "AWS_ACCESS_KEY_ID",
        "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "aws_session_token": "AWS_SESSION_TOKEN",
        "aws_region": "AWS_REGION",
    }
    options = {option: os.environ[name] for option, name in names.items() if name in os.environ}
    if "aws_region" not in options and "AWS_DEFAULT_REGION" in os.environ:
        options["aws_region"] = os.environ["AWS_DEFAULT_REGION"]
    address = endpoint()
    if address:
        options["aws_endpoint"] = address
        options["allow_http"] = str(address.startswith("http://")).lower()
        options.setdefault("aws_region", "us-east-1")
    retries = str(attempts() - 1)
    return options | {
        "client_max_retries": retries,
        "client_retry_timeout": str(_LANCE_RETRY_SECONDS),
        "download_retry_count": retries,
    }
