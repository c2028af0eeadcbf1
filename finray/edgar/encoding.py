"""gzip undone piece by piece, never more than was asked for: a small body can stand for a huge one."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO

from finray.core.errors import EdgarRefusedError, EdgarUnavailableError

_GZIP = 31  # as zlib counts its formats
_PIECE = 64 * 1024
_MEMBERS = 1000
_BYTES_A_MEMBER = 1024
"""Beyond the first thousand, members are this long on average: each costs time, and an empty one takes 20 bytes."""


class TooLongError(Exception):
    """More bytes than were allowed."""


def index_too_long(url: str, limit: int) -> EdgarRefusedError:
    return EdgarRefusedError(f"{url} is longer than {limit:,} bytes, the setting edgar.max_index_bytes")


class GzipReader:
    """What a gzip stream of any number of members stands for. ``start`` was read from ``stream`` before.

    ``taken`` are the compressed bytes so far. Reading raises zlib.error where it is damaged, EOFError where it is cut.
    """

    def __init__(self, stream: BinaryIO, start: bytes = b"") -> None:
        self._stream = stream
        self._left = start
        self._member: zlib._Decompress | None = None
        self._members = 0
        self.taken = len(start)

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer only at the end."""
        pieces = []
        while size and (piece := self._some(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _some(self, size: int) -> bytes:
        piece = b""
        while not piece:
            if not self._left:
                self._left = self._stream.read(_PIECE)
                self.taken += len(self._left)
            at_end = not self._left
            if self._member is None:
                if at_end:
                    break
                self._count_member()
                self._member = zlib.decompressobj(wbits=_GZIP)
            piece = self._member.decompress(self._left, size)
            self._left = self._member.unconsumed_tail
            if self._member.eof:
                self._left, self._member = self._member.unused_data, None
            elif at_end and not piece:
                raise EOFError("the compressed data ends early")
        return piece

    def _count_member(self) -> None:
        self._members += 1
        if self._members > _MEMBERS + self.taken // _BYTES_A_MEMBER:
            raise zlib.error(f"{self._members:,} gzip members in {self.taken:,} bytes: no data looks like that")


def decoded(content: bytes, encoding: str, max_bytes: int, url: str) -> bytes:
    """``content`` without its Content-Encoding. Raises TooLongError, EdgarUnavailableError."""
    if _is_gzip(encoding):
        return gunzip(content, max_bytes, url)
    if encoding and encoding.lower() != "identity":
        raise EdgarUnavailableError(f"{url}: sent with the content encoding {encoding!r}, which was not asked for")
    if len(content) > max_bytes:
        raise TooLongError
    return content


def gunzip(content: bytes, max_bytes: int, url: str) -> bytes:
    """All that ``content`` stands for. Raises TooLongError, and EdgarUnavailableError where it is damaged or cut."""
    try:
        whole = GzipReader(io.BytesIO(content)).read(max_bytes + 1)
    except EOFError as error:
        raise EdgarUnavailableError(f"{url}: the compressed body ends early") from error
    except zlib.error as error:
        raise EdgarUnavailableError(f"{url}: the compressed body is damaged: {error}") from error
    if len(whole) > max_bytes:
        raise TooLongError
    return whole


def start_of(content: bytes, encoding: str, length: int) -> bytes:
    """``length`` bytes of a body whose first bytes, as sent, are ``content``; nothing where they cannot be read."""
    if not _is_gzip(encoding):
        return b"" if encoding else content[:length]
    try:
        return zlib.decompressobj(wbits=_GZIP).decompress(content, length)
    except zlib.error:
        return b""


def _is_gzip(encoding: str) -> bool:
    return encoding.lower() in ("gzip", "x-gzip")
