"""gzip in bounded memory and time, whatever was compressed how."""

from __future__ import annotations

import gzip
import io
import re
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import EdgarUnavailableError
from finray.edgar.encoding import GzipReader, TooLongError, decoded, gunzip, start_of

PARTS = st.lists(st.tuples(st.binary(max_size=30), st.integers(1, 5000)), max_size=4)


@given(PARTS, st.integers(1, 70_000))
def test_members_decompress_in_pieces_of_any_size(parts: list[tuple[bytes, int]], size: int) -> None:
    members = [some * times for some, times in parts]
    whole, packed = b"".join(members), b"".join(map(gzip.compress, members))
    reader = GzipReader(io.BytesIO(packed[3:]), packed[:3])
    pieces = list(iter(lambda: reader.read(size), b""))
    assert b"".join(pieces) == whole
    assert all(len(piece) == size for piece in pieces[:-1])
    assert reader.taken == len(packed)
    assert gunzip(packed, len(whole), "url") == whole
    if whole:
        with pytest.raises(TooLongError):
            gunzip(packed, len(whole) - 1, "url")


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_cut_or_damaged_body_is_an_error(content: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(content, mtime=0)
    with pytest.raises(EdgarUnavailableError):
        gunzip(packed[: data.draw(st.integers(1, len(packed) - 1))], 1000, "url")
    at = data.draw(st.integers(len(packed) - 8, len(packed) - 1))  # checksum and length
    with pytest.raises(EdgarUnavailableError):
        gunzip(packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1 :], 1000, "url")


def test_a_gzip_bomb_stays_within_the_limit() -> None:
    packed = gzip.compress(b"\0" * 2**26)
    tracemalloc.start()
    with pytest.raises(TooLongError):
        gunzip(packed, 2**20, "url")
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


def test_a_million_empty_members_are_refused_long_before_their_end() -> None:
    packed = gzip.compress(b"", mtime=0) * 1_000_000
    with pytest.raises(EdgarUnavailableError, match=r"gzip members in [\d,]+ bytes") as refused:
        gunzip(packed, 2**20, "url")
    _, read = re.findall(r"\d[\d,]+", str(refused.value))
    assert int(read.replace(",", "")) < len(packed) / 10


def test_content_encodings() -> None:
    assert decoded(b"abc", "", 3, "url") == decoded(b"abc", "identity", 3, "url") == b"abc"
    assert decoded(gzip.compress(b"abc"), "GZIP", 3, "url") == b"abc"
    with pytest.raises(TooLongError):
        decoded(b"abcd", "", 3, "url")
    for encoding in ("br", "gzip, gzip"):
        with pytest.raises(EdgarUnavailableError, match="not requested"):
            decoded(b"abc", encoding, 3, "url")


def test_the_start_of_a_page_in_any_encoding() -> None:
    page = b"<html>" + b"x" * 10_000
    assert start_of(page, "", 6) == start_of(gzip.compress(page)[:40], "gzip", 6) == b"<html>"
    assert start_of(page, "gzip", 6) == start_of(zlib.compress(page), "deflate", 6) == b""
