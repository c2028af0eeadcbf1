"""Decompresses gzip piece by piece, never more than requested: a small body can expand to a huge one."""

from __future__ import annotations

import io
import zlib
from typing import BinaryIO

from finray.core.errors import EdgarRefusedError, EdgarUnavailableError

_GZIP_WBITS = 31
_PIECE = 64 * 1024
_MEMBERS = 1000
_BYTES_A_MEMBER = 1024
"""Least average length of the members after the first thousand: each costs time, and an empty one takes 20 bytes."""


class TooLongError(Exception):
    """The content is longer than allowed."""


def index_too_long(url: str, limit: int) -> EdgarRefusedError:
    """The error for an index of more than ``limit`` bytes."""
    return EdgarRefusedError(f"{url} is longer than {limit:,} bytes, the setting edgar.max_index_bytes")


class GzipReader:
    """Decompresses a gzip stream of any number of members. ``start`` was already read from ``stream``.

    ``taken`` counts the compressed bytes so far. Reading raises zlib.error if the stream is damaged, EOFError if it is
    cut off.
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
        while size and (piece := self._read_piece(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _read_piece(self, size: int) -> bytes:
        piece = b""
        while not piece:
            if not self._left:
                self._left = self._stream.read(_PIECE)
                self.taken += len(self._left)
            at_end = not self._left
            if self._member is None:
                if at_end:
                    break
                self._members += 1
                if self._members > _MEMBERS + self.taken // _BYTES_A_MEMBER:
                    raise zlib.error(
                        f"{self._members:,} gzip members in {self.taken:,} bytes, far more than real data has"
                    )
                self._member = zlib.decompressobj(wbits=_GZIP_WBITS)
            piece = self._member.decompress(self._left, size)
            self._left = self._member.unconsumed_tail
            if self._member.eof:
                self._left, self._member = self._member.unused_data, None
            elif at_end and not piece:
                raise EOFError("the compressed data ends early")
        return piece


def decoded(content: bytes, encoding: str, max_bytes: int, url: str) -> bytes:
    """``content`` without its Content-Encoding. Raises TooLongError, EdgarUnavailableError."""
    if _is_gzip(encoding):
        return gunzip(content, max_bytes, url)
    if encoding and encoding.lower() != "identity":
        raise EdgarUnavailableError(f"{url}: sent with the content encoding {encoding!r}, which was not requested")
    if len(content) > max_bytes:
        raise TooLongError
    return content


def gunzip(content: bytes, max_bytes: int, url: str) -> bytes:
    """``content`` decompressed. Raises TooLongError, and EdgarUnavailableError if it is damaged or cut off."""
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
    """Up to ``length`` bytes of a body that starts, as sent, with ``content``; empty if they cannot be decoded."""
    if not _is_gzip(encoding):
        return b"" if encoding else content[:length]
    try:
        return zlib.decompressobj(wbits=_GZIP_WBITS).decompress(content, length)
    except zlib.error:
        return b""


def _is_gzip(encoding: str) -> bool:
    return encoding.lower() in ("gzip", "x-gzip")
