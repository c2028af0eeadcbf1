from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import SourceError
from finray.storage.locations import (
    exists,
    lance_storage_options,
    list_sources,
    normalize,
    read_bytes,
    write_bytes,
)


@pytest.fixture(params=["local", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path) if request.param == "local" else f"{request.getfixturevalue('s3')}/{tmp_path.name}"


def names(*sources: str) -> list[str]:
    return [file.uri.rpartition("/")[2] for file in list_sources(sources).files]


def test_a_folder_is_searched_to_the_bottom_for_filings(place: str) -> None:
    for name in ("b.pdf", "a.HTM", "deep/er/c.txt", "notes.docx", "x.json", "y.json", ".hidden.pdf", ".git/d.pdf"):
        write_bytes(f"{place}/{name}", b"content")
    listing = list_sources([place])
    assert sorted(names(place)) == ["a.HTM", "b.pdf", "c.txt"]
    assert [file.uri for file in listing.files] == sorted(file.uri for file in listing.files)
    assert listing.ignored == {".docx": 1, ".json": 2}
    assert {file.size for file in listing.files} == {7}
    assert names(f"{place}/") == names(place)


def test_named_files_and_globs_are_taken_whatever_their_extension(place: str) -> None:
    for name in ("a.pdf", "b.docx", "sub/c.pdf"):
        write_bytes(f"{place}/{name}", b"x")
    assert names(f"{place}/b.docx") == ["b.docx"]
    assert names(f"{place}/*") == ["a.pdf", "b.docx"]
    assert sorted(names(f"{place}/**/*.pdf")) == ["a.pdf", "c.pdf"]
    assert names(f"{place}/a.pdf", f"{place}/*.pdf", place) == ["a.pdf", "c.pdf"]


def test_what_has_a_name_that_looks_like_a_glob_is_found(place: str) -> None:
    for name in ("report[1].pdf", "report1.pdf", "what?.pdf", "whats.pdf", "a*/b.pdf", "ab/c.pdf"):
        write_bytes(f"{place}/{name}", b"x")
    assert names(f"{place}/report[1].pdf") == ["report[1].pdf"]
    assert names(f"{place}/what?.pdf") == ["what?.pdf"]
    assert names(f"{place}/a*") == names(f"{place}/a*/b.pdf") == ["b.pdf"]
    assert names(f"{place}/report[0-9].pdf") == ["report1.pdf"]


def test_a_file_of_two_sources_is_ignored_once_and_not_if_it_is_named(place: str) -> None:
    for name in ("a.pdf", "sub/b.docx", "sub/c.json"):
        write_bytes(f"{place}/{name}", b"x")
    assert list_sources([place, f"{place}/sub", place]).ignored == {".docx": 1, ".json": 1}
    listing = list_sources([place, f"{place}/sub/b.docx"])
    assert names(place, f"{place}/sub/b.docx") == ["a.pdf", "b.docx"] and listing.ignored == {".json": 1}


def test_what_is_written_is_read(place: str) -> None:
    uri = f"{place}/folder/object.bin"
    assert not exists(uri)
    for content in (b"first", b"", b"second" * 1000):
        write_bytes(uri, content)
        assert read_bytes(uri) == content
    assert exists(uri) and exists(f"{place}/folder")


@pytest.mark.parametrize("name", ["none", "none.pdf", "*.pdf", "none/"])
def test_a_source_that_matches_nothing_is_named(place: str, name: str) -> None:
    with pytest.raises(SourceError, match="nothing at"):
        list_sources([f"{place}/{name}"])


def test_a_missing_object_is_named(place: str) -> None:
    with pytest.raises(SourceError, match=r"missing\.pdf"):
        read_bytes(f"{place}/missing.pdf")


def test_a_missing_bucket_says_what_to_check(s3: str) -> None:
    with pytest.raises(SourceError, match=r"s3://no-such-bucket|nothing at"):
        list_sources(["s3://no-such-bucket/corpus"])
    with pytest.raises(SourceError, match="AWS_ENDPOINT_URL"):
        write_bytes("s3://no-such-bucket/object", b"x")


@pytest.mark.parametrize("uri", ["", "ftp://host/file", "s3://", "s3:///key", "http://host/a.pdf", "gs://bucket"])
def test_locations_that_cannot_be_are_refused(uri: str) -> None:
    with pytest.raises(SourceError):
        normalize(uri)


def test_local_locations_are_compared_as_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert normalize("a/../b") == normalize(f"file://{tmp_path}/b") == str(tmp_path / "b")
    assert normalize("s3://bucket/prefix/") == "s3://bucket/prefix"


def test_lance_gets_endpoint_credentials_and_tries_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "7")
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert lance_storage_options("/local") == {}
    assert lance_storage_options("s3://bucket/index") == {
        "aws_access_key_id": "key",
        "aws_secret_access_key": "secret",
        "aws_region": "eu-west-1",
        "aws_endpoint": "http://127.0.0.1:9000",
        "allow_http": "true",
        "client_max_retries": "6",
        "client_retry_timeout": "60",
        "download_retry_count": "6",
    }
