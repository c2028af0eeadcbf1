"""EDGAR dumps: daily feed archives (``YYYYMMDD.nc.tar.gz``) and folders of full-submission files, on S3 or disk.

An archive holds every submission of a day as ``<accession>.nc``, and corrections of earlier ones as ``.corr01`` and so
on. It is read as a stream. A file name in it only supplies the accession number if the header lacks one.
"""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from finray.core.errors import EdgarUnavailableError, SourceError
from finray.edgar.listing import Listed, filing_url
from finray.edgar.submissions import Header, check_submission, named, read_header
from finray.edgar.tar_stream import ArchiveError, TarStream
from finray.filings.cover.submission import ACCESSION_NUMBER
from finray.storage.locations import STORAGE_ERRORS, join, list_sources, open_stream

_ARCHIVE = re.compile(r"\.(?:tar\.gz|tgz|tar)$", re.IGNORECASE)
_DAY = re.compile(r"(?:^|/)(\d{8})\.nc\.(?:tar\.gz|tgz|tar)$", re.IGNORECASE)
_SUBMISSION = re.compile(r"\.(?:txt|nc|corr\d+)$", re.IGNORECASE)
_DAMAGE: tuple[type[Exception], ...] = (ArchiveError, zlib.error, EOFError, *STORAGE_ERRORS)
_ARCHIVE_GLOBS = ("**/*.tar.gz", "**/*.tgz", "**/*.tar")


@dataclass(frozen=True, slots=True)
class Dump:
    """One archive or one submission file. ``version`` changes with its content. ``source`` is where it was downloaded
    from; empty if it was not."""

    uri: str
    version: str
    is_archive: bool
    source: str = ""

    @property
    def name(self) -> str:
        """Its name in the records of its filings."""
        return self.source or self.uri

    @property
    def day(self) -> dt.date | None:
        """The day of a feed archive that is named as EDGAR names it."""
        found = _DAY.search(self.name)
        try:
            return dt.datetime.strptime(found[1], "%Y%m%d").date() if found else None
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Delivered:
    """One submission of a dump. ``content`` is None if it is longer than allowed."""

    source: str
    header: Header
    content: bytes | None
    size: int


def find_dumps(uri: str) -> list[Dump]:
    """Archives and submission files at ``uri``: a file, a glob, a folder or an s3:// prefix.

    Raises SourceError if there is none.
    """
    found = {file.uri: file for file in list_sources([uri]).files}
    if not any(_ARCHIVE.search(name) for name in (uri, *found)):
        for pattern in _ARCHIVE_GLOBS:
            try:
                found |= {file.uri: file for file in list_sources([join(uri, pattern)]).files}
            except SourceError as error:
                if error.__cause__ is not None:  # the listing itself failed; an empty match has no cause
                    raise
    dumps = [
        Dump(file.uri, file.etag or f"{file.size} {file.modified.timestamp()}", bool(_ARCHIVE.search(file.uri)))
        for file in found.values()
        if _ARCHIVE.search(file.uri) or _SUBMISSION.search(file.uri)
    ]
    if not dumps:
        raise SourceError(f"no feed archive (.tar.gz) and no full submission (.txt, .nc) at {uri!r}")
    return sorted(dumps, key=lambda dump: dump.uri.rpartition("/")[2])


def read_dump(dump: Dump, max_bytes: int) -> Iterator[Delivered]:
    """Every submission of a dump.

    Raises EdgarUnavailableError if the archive is damaged or the file is not a submission.
    """
    with open_stream(dump.uri) as stream:
        if dump.is_archive:
            yield from read_archive(stream, dump.name, max_bytes)
            return
        try:
            content = stream.read(max_bytes + 1)
        except STORAGE_ERRORS as error:
            raise EdgarUnavailableError(f"{dump.uri}: cannot be read: {error}") from error
    delivered = _delivered(dump.uri, dump.uri, content, len(content), max_bytes)
    # Of a file that is too long only the start was read, so its end cannot be missing.
    check_submission(content if len(content) <= max_bytes else content + b"</SUBMISSION>")
    yield delivered


def read_archive(stream: BinaryIO, uri: str, max_bytes: int) -> Iterator[Delivered]:
    """Every submission of a feed archive, in its order.

    Raises EdgarUnavailableError if the archive is damaged or over a limit of finray.edgar.tar_stream.
    """
    try:
        archive = TarStream(stream)
        for member in archive:
            if _SUBMISSION.search(member.name):
                content = archive.read(max_bytes + 1)
                yield _delivered(member.name, f"{uri}#{member.name}", content, member.size, max_bytes)
    except _DAMAGE as error:
        raise EdgarUnavailableError(f"{uri}: the archive is damaged or no feed archive: {error}") from error


def listed(header: Header) -> Listed | None:
    """The filing of a header as an index would list it, or None if the header does not identify one."""
    accession, day = header.accession, header.filed_at
    if not (accession and ACCESSION_NUMBER.fullmatch(accession) and header.form and header.ciks and day):
        return None
    where = filing_url(header.ciks[0], accession)
    return Listed(accession, header.form, header.company or "", header.ciks, day, day, where)


def _delivered(name: str, source: str, content: bytes, size: int, max_bytes: int) -> Delivered:
    header = named(read_header(content), PurePosixPath(name).name)
    return Delivered(source, header, content if size <= max_bytes else None, size)
