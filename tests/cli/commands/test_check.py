"""``finray check`` and ``finray maintain`` on an index without a raw store."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from finray.cli.commands.check import run_check
from finray.cli.commands.maintain import run_maintain
from finray.core.errors import IndexMismatchError, IndexMissingError
from finray.core.settings import Settings, load_settings
from finray.index import layout, schema


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    return str(shutil.copytree(sample_index, tmp_path / "index"))


def check(index: str, settings: Settings, *, repair: bool = False) -> tuple[int, str]:
    out = Console(record=True, width=200, file=io.StringIO())
    code = run_check(index, None, settings, deep=True, repair=repair, as_json=False, out=out, err=Console(quiet=True))
    return code, out.export_text()


def test_a_sound_index_and_a_damaged_one_and_its_repair(index: str, local_settings: Settings) -> None:
    assert check(index, local_settings) == (0, "all agrees\n")
    layout.open_table(index, schema.PAGES).delete("page = 0")
    code, said = check(index, local_settings)
    assert code == 1
    assert "rows_missing" in said
    assert "--repair" in said
    code, said = check(index, local_settings, repair=True)
    assert code == 0
    assert "all agrees now" in said
    assert layout.open_table(index, schema.FILINGS).count_rows() == 0


def test_a_repair_needs_the_settings_of_the_index(index: str) -> None:
    layout.open_table(index, schema.PAGES).delete("page = 0")
    with pytest.raises(IndexMismatchError):
        check(
            index, load_settings(overrides={"encoder.model": "hash", "chunks.size": 500}, environment={}), repair=True
        )


def test_maintenance_says_what_there_is(
    index: str, local_settings: Settings, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = Console(record=True, width=200, file=io.StringIO())
    assert run_maintain(index, local_settings, as_json=False, out=out) == 0
    said = out.export_text()
    assert "filings of 3 companies" in said
    assert "rows not covered" in said
    assert run_maintain(index, local_settings, as_json=True, out=out) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["after"]["tables"]["filings"]["rows"] == layout.open_table(index, schema.FILINGS).count_rows()
    with pytest.raises(IndexMissingError):
        run_maintain(str(tmp_path), local_settings, as_json=False, out=out)
