"""The record of how an index was built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import IndexMismatchError
from finray.core.settings import load_settings
from finray.index.layout import IndexRecord, check_record, create, note_record, noted_record, read_record


def record(**chunks: object) -> IndexRecord:
    overrides = {f"chunks.{name}": value for name, value in chunks.items()}
    return IndexRecord.of(load_settings(overrides={"encoder.model": "hash", **overrides}, environment={}), 64)


def test_an_index_of_characters_is_recorded_as_before_there_were_tokens(tmp_path: Path) -> None:
    create(str(tmp_path), record())
    assert "chunk_unit" not in json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    assert read_record(str(tmp_path)) == record()


def test_an_index_of_tokens_is_not_read_as_one_of_characters(tmp_path: Path) -> None:
    tokens = record(unit="tokens", size=1024, overlap=128)
    create(str(tmp_path), tokens)
    note_record(str(tmp_path), tokens)
    assert read_record(str(tmp_path)) == noted_record(str(tmp_path)) == tokens
    with pytest.raises(IndexMismatchError, match=r"chunks of 1024 tokens with 128 overlap.*chunks of 1024 characters"):
        check_record(str(tmp_path), tokens, record(overlap=128))
