"""Streams the regular files of a tar archive (POSIX.1-2017, pax; GNU long names), gzip or not.

Not tarfile: it reads extended headers of any length into memory, and before Python 3.11.10 takes minutes for a crafted
one of a few kilobytes (CVE-2024-6232). Here the cost of a header is proportional to its length, and everything has a
limit.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from finray.edgar.encoding import GzipReader

MAX_HEADER_BYTES: Final = 64 * 1024
"""Limit for extended headers before one file; the names in a feed archive fit into the plain header."""
MAX_MEMBERS: Final = 1_000_000
"""EDGAR's busiest days bring some 20,000 submissions."""
MAX_BYTES: Final = 256 * 1024**3
"""Limit for an archive, decompressed; EDGAR's are under 20 GB."""
MAX_RATIO: Final = 100
"""Decompressed to compressed bytes; submissions reach 20, gzip at most 1,032."""
_RATIO_FREE_BYTES: Final = 256 * 1024**2
_BLOCK: Final = 512
_SKIP_BYTES: Final = 1024**2
_PAX, _LONG_NAME = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.GNUTYPE_LONGNAME
_EXTENDED = (*_PAX, _LONG_NAME, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK)


class ArchiveError(Exception):
    """The archive is damaged, ends early or exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    size: int


class TarStream:
    """Iterates over the files; ``read`` returns the rest of the current one. Both raise ArchiveError, zlib.error,
    EOFError and the errors of ``stream``."""

    def __init__(self, stream: BinaryIO) -> None:
        start = stream.read(2)
        self._source = GzipReader(stream, start) if start == b"\x1f\x8b" else _Plain(stream, start)
        self._position = 0
        self._left = 0
        self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        members = 0
        extended: dict[str, str] = {}
        header_bytes = 0
        while header := self._header(first=members == 0 and not extended):
            members += 1
            if members > MAX_MEMBERS:
                raise ArchiveError(f"it has more than {MAX_MEMBERS:,} members")
            if header.type in _EXTENDED:
                header_bytes += _BLOCK + header.size
                if header_bytes > MAX_HEADER_BYTES:
                    raise ArchiveError(
                        f"its member {members:,} has extended headers of {header_bytes:,} bytes; "
                        f"{MAX_HEADER_BYTES:,} are read"
                    )
                extended |= self._extended(header)
                continue
            size = _number(extended["size"]) if "size" in extended else header.size
            if header.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse") for key in extended):
                raise ArchiveError(f"its member {members:,} is a sparse file; write the archive without --sparse")
            if header.isreg() or header.type not in tarfile.SUPPORTED_TYPES:
                self._begin(size)
            if header.isreg():
                yield Member(extended.get("path", header.name), size)
            self._skip()
            extended, header_bytes = {}, 0
        if header_bytes:
            raise ArchiveError("it ends after an extended header")

    def read(self, size: int) -> bytes:
        """``size`` bytes of the current file, fewer only at its end."""
        content = self._exactly(min(size, self._left))
        self._left -= len(content)
        return content

    def _header(self, *, first: bool) -> tarfile.TarInfo | None:
        """The next header; None at the end."""
        block = self._read(_BLOCK)
        if not block and not first:
            return None  # some writers leave out the two empty blocks
        if len(block) < _BLOCK:
            raise ArchiveError("it ends in the middle of a header" if block else "it is empty")
        if not any(block):
            return None
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
        except tarfile.HeaderError as error:
            raise ArchiveError(f"there is no tar header at byte {self._position - _BLOCK:,}: {error}") from error
        if header.size < 0:
            raise ArchiveError(f"a negative size before byte {self._position:,}")
        return header

    def _extended(self, header: tarfile.TarInfo) -> dict[str, str]:
        """The extended attributes of the next file, such as ``path`` and ``size``."""
        self._begin(header.size)
        content = self.read(header.size)
        self._skip()
        if header.type == _LONG_NAME:
            return {"path": content.partition(b"\0")[0].decode("utf-8", "replace")}
        return _records(content) if header.type in _PAX else {}

    def _begin(self, size: int) -> None:
        self._left, self._padding = size, -size % _BLOCK

    def _skip(self) -> None:
        """Skip the rest of the current member."""
        while self._left:
            self.read(_SKIP_BYTES)
        self._exactly(self._padding)
        self._padding = 0

    def _exactly(self, size: int) -> bytes:
        content = self._read(size)
        if len(content) < size:
            raise ArchiveError("it ends in the middle of a file")
        return content

    def _read(self, size: int) -> bytes:
        content = self._source.read(size)
        self._position += len(content)
        if self._position > MAX_BYTES:
            raise ArchiveError(f"it is longer than {MAX_BYTES:,} bytes")
        if self._position > _RATIO_FREE_BYTES + MAX_RATIO * self._source.taken:
            raise ArchiveError(f"{self._source.taken:,} bytes expand to more than {MAX_RATIO} times as many")
        return content


class _Plain:
    """GzipReader's counterpart for an uncompressed archive."""

    def __init__(self, stream: BinaryIO, start: bytes) -> None:
        self._stream = stream
        self._start = start
        self.taken = len(start)

    def read(self, size: int) -> bytes:
        pieces, self._start = [self._start[:size]], self._start[size:]
        size -= len(pieces[0])
        while size and (piece := self._stream.read(size)):
            pieces.append(piece)
            size -= len(piece)
            self.taken += len(piece)
        return b"".join(pieces)


def _records(content: bytes) -> dict[str, str]:
    """The records of a pax header: ``length key=value\\n``; ``length`` counts the whole record."""
    records, at = {}, 0
    while at < len(content):
        space = content.find(b" ", at, at + 10)
        end = at + _number(content[at:space].decode("ascii", "replace") if space > 0 else "")
        key, equals, value = content[space + 1 : end - 1].partition(b"=")
        if end <= space or content[end - 1 : end] != b"\n" or not equals:
            raise ArchiveError(f"a pax header that cannot be read: {content[at : at + 40]!r}")
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        at = end
    return records


def _number(digits: str) -> int:
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20):
        raise ArchiveError(f"a pax header with {digits[:40]!r} instead of a number")
    return int(digits)
