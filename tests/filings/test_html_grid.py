"""EDGAR tables as grids."""

from __future__ import annotations

import lxml.html
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.grids import Grid
from finray.filings.html_grid import table_grid

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


def test_small_negative_next_to_a_number_is_no_footnote() -> None:
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
