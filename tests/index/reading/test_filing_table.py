"""Filings as columns: the same objects as were written, whichever way they are asked for."""

from __future__ import annotations

import datetime as dt
import threading

import pyarrow as pa
import pytest

from finray.core.filing import Filing
from finray.index import schema
from finray.index.reading import filing_table
from finray.index.reading.filing_table import FilingTable


def filing(number: int) -> Filing:
    """Some facts are shared by many filings, some by none, some are missing."""
    return Filing(
        f"f{number:04}",
        f"doc {number}",
        f"/corpus/{number}.htm",
        f"{number:064x}",
        f"Company {number % 7}",
        "10-K" if number % 3 else "8-K",
        cik=str(number % 7) if number % 2 else None,
        is_amendment=number % 5 == 0,
        period_end=dt.date(2020, 1, 1) + dt.timedelta(number) if number % 4 else None,
        fiscal_year=2020 + number % 3,
        fiscal_period="FY" if number % 3 else None,
        aliases=("Acme", f"Brand {number % 3}")[: number % 3],
        provenance={"company": "ixbrl", "form": "cover"} if number % 2 else {},
    )


FILINGS = [filing(number) for number in range(500)]


@pytest.fixture
def table() -> FilingTable:
    fields = [field for field in schema.table_schemas(8)[schema.FILINGS] if field.name in schema.FILING_COLUMNS]
    rows = pa.Table.from_pylist([schema.filing_row(one) for one in reversed(FILINGS)], pa.schema(fields))
    return FilingTable(lambda name: rows[name])


def test_filings_come_back_in_the_order_of_their_ids(table: FilingTable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(table) == FILINGS
    assert (len(table), table[3], table[-1], table[5:9]) == (500, FILINGS[3], FILINGS[-1], FILINGS[5:9])
    monkeypatch.setattr(filing_table, "_AT_ONCE", 7)
    assert list(table) == FILINGS
    assert list(table.by_id.items()) == [(one.filing_id, one) for one in FILINGS]
    with pytest.raises(IndexError):
        table[500]


def test_they_are_found_by_id_in_the_order_asked_for(table: FilingTable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert table.by_id["f0042"] == FILINGS[42]
    assert "f9999" not in table.by_id
    monkeypatch.setattr(filing_table, "_CACHED", 3)
    for _ in range(2):
        wanted = [FILINGS[number] for number in (7, 499, 7, 0, 42, 3)]
        assert table.named([one.filing_id for one in wanted]) == wanted
    with pytest.raises(KeyError, match="f9999"):
        table.named(["f0001", "f9999"])


def test_threads_share_a_table(table: FilingTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filing_table, "_CACHED", 10)
    wrong: list[int] = []

    def ask(first: int) -> None:
        starts = range(first, 480, 7)
        wrong.extend(start for start in starts if table.at(range(start, start + 20)) != FILINGS[start : start + 20])

    threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_index_without_filings() -> None:
    fields = [field for field in schema.table_schemas(8)[schema.FILINGS] if field.name in schema.FILING_COLUMNS]
    empty = pa.schema(fields).empty_table()
    table = FilingTable(lambda name: empty[name])
    assert (list(table), len(table), table.by_id.get("x"), table.named([])) == ([], 0, None, [])
