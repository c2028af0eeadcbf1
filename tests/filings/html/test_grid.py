"""EDGAR tables as grids."""

from __future__ import annotations

from collections.abc import Callable

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.settings import FilingSettings
from finray.filings.html.grid import table_grid
from finray.filings.html.pages import parse_html, split_pages
from finray.filings.tables.grids import Grid
from tests.growth import assert_linear

TABLE = """<table>
<tr><td colspan="3"></td><td colspan="7">Years Ended December 31,</td></tr>
<tr><td colspan="3">(in millions)</td><td colspan="3">2022</td><td></td><td colspan="3">2021</td></tr>
<tr><td colspan="3"><div style="padding-left:12pt">Net<br/>sales</div></td><td>$</td>
  <td><ix:nonFraction name="us-gaap:Revenues" contextref="c1">1,200</ix:nonFraction>&#160;</td><td></td><td></td>
  <td>$</td><td>1,100</td><td></td></tr>
<tr><td colspan="3">Other loss</td><td colspan="2">(5</td><td>)</td><td></td><td colspan="2">—</td><td></td></tr>
<tr><td colspan="3">Growth</td><td colspan="2">9.1</td><td>%</td><td></td><td colspan="2">(2.0</td><td>)%</td></tr>
</table>"""


def _grid(html: str) -> Grid | None:
    return table_grid(lxml.html.fragment_fromstring(html), 3)


def test_spans_and_fillers_are_resolved() -> None:
    grid = _grid(TABLE)
    assert grid is not None
    assert grid.page == 3
    assert [[(cell.column, cell.text) for cell in row] for row in grid.rows] == [
        [(1, "Years Ended December 31,")],
        [(0, "(in millions)"), (1, "2022"), (2, "2021")],
        [(0, "Net sales"), (1, "$1,200"), (2, "$1,100")],
        [(0, "Other loss"), (1, "(5)"), (2, "—")],
        [(0, "Growth"), (1, "9.1%"), (2, "(2.0)%")],
    ]
    assert grid.rows[0][0].span == 2


def test_comments_in_a_cell_do_not_cut_its_text() -> None:
    grid = _grid("<table><tr><td>Sales<!-- a --> net</td><td>1,<!-- b -->234</td></tr></table>")
    assert grid is not None
    assert [cell.text for cell in grid.rows[0]] == ["Sales net", "1,234"]


def test_concept_and_indent_are_kept() -> None:
    grid = _grid(TABLE)
    assert grid is not None
    assert grid.rows[2][1].concept == "us-gaap:Revenues"
    assert grid.rows[2][0].indent == 12.0


def test_the_grid_is_the_same_without_tags() -> None:
    opening = '<ix:nonFraction name="us-gaap:Revenues" contextref="c1">'
    plain = TABLE.replace(opening, "").replace("</ix:nonFraction>", "")
    tagged, untagged = _grid(TABLE), _grid(plain)
    assert tagged is not None and untagged is not None
    texts = [[[cell.text for cell in row] for row in grid.rows] for grid in (tagged, untagged)]
    assert texts[0] == texts[1]


def test_rowspan_shifts_the_cells_below() -> None:
    grid = _grid(
        "<table><tr><td rowspan='2'>Sales</td><td>1,000</td></tr><tr><td>2,000</td></tr>"
        "<tr><td>Cost</td><td>3,000</td></tr></table>"
    )
    assert grid is not None
    assert [row[-1].column for row in grid.rows] == [1, 1, 1]


def test_layout_tables_and_absurd_spans() -> None:
    assert _grid("<table><tr><td>Just</td><td>words</td></tr></table>") is None
    huge = _grid("<table><tr><td colspan='999999999'>Sales</td><td colspan='-4'>1,000</td></tr></table>")
    assert huge is not None and huge.rows[0][-1].text == "1,000"


