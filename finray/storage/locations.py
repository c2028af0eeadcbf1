"""List, read, write and delete files at local paths and ``s3://`` URIs.

A location is stored as an absolute path or as ``s3://bucket/key``. finray/storage/s3.py has the S3 client.
"""

from __future__ import annotations

import datetime as dt
import errno
import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from finray.core.errors import SourceError
from finray.storage import s3
from finray.storage.atomic import replacing
from finray.storage.s3 import s3_filesystem

FILING_EXTENSIONS = frozenset({".pdf", ".htm", ".html", ".xhtml", ".txt", ".nc"})
"""What is listed in a folder or prefix. A file or glob that is named explicitly may have any extension."""

STORAGE_ERRORS: tuple[type[Exception], ...] = (OSError, *s3.S3_ERRORS)
_S3 = "s3://"
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """``etag`` is the content tag of an S3 object, None for a local file."""

    uri: str
    size: int
    modified: dt.datetime
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of all sources, each once, sorted by URI. ``ignored`` counts other files in folders by extension."""

    files: tuple[SourceFile, ...]
    ignored: dict[str, int]


def is_s3(uri: str) -> bool:
    return uri.startswith(_S3)


def normalize(uri: str) -> str:
    """``uri`` as it is stored and compared: an absolute path, or ``s3://bucket/key``.

    Raises SourceError for an empty location or another scheme.
    """
    if is_s3(uri):
        bucket = uri.removeprefix(_S3).partition("/")[0]
        if not bucket:
            raise SourceError(f"{uri!r} has no bucket; write s3://bucket/prefix")
        return uri.rstrip("/")
    path = uri.removeprefix("file://")
    scheme, separator, _ = path.partition("://")
    if separator and scheme.isalnum():
        raise SourceError(f"{uri!r} has the scheme {scheme!r}; use a local path or s3://bucket/prefix")
    if not path:
        raise SourceError("an empty location; give a folder, file, glob or s3://bucket/prefix")
    # os.path.abspath, unlike Path.resolve, keeps symbolic links as the user wrote them.
    return os.path.abspath(Path(path).expanduser())  # noqa: PTH100


def join(uri: str, *parts: str) -> str:
    return "/".join((uri.rstrip("/"), *parts))


def list_sources(sources: Sequence[str]) -> Listing:
    """Every file of ``sources`` (folders, files, globs, ``s3://`` prefixes).

    Raises SourceError if a source does not exist, matches nothing or cannot be listed.
    """
    files: dict[str, SourceFile] = {}
    others: set[str] = set()
    for source in sources:
        with _located(source, "list") as uri:
            found, is_folder = _list(uri)
        if not found:
            raise SourceError(f"nothing at {source!r}: no such folder, file or prefix, or no match")
        for file in found:
            if is_folder and _extension(file.uri) not in FILING_EXTENSIONS:
                others.add(file.uri)
            else:
                files[file.uri] = file
    ignored = Counter(map(_extension, sorted(others - files.keys())))
    return Listing(tuple(files[uri] for uri in sorted(files)), dict(ignored))


def list_objects(uri: str) -> list[SourceFile]:
    """Every file under a folder or prefix, with any extension; none if it does not exist."""
    with _located(uri, "list") as uri:
        return _list(uri)[0]


def read_bytes(uri: str) -> bytes:
    """The whole object. Raises SourceError if it is missing or cannot be read."""
    with _located(uri, "read") as uri:
        return s3.get(uri) if is_s3(uri) else Path(uri).read_bytes()


def open_stream(uri: str) -> BinaryIO:
    """The object as a stream. Raises SourceError if it is missing; reading may raise OSError."""
    with _located(uri, "read") as uri:
        return s3.open_object(uri) if is_s3(uri) else Path(uri).open("rb")


def write_bytes(uri: str, content: bytes, *, scratch: Path | None = None) -> None:
    """Replace the object at ``uri`` atomically: a reader sees the old content or the new, never a part.

    A local file is written in the folder ``scratch`` on the same file system, by default its own, and then moved.
    """
    with _located(uri, "write") as uri:
        if is_s3(uri):
            s3_filesystem().pipe_file(uri, content)
        else:
            with replacing(Path(uri), scratch) as unfinished:
                unfinished.write_bytes(content)


def delete(uri: str) -> None:
    """Remove the file or object at ``uri`` if it exists."""
    with _located(uri, "delete") as uri:
        if not is_s3(uri):
            Path(uri).unlink(missing_ok=True)
        elif exists(uri):
            s3_filesystem().rm_file(uri)


def exists(uri: str) -> bool:
    """Whether a file, folder, object or prefix exists. Raises SourceError if the storage cannot be reached."""
    with _located(uri, "reach") as uri:
        return bool(s3_filesystem().exists(uri)) if is_s3(uri) else Path(uri).exists()


def lance_storage_options(uri: str) -> dict[str, str]:
    """Lance's storage options for ``uri``: the ``AWS_*`` environment for S3, none for a local path."""
    return s3.lance_options() if is_s3(uri) else {}


def room_hint(error: Exception) -> str:
    """Advice if the disk is full, else "". Lance reports that only in its message."""
    full = getattr(error, "errno", None) == errno.ENOSPC or f"(os error {errno.ENOSPC})" in str(error)
    return ". Make room, and run the same command again: it resumes where it stopped" if full else ""


@contextmanager
def _located(location: str, action: str) -> Iterator[str]:
    """Yield ``location`` normalized; turn errors of the storage during ``action`` into SourceError."""
    uri = normalize(location)
    try:
        yield uri
    except STORAGE_ERRORS as error:
        endpoint = f" (endpoint {s3.endpoint() or 'AWS'}; check the bucket, AWS_ENDPOINT_URL and credentials)"
        hint = (endpoint if is_s3(uri) else "") + room_hint(error)
        raise SourceError(f"cannot {action} {uri!r}: {error}{hint}") from error


def _list(uri: str) -> tuple[list[SourceFile], bool]:
    """The files at ``uri``, and whether it is a folder or prefix."""
    return _list_s3(uri) if is_s3(uri) else _list_local(uri)


def _list_local(uri: str) -> tuple[list[SourceFile], bool]:
    path = Path(uri)
    if path.is_dir():
        found = (p for p in path.rglob("*") if not _hidden(p.relative_to(path)))
        return [_local_file(p) for p in found if p.is_file()], True
    if path.is_file():
        return [_local_file(path)], False
    if _GLOB.isdisjoint(uri):
        return [], False
    matches = (Path(p) for p in glob.glob(uri, recursive=True))  # noqa: PTH207 - Path.glob refuses absolute patterns
    return [_local_file(p) for p in matches if p.is_file()], False


def _extension(uri: str) -> str:
    return Path(uri).suffix.lower()


def _local_file(path: Path) -> SourceFile:
    stat = path.stat()
    return SourceFile(str(path), stat.st_size, dt.datetime.fromtimestamp(stat.st_mtime, dt.UTC))


def _list_s3(uri: str) -> tuple[list[SourceFile], bool]:
    objects = s3_filesystem()
    try:
        info = objects.info(uri)
    except FileNotFoundError:
        if _GLOB.isdisjoint(uri.removeprefix(_S3)):
            return [], False
        return _s3_files(objects.glob(uri, detail=True)), False
    if info["type"] == "file":
        return _s3_files({info["name"]: info}), False
    prefix = uri.removeprefix(_S3)
    files = _s3_files(objects.find(uri, detail=True))
    return [f for f in files if not _hidden(Path(f.uri.removeprefix(_S3)).relative_to(prefix))], True


def _s3_files(infos: dict[str, dict[str, Any]]) -> list[SourceFile]:
    return [
        SourceFile(
            _S3 + info["name"],
            int(info["size"]),
            info["LastModified"],
            str(info["ETag"]).strip('"') if info.get("ETag") else None,
        )
        for info in infos.values()
        if info["type"] == "file" and not info["name"].endswith("/")
    ]


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)
