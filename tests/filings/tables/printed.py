"""Tables of an annual report, written as text."""

from __future__ import annotations

import datetime as dt

import lxml.html

from finray.core.filing import Filing
from finray.filings.html.grid import table_grid
from finray.filings.tables.grids import Grid

ANNUAL = Filing(
    "id",
    "doc",
    "uri",
    "0" * 64,
    "Sample Corp",
    "10-K",
    period_end=dt.date(2022, 12, 31),
    fiscal_year=2022,
    fiscal_period="FY",
)


def grid_of(rows: str, caption: str = "") -> Grid:
    """``rows``: one row a line, cells separated by "|", "~" for an empty one."""
    html = "".join(
        "<tr>" + "".join(f"<td>{cell.strip().replace('~', '')}</td>" for cell in row.split("|")) + "</tr>"
        for row in rows.strip().split("\n")
    )
    grid = table_grid(lxml.html.fragment_fromstring(f"<table>{html}</table>"), 4, caption)
    assert grid is not None
    return grid
