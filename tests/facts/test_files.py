"""Facts in every format, and the command."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import finray
from finray.cli import app
from finray.core.errors import SourceError
from finray.facts.files import FORMATS, write_facts
from finray.facts.records import Fact
from finray.filings.pages.page_links import PageLinks

FACTS = [
    Fact(
        "=Acme",
        "revenue",
        2020,
        5e9,
        "USD",
        restated=True,
        latest_value=4.8e9,
        page=36,
        label="=Net sales",
        text="5,000",
    ),
    Fact("=Acme", "capex", 2020, reason="no row"),
]


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Path]:
    paths = {suffix: tmp_path / f"facts{suffix}" for suffix in FORMATS}
    for path in paths.values():
        write_facts(str(path), FACTS, PageLinks({}))
    return paths


def test_programs_get_every_field_and_pages_from_0(written: dict[str, Path]) -> None:
    from_parquet = pq.read_table(written[".parquet"]).to_pylist()
    with pa.ipc.open_file(str(written[".arrow"])) as file:
        assert file.read_all().to_pylist() == from_parquet
    assert [(row["company"], row["value"], row["page"], row["reason"]) for row in from_parquet] == [
        ("=Acme", 5e9, 36, None),
        ("=Acme", None, None, "no row"),
    ]
    objects = json.loads(written[".json"].read_text(encoding="utf-8"))
    assert objects == [json.loads(line) for line in written[".jsonl"].read_text(encoding="utf-8").splitlines()]
    assert objects[1] == {"company": "=Acme", "item": "capex", "fiscal_year": 2020, "version": 1, "reason": "no row"}


def test_people_get_pages_from_1_and_no_formula(written: dict[str, Path]) -> None:
    sheet = openpyxl.load_workbook(written[".xlsx"])["facts"]
    head, first, second = sheet.iter_rows(values_only=True)
    row = dict(zip(head, first, strict=True))
    assert (row["company"], row["value"], row["page"], row["restated later"]) == ("=Acme", 5e9, 37, True)
    assert sheet["A2"].data_type in ("s", "inlineStr") and sheet["D2"].number_format == "#,##0"
    assert dict(zip(head, second, strict=True))["reason"] == "no row"
    (row, _) = csv.DictReader(io.StringIO(written[".csv"].read_text(encoding="utf-8-sig")))
    assert (row["company"], row["value"], row["page"]) == ("'=Acme", "5000000000", "37")


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"ends in \.csv, \.xlsx, \.parquet, \.arrow, \.json, \.jsonl"):
        write_facts(str(tmp_path / "facts.ods"), FACTS)


def test_the_command(sample_index: str, tmp_path: Path) -> None:
    out = tmp_path / "facts.parquet"
    command = [
        "facts",
        "Grevandor Systems",
        "--items",
        "revenue,capex",
        "--years",
        "2021-2022",
        "--index",
        sample_index,
    ]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0 and "1,408,729,000" in shown.output, shown.output
    assert "4 facts, 0 missing" in shown.output
    saved = CliRunner().invoke(app, [*command, "--item", "Nothing, at all", "--out", str(out), "--service", "http://h"])
    assert "4 facts, 2 missing" in saved.output
    assert pq.read_table(out).num_rows == 6
    printed = CliRunner().invoke(app, [*command, "--json"])
    assert [fact["fiscal_year"] for fact in json.loads(printed.output)] == [2021, 2021, 2022, 2022]
    assert finray.read_facts(sample_index, ["Grevandor Systems"], ["revenue"], [2022])[0].value == 1_408_729_000
