"""Feed archives as honest programs write them, and as somebody would who wants to stop a sync."""

from __future__ import annotations

import gzip
import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import EdgarUnavailableError
from finray.edgar import tar_stream
from finray.edgar.feed import read_archive
from finray.edgar.tar_stream import MAX_HEADER_BYTES, ArchiveError, TarStream
from finray.lab.sample.edgar import Submission, as_feed
from tests.edgar.syncer import Syncer
from tests.growth import assert_linear

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=150)
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
FILES = [("0000000001-23-000001.nc", b"one"), ("folder/" + "n" * 90 + ".nc", b"x" * 512), ("empty.nc", b"")]
LONG = [("a/" * 120 + "0000000001-23-000002.nc", b"two"), ("ümlaut.nc", b"three")]


def written(files: list[tuple[str, bytes]], form: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), 1.5 if form == tarfile.PAX_FORMAT else 1
            archive.addfile(member, io.BytesIO(content))
            folder = tarfile.TarInfo("folder")
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
    return packed.getvalue()


def header(kind: bytes, content: bytes, size: int | None = None) -> bytes:
    """A header of ``kind`` with its content, whose real length may differ."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, len(content) if size is None else size
    return member.tobuf(tarfile.GNU_FORMAT) + content + b"\0" * (-len(content) % 512)


def read(archive: bytes) -> list[tuple[str, bytes]]:
    stream = TarStream(io.BytesIO(archive))
    return [(member.name, stream.read(member.size)) for member in stream]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_every_tar_format(form: str, pack: Callable[[bytes], bytes]) -> None:
    files = FILES + (LONG if form != "ustar" else [])
    assert read(pack(written(files, FORMATS[form]))) == files


@given(st.lists(st.tuples(NAMES, st.binary(max_size=2000)), max_size=5), st.sampled_from(["gnu", "pax"]))
def test_any_names_and_contents(files: list[tuple[str, bytes]], form: str) -> None:
    assert read(written(files, FORMATS[form])) == files


def test_an_archive_of_the_tar_command(tmp_path: Path) -> None:
    for name, content in FILES:
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(content)
    for option in ("--format=gnu", "--format=pax"):
        command = ["tar", "-czf", str(tmp_path / "a.tar.gz"), option, "-C", str(tmp_path / "in"), "."]
        subprocess.run(command, check=True)
        assert sorted(read((tmp_path / "a.tar.gz").read_bytes())) == sorted((f"./{name}", c) for name, c in FILES)


@given(st.binary(max_size=3000) | st.builds(lambda a, b, c: written(FILES, tarfile.PAX_FORMAT)[:a] + b + c,
       st.integers(0, 8000), st.binary(max_size=600), st.just(b"\0" * 1024)))  # fmt: skip
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        read(content)
    except ArchiveError as error:
        assert str(error)
    except EOFError:
        assert content.startswith(b"\x1f\x8b")


def test_a_truncated_archive_is_an_error() -> None:
    whole = written(FILES, tarfile.USTAR_FORMAT)
    for length in (0, 100, 512 + 2, 1024 + 700):
        with pytest.raises(ArchiveError):
            read(whole[:length])
    with pytest.raises(EOFError):
        read(gzip.compress(whole)[:-30])
    # Without the two empty blocks at the end it is whole all the same.
    assert read(whole.rstrip(b"\0") + b"\0" * (-len(whole.rstrip(b"\0")) % 512)) == FILES


QUADRATIC = b"1" * 3_000_000
GROWING: dict[str, tuple[Callable[[int], bytes], int]] = {
    "a pax header without an end (CVE-2024-6232)": (lambda n: header(tarfile.XHDTYPE, QUADRATIC[:n]), 3_000_000),
    "one for all that follows": (lambda n: header(tarfile.XGLTYPE, QUADRATIC[:n]), 3_000_000),
    "one that is just short enough": (lambda n: header(tarfile.XHDTYPE, QUADRATIC[:n]), MAX_HEADER_BYTES),
    "short ones of the kind": (lambda n: header(tarfile.XHDTYPE, QUADRATIC[:50_000]) * n, 100),
    "pax headers, one upon the other": (lambda n: header(tarfile.XHDTYPE, b"9 path=a\n") * n, 5000),
    "long names, one upon the other": (lambda n: header(tarfile.GNUTYPE_LONGNAME, b"a") * n, 5000),
    "records of no length": (lambda n: header(tarfile.XHDTYPE, b"0 a=b\n" * n), 9000),
}
HOSTILE = {
    **{name: archive(size) for name, (archive, size) in GROWING.items()},
    "a pax header that is said to be huge": header(tarfile.XHDTYPE, b"", 8 * 1024**3 - 1),
    "a name of gigabytes": header(tarfile.GNUTYPE_LONGNAME, b"", 8 * 1024**3 - 1),
    "a record longer than its header": header(tarfile.XHDTYPE, b"99 path=a\n"),
    "a size that is no number": header(tarfile.XHDTYPE, b"10 size=x\n") + header(tarfile.REGTYPE, b"abc"),
    "a negative size": header(tarfile.XHDTYPE, b"11 size=-9\n") + header(tarfile.REGTYPE, b"abc"),
    "a sparse file": header(tarfile.GNUTYPE_SPARSE, b"abc"),
    "a sparse file, noted": header(tarfile.XHDTYPE, b"22 GNU.sparse.major=1\n") + header(tarfile.REGTYPE, b"abc"),
}


@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE)
def test_hostile_headers_are_refused(archive: bytes) -> None:
    _refused(archive)


@pytest.mark.parametrize(("archive", "size"), GROWING.values(), ids=GROWING)
def test_hostile_headers_cost_no_more_than_their_length(archive: Callable[[int], bytes], size: int) -> None:
    assert_linear(lambda size: _refused(archive(size)), size)


def _refused(archive: bytes) -> None:
    with pytest.raises(EdgarUnavailableError, match=r"a\.tar\.gz: the archive is damaged or no feed archive: .+"):
        list(read_archive(io.BytesIO(gzip.compress(archive + b"\0" * 1024)), "a.tar.gz", 1000))


def test_the_error_names_the_header_limit() -> None:
    with pytest.raises(ArchiveError, match=f"{MAX_HEADER_BYTES:,} are read"):
        read(HOSTILE["a pax header without an end (CVE-2024-6232)"])


def test_limits_of_size_ratio_and_members(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(header(tarfile.REGTYPE, b"\0" * 3_000_000))
    monkeypatch.setattr(tar_stream, "_RATIO_FREE_BYTES", 1_000_000)
    with pytest.raises(ArchiveError, match="100 times"):
        read(bomb)
    monkeypatch.setattr(tar_stream, "MAX_BYTES", 1_000_000)
    with pytest.raises(ArchiveError, match="longer than 1,000,000 bytes"):
        read(bomb)
    monkeypatch.setattr(tar_stream, "MAX_MEMBERS", 2)
    with pytest.raises(ArchiveError, match="more than 2 members"):
        read(written(FILES, tarfile.USTAR_FORMAT))


def test_a_hostile_archive_is_reported_and_the_others_are_read(
    sync: Syncer, tmp_path: Path, submissions: list[Submission]
) -> None:
    good = written([(f"{submissions[0].accession}.nc", as_feed(submissions[0]))], tarfile.GNU_FORMAT)
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "20230601.nc.tar.gz").write_bytes(gzip.compress(header(tarfile.XHDTYPE, QUADRATIC) + good))
    (tmp_path / "feed" / "20230602.nc.tar.gz").write_bytes(gzip.compress(good))
    summary = sync(online=False, dumps=(str(tmp_path / "feed"),))
    assert summary.fetched == 1
    assert [problem.what.rpartition("/")[2] for problem in summary.problems] == ["20230601.nc.tar.gz"]
    assert "extended headers of 3,000,512 bytes" in summary.problems[0].reason
