"""``finray check`` and ``finray maintain`` on an index without a raw store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finray.index import layout, schema

HASH = ["--set", "encoder.model=hash"]
Run = Callable[..., Any]


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    return str(shutil.copytree(sample_index, tmp_path / "index"))


def test_a_sound_index_and_a_damaged_one_and_its_repair(finray: Run, index: str) -> None:
    check = ["check", "--index", index, "--deep", *HASH]
    sound = finray(*check)
    assert (sound.code, sound.out) == (0, "no problems found\n")
    layout.open_table(index, schema.PAGES).delete("page = 0")
    damaged = finray(*check)
    assert damaged.code == 1
    assert "rows_missing" in damaged.out
    assert "--repair" in damaged.out
    repaired = finray(*check, "--repair")
    assert repaired.code == 0
    assert "repaired: no problems found" in repaired.out
    assert layout.open_table(index, schema.FILINGS).count_rows() == 0


def test_json_lists_findings_before_and_after_the_repair(finray: Run, index: str) -> None:
    layout.open_table(index, schema.PAGES).delete("page = 0")
    record = finray("check", "--index", index, *HASH, "--repair", "--json").json
    assert {finding["kind"] for finding in record["found"]} == {"rows_missing"}
    assert record["left"] == []


def test_a_repair_needs_the_settings_of_the_index(finray: Run, index: str) -> None:
    layout.open_table(index, schema.PAGES).delete("page = 0")
    result = finray("check", "--index", index, *HASH, "--set", "chunks.size=500", "--repair")
    assert (result.code, result.out) == (2, "")
    assert "was built with" in result.err and "(--set chunks.size=1024)" in result.err


def test_maintenance_prints_the_statistics(finray: Run, index: str, tmp_path: Path) -> None:
    text = finray("maintain", "--index", index, *HASH)
    assert text.code == 0
    assert "filings of 3 companies" in text.out
    assert "rows not covered" in text.out
    values = finray("maintain", "--index", index, *HASH, "--json").json
    assert values["after"]["tables"]["filings"]["rows"] == layout.open_table(index, schema.FILINGS).count_rows()
    assert finray("maintain", "--index", tmp_path / "none", *HASH).code == 2
