"""Downloads one file over HTTP, and resumes after any interruption, even kill -9.

The bytes are kept as received (``<name>.part``, compressed if EDGAR compressed them) beside a note of the version that
they belong to (``<name>.part.json``). The next attempt requests the rest with ``Range`` and ``If-Range`` (RFC 9110,
14.2 and 13.1.5; ranges count the bytes as sent). A server may also send everything again. A process locks what it
downloads (``<name>.part.lock``); a second one that wants the same file downloads it beside the first.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from finray.core.errors import EdgarUnavailableError, FilingError, SourceError
from finray.edgar.encoding import TooLongError, decoded
from finray.edgar.http import EdgarHttp, transport_errors, validators
from finray.storage.atomic import locked, replacing

KEEP_PARTIAL = dt.timedelta(days=3)
"""How long unfinished downloads and files of killed runs are kept: over a weekend."""
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)")
_UNFINISHED = re.compile(r"[0-9a-f]{32}(\.[0-9a-f]{8})?\.part(\.json|\.lock)?|\..+\.tmp")


@dataclass(frozen=True, slots=True)
class _Note:
    """The version that a partial file is the start of; ``total`` is the length of the whole, if known."""

    validator: dict[str, str]
    encoding: str
    total: int | None

    @property
    def if_range(self) -> str | None:
        """The validator for If-Range, which allows no weak ETag (RFC 9110, 13.1.5)."""
        etag = self.validator.get("etag", "")
        return etag if etag and not etag.startswith("W/") else self.validator.get("last_modified")


def download(
    http: EdgarHttp, url: str, scratch: Path, max_bytes: int, check: Callable[[bytes], None] | None = None
) -> bytes:
    """The file at ``url``, decompressed, at most ``max_bytes`` long. ``scratch`` is a folder for partial downloads.

    ``check`` raises EdgarUnavailableError if the content cannot be complete; the attempt then counts as failed.
    Raises FilingError ``too_large``, EdgarMissingError, EdgarBlockedError, EdgarUnavailableError.
    """
    content = b""
    with _claimed(scratch, url) as partial:
        for attempt in http.attempts():
            with attempt, transport_errors(url):
                _attempt(http, url, partial, max_bytes)
                note = _read_note(partial)
                try:
                    content = decoded(partial.read_bytes(), note.encoding if note else "", max_bytes, url)
                    if check is not None:
                        check(content)
                except TooLongError as error:
                    raise _too_long(url, max_bytes) from error
                finally:
                    _forget(partial)
    return content


@contextlib.contextmanager
def downloaded(http: EdgarHttp, url: str, scratch: Path, max_bytes: int) -> Iterator[Path]:
    """A local file with the content of ``url`` as sent, for what may not fit into memory.

    It is deleted after the block, unless the block raises: then the next run need not download it again.
    """
    with _claimed(scratch, url) as partial:
        for attempt in http.attempts():
            with attempt, transport_errors(url):
                _attempt(http, url, partial, max_bytes)
        yield partial
        _forget(partial)


def scratch_failed(scratch: Path, error: OSError) -> SourceError:
    """The error for a folder of partial downloads that cannot be written."""
    return SourceError(
        f"cannot write {str(scratch)!r}, the folder for partial downloads: {error}; make room, or set edgar.scratch to "
        "another folder"
    )


def forget_old(scratch: Path) -> None:
    """Remove unfinished files that are more than ``KEEP_PARTIAL`` old."""
    oldest = time.time() - KEEP_PARTIAL.total_seconds()
    for path in scratch.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another sync was first
            if _UNFINISHED.fullmatch(path.name) and path.stat().st_mtime < oldest:
                path.unlink()


@contextlib.contextmanager
def _claimed(scratch: Path, url: str) -> Iterator[Path]:
    """The partial file of ``url``, locked against other downloads until the block or the process ends.

    While another process holds the lock, this is a file of another name, which no run resumes.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(url.encode()).hexdigest()[:32]
    partial = scratch / f"{name}.part"
    lock_path = scratch / f"{name}.part.lock"
    lock = locked(lock_path)
    if lock is None:
        partial = scratch / f"{name}.{secrets.token_hex(4)}.part"
    try:
        yield partial
    finally:
        if lock is None:
            _forget(partial)
        else:
            lock_path.unlink(missing_ok=True)
            lock.close()


def _forget(partial: Path) -> None:
    for path in (partial, _note_path(partial)):
        path.unlink(missing_ok=True)


def _attempt(http: EdgarHttp, url: str, partial: Path, max_bytes: int) -> None:
    """Download what is still missing. Raises FilingError ``too_large``, and EdgarUnavailableError if less arrived."""
    note = _read_note(partial)
    size = partial.stat().st_size if note and partial.exists() else 0
    if note and size == note.total:
        return
    version = note.if_range if note and size else None
    headers = {"Range": f"bytes={size}-", "If-Range": version} if version else {}
    with http.stream(url, headers) as response:
        if response.status_code == 416:
            _forget(partial)
            raise EdgarUnavailableError(f"{url}: the partial download no longer fits the file")
        if response.status_code == 206:
            note = _continued(response, url, partial, note if version else None, size)
        else:
            note, size = _begin(response, url, partial), 0
        with partial.open("ab") as file:
            for chunk in response.iter_raw():  # unbuffered: a buffer would be lost with the connection
                size += len(chunk)
                if size > max_bytes:
                    file.close()
                    _forget(partial)
                    raise _too_long(url, max_bytes)
                file.write(chunk)
    if note.total is not None and size != note.total:
        if size > note.total:
            _forget(partial)
        raise EdgarUnavailableError(f"{url}: received {size:,} of {note.total:,} bytes")


def _begin(response: httpx.Response, url: str, partial: Path) -> _Note:
    """Drop what was downloaded before, and note which version this response is."""
    _forget(partial)
    length = response.headers.get("Content-Length") if response.status_code == 200 else None
    encoding = response.headers.get("Content-Encoding", "")
    note = _Note(validators(response), encoding, None if length is None else int(length))
    with replacing(_note_path(partial)) as written:
        written.write_text(json.dumps({"url": url, "total": note.total, "encoding": encoding} | note.validator))
    return note


def _continued(response: httpx.Response, url: str, partial: Path, note: _Note | None, size: int) -> _Note:
    """``note`` with the length of the whole, if ``response`` is what follows its first ``size`` bytes.

    Otherwise drops what was downloaded, so that the next attempt starts anew, and raises EdgarUnavailableError.
    """
    sent = response.headers.get("Content-Range")
    found = _CONTENT_RANGE.fullmatch(sent or "")
    if note is not None and found is not None and int(found[1]) == size:
        total = note.total if found[2] == "*" else int(found[2])
        if total is not None and note.total in (None, total):
            return replace(note, total=total)
    _forget(partial)
    described = "without Content-Range" if sent is None else f"with Content-Range {sent[:80]!r}"
    raise EdgarUnavailableError(f"{url}: status 206 {described}, which does not continue the {size:,} bytes received")


def _note_path(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}.json")


def _read_note(partial: Path) -> _Note | None:
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(_note_path(partial).read_text())
        validator = {name: kept[name] for name in ("etag", "last_modified") if name in kept}
        return _Note(validator, str(kept["encoding"]), kept["total"])
    return None


def _too_long(url: str, max_bytes: int) -> FilingError:
    return FilingError("read", "too_large", f"{url} is longer than {max_bytes:,} bytes")
