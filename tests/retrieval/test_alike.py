from __future__ import annotations

import datetime as dt
from collections import defaultdict

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.index import schema
from finray.index.reading.filing_table import FilingTable
from finray.retrieval.alike import alike

_DATES = st.none() | st.dates(dt.date(2019, 12, 30), dt.date(2020, 1, 2))
_COVERS = st.tuples(
    st.sampled_from(["10-K", "10-Q"]), st.booleans(), _DATES, _DATES, st.none() | st.integers(2019, 2020),
    st.sampled_from([None, "FY", "Q1"]),
)  # fmt: skip


@given(st.lists(_COVERS, max_size=40))
def test_each_filing_is_in_the_group_of_its_cover(covers: list[tuple[object, ...]]) -> None:
    names = ("form", "is_amendment", "period_end", "filed_at", "fiscal_year", "fiscal_period")
    filings = [
        Filing(f"f{number:03}", "", "", "", f"Company {number}", **dict(zip(names, cover, strict=True)))  # type: ignore[arg-type]
        for number, cover in enumerate(covers)
    ]
    fields = [field for field in schema.table_schemas(8)[schema.FILINGS] if field.name in schema.FILING_COLUMNS]
    rows = pa.Table.from_pylist([schema.filing_row(filing) for filing in filings], pa.schema(fields))
    expected: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, cover in enumerate(covers):
        expected[cover].append(number)
    groups = alike(FilingTable(lambda name: rows[name]))
    assert {tuple(getattr(cover, name) for name in names): where.tolist() for cover, where in groups} == expected
    assert len(groups) == len(expected)