@pytest.mark.parametrize(
    ("style", "indent"),
    [("padding-left:1em", 10), ("color:red; PADDING: 0 1px 2px 8PX", 6), ("margin-left: .5in;padding:1 2 3 4", 36),
     ("padding-left:-3pt;margin-left:4pt", 4), ("padding:1px 2px;font:8pt", 0), ("padding-left:99999999999pt", 1000)],
)  # fmt: skip
def test_the_left_margin_is_the_indent(style: str, indent: float) -> None:
    grid = _grid(f"<table><tr><td style='{style}'>Sales</td><td>1,000</td></tr></table>")
    assert grid is not None and grid.rows[0][0].indent == indent


def test_a_column_that_a_cell_from_above_covers_is_free_again_below_it() -> None:
    grid = _grid(
        "<table><tr><td rowspan='3'>Sales</td><td rowspan='2'>1,000</td><td>2,000</td></tr><tr><td>3,000</td></tr>"
        "<tr><td>4,000</td><td>5,000</td></tr><tr><td>Cost</td><td>6,000</td></tr></table>"
    )
    assert grid is not None
    assert [[(cell.column, cell.text) for cell in row] for row in grid.rows[1:]] == [
        [(2, "3,000")], [(1, "4,000"), (2, "5,000")], [(0, "Cost"), (1, "6,000")],
    ]  # fmt: skip


_ROW = "<tr><td>Sales</td><td>1,000</td></tr>"


@pytest.mark.parametrize(
    ("markup", "size"),
    [
        (lambda n: f"<tr><td style='padding:{'1' * n}'>Sales</td><td>1,000</td></tr>", 400_000),
        (lambda n: f"<tr><td style='{'padding:1;margin-left:x;' * n}'>Sales</td><td>1,000</td></tr>", 20_000),
        (lambda n: f"<tr><td style='{'padding: 1pt 2pt 3pt ;' * 20}'>Sales</td><td>1,000</td></tr>" * n, 800),
        (lambda n: ("<tr>" + "<td colspan=200 rowspan=200></td>" * 10 + "</tr>" + "<tr></tr>" * 199) * n + _ROW, 400),
        (lambda n: ("<tr>" + "<td rowspan=200></td>" * 1990 + "</tr>" + "<tr><td></td></tr>" * 199) * n + _ROW, 8),
        (lambda n: ("<tr>" + "<td>1,000</td>" * 1990 + "</tr>") * n, 4),
        (lambda n: f"<tr><td>{'a' * 10 * n}1</td>{'<td>)</td>' * n}</tr>", 20_000),
        (lambda n: f"<tr><td>{'(' * 10 * n}1</td>{'<td>)</td>' * n}</tr>", 20_000),
        (lambda n: "<tr><td>a</td><td><table>" * n + _ROW + "</table></td></tr>" * n, 300),
    ],
    ids=["digits", "declarations", "styles", "spans", "rowspans", "wide", "closed", "opened", "nested"],
)
def test_hostile_tables_cost_time_in_proportion_to_their_size(markup: Callable[[int], str], size: int) -> None:
    limits = FilingSettings(max_unpaged_characters=10_000_000, max_page_characters=10_000_000)

    def read(size: int) -> None:
        content = f"<html><body><table>{markup(size)}</table></body></html>".encode()
        for table in split_pages(parse_html(content), limits)[0].tables:
            table_grid(table, 0)

    assert_linear(read, size)


def test_a_small_negative_next_to_a_number_is_not_a_footnote() -> None:
    grid = _grid(
        "<table><tr><td>Tax</td><td>4</td><td>(2)</td></tr><tr><td>Other</td><td>(1)</td><td>7</td></tr></table>"
    )
    assert grid is not None
    assert [cell.text for cell in grid.rows[0]] == ["Tax", "4", "(2)"]


_cell = st.builds(
    "<td colspan='{}' rowspan='{}'>{}</td>".format,
    st.sampled_from(["1", "3", "x", "-1", "٣", ""]),
    st.sampled_from(["1", "2", "500000"]),
    st.sampled_from(["$", "1,234", "(", ")", "%", "Net", "—", "2022"]),
)


@given(st.lists(st.lists(_cell, max_size=6), max_size=6))
def test_any_table_never_fails(rows: list[list[str]]) -> None:
    _grid("<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>")
