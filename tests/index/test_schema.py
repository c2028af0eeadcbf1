"""Rows and their Python form."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from finray.core.filing import Filing
from finray.index import schema


def filing(number: int, **facts: object) -> Filing:
    given: dict[str, object] = {"company": "Acme Corporation", "form": "10-K", **facts}
    return Filing(
        filing_id=f"0001-{number}",
        doc_name=f"acme-{number}",
        source_uri=f"s3://bucket/{number}.htm",
        content_sha256=f"{number:064x}",
        **given,  # type: ignore[arg-type]
    )


def test_filings_come_back_as_they_went_in_and_share_what_is_equal() -> None:
    filings = [
        filing(1),
        filing(2, cik="0000000001", aliases=("Acme", "ACME"), provenance={"company": "cover"}),
        filing(3, period_end=dt.date(2023, 12, 31), fiscal_year=2023, fiscal_period="FY", is_amendment=True),
        filing(4, company="Bolt & Co.", aliases=("Acme", "ACME"), provenance={"company": "cover"}),
    ]
    columns = pa.schema([schema.table_schemas(1)[schema.FILINGS].field(name) for name in schema.FILING_COLUMNS])
    table = pa.Table.from_pylist([schema.filing_row(one) for one in filings], columns)
    for chunked in (table, pa.concat_tables([table[:2], table[2:]]), table[:0]):
        read = schema.filings_from_table(chunked)
        assert read == filings[: chunked.num_rows]
    first, second, _, fourth = schema.filings_from_table(table)
    assert first.company is second.company
    assert second.aliases is fourth.aliases
    assert second.provenance is fourth.provenance
