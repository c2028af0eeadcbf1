"""One file over HTTP, resumed where it broke off, even by kill -9.

What came is kept as it came (``<name>.part``, compressed where EDGAR compressed it) beside a note of which version it
belongs to (``<name>.part.json``). A later attempt asks for the rest with ``Range`` and ``If-Range``: RFC 9110, 14.2
and 13.1.5, with ranges counted in the bytes that are sent. A server that sends everything again is fine too.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from finray.core.errors import EdgarUnavailableError, FilingError, SourceError
from finray.edgar.encoding import TooLongError, decoded
from finray.edgar.http import EdgarHttp, transport_errors, validators
from finray.storage.atomic import replacing

KEEP_PARTIAL = dt.timedelta(days=3)
"""How long a download that broke off, or a file that a killed run did not finish, is kept: over a weekend."""
_IS_OURS = re.compile(r"[0-9a-f]{32}\.part(\.json)?|\..+\.tmp")


@dataclass(frozen=True, slots=True)
class _Note:
    """Which version the partial file holds the start of; ``total`` is the length of all of it, where it is known."""

    validator: dict[str, str]
    encoding: str
    total: int | None


def download(
    http: EdgarHttp, url: str, scratch: Path, max_bytes: int, check: Callable[[bytes], None] | None = None
) -> bytes:
    """The file at ``url``, decompressed, at most ``max_bytes`` long. ``scratch`` is a folder for partial downloads.

    ``check`` raises EdgarUnavailableError where the content cannot be all of it; that is an attempt that failed.
    Raises FilingError ``too_large``, EdgarMissingError, EdgarBlockedError, EdgarUnavailableError.
    """
    partial = _partial(scratch, url)
    content = b""
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
                forget(partial)
    return content


def download_to(http: EdgarHttp, url: str, scratch: Path, max_bytes: int) -> Path:
    """The file at ``url`` as it was sent, for files too long for memory; :func:`forget` it after use."""
    partial = _partial(scratch, url)
    for attempt in http.attempts():
        with attempt, transport_errors(url):
            _attempt(http, url, partial, max_bytes)
    return partial


def scratch_failed(scratch: Path, error: OSError) -> SourceError:
    return SourceError(
        f"cannot write {str(scratch)!r}, the folder for partial downloads: {error}; make room, or name another with "
        "the setting edgar.scratch"
    )


def forget(partial: Path) -> None:
    for path in (partial, _note_path(partial)):
        path.unlink(missing_ok=True)


def forget_old(scratch: Path, now: dt.datetime) -> None:
    """Remove what was begun more than ``KEEP_PARTIAL`` before ``now`` and never finished: nobody will go on with it."""
    for path in scratch.glob("*") if scratch.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):  # another sync was first
            if _IS_OURS.fullmatch(path.name) and now.timestamp() - path.stat().st_mtime > KEEP_PARTIAL.total_seconds():
                path.unlink()


def _partial(scratch: Path, url: str) -> Path:
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.part"


def _attempt(http: EdgarHttp, url: str, partial: Path, max_bytes: int) -> None:
    note = _read_note(partial)
    have = partial.stat().st_size if note and partial.exists() else 0
    if note and note.total is not None and have == note.total:
        return
    version = _strong_validator(note) if note and have else None
    headers = {"Range": f"bytes={have}-", "If-Range": version} if version else {}
    with http.stream(url, headers) as response:
        if response.status_code == 416:
            forget(partial)
            raise EdgarUnavailableError(f"{url}: what was kept of an earlier download does not fit any more")
        resumed = note is not None and response.status_code == 206 and _starts_at(response, have)
        if not resumed:
            forget(partial)
            note, have = _Note(validators(response), response.headers.get("Content-Encoding", ""), None), 0
            length = response.headers.get("Content-Length")
            if response.status_code == 200 and length is not None:
                note = _Note(note.validator, note.encoding, int(length))
            with replacing(_note_path(partial)) as scratch:
                scratch.write_text(
                    json.dumps({"url": url, "total": note.total, "encoding": note.encoding} | note.validator)
                )
        with partial.open("ab") as file:
            for chunk in response.iter_raw():  # as it comes: what is gathered first would be lost with the connection
                have += len(chunk)
                if have > max_bytes:
                    file.close()
                    forget(partial)
                    raise _too_long(url, max_bytes)
                file.write(chunk)
    if note is not None and note.total is not None and have != note.total:
        if have > note.total:
            forget(partial)
        raise EdgarUnavailableError(f"{url}: {have:,} of {note.total:,} bytes came")


def _strong_validator(note: _Note) -> str | None:
    """What may stand in If-Range: no weak ETag (RFC 9110, 13.1.5)."""
    etag = note.validator.get("etag", "")
    return etag if etag and not etag.startswith("W/") else note.validator.get("last_modified")


def _starts_at(response: httpx.Response, have: int) -> bool:
    return str(response.headers.get("Content-Range", "")).startswith(f"bytes {have}-")


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
