"""Footnote marks in HTML."""

from __future__ import annotations

import pytest

from finray.core.settings import FilingSettings
from finray.filings.html.grid import table_grid
from finray.filings.html.pages import parse_html, split_pages


def _read(row: str) -> tuple[list[str], str]:
    """The cells of a table's first row of figures, and the text of the page."""
    table = f"<table><tr><td></td><td>2024</td></tr><tr>{row}</tr><tr><td>Cost</td><td>70,210</td></tr></table>"
    [page] = split_pages(parse_html(f"<html><body>{table}</body></html>".encode()), FilingSettings())
    grid = table_grid(page.tables[0], 0)
    assert grid is not None
    return [cell.text for cell in grid.rows[1]], page.text


@pytest.mark.parametrize(
    "mark",
    [
        "<sup>1</sup>",
        "<sup>(1)</sup>",
        "<sup>a</sup>",
        "<sup><font size='1'>1, 2</font></sup>",
        "<font size='1'><sup>1</sup></font>",
        "<span style='vertical-align:super'>1</span>",
        "<span style='position:relative;top:-4pt;font-size:6.5pt'>(1)</span>",
        "<span style='font-size:6pt'>1</span>",
        "<font style='FONT-SIZE: 60%; VERTICAL-ALIGN: top'>b</font>",
        "<small>1</small>",
        "¹",
        "*",
        "(1)(2)",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "<div style='font-size:10pt'>{}</div>", "<p><span style='font-size:10pt'>{}</span></p>"]
)
def test_marks_are_not_digits(mark: str, around: str) -> None:
    if mark.startswith("<span style='font-size:6pt") and around == "{}":
        pytest.skip("small beside an unknown size")
    for figure in ("120,450", "(70,210)", "2.10"):
        cells, text = _read(f"<td>{around.format('Revenues' + mark)}</td><td>{around.format(figure + mark)}</td>")
        assert (cells[0].rstrip("*()12 "), cells[1].rstrip("*").removesuffix("(1)(2)")) == ("Revenues", figure)
        assert f"{figure}1" not in text and f"{figure}a" not in text and f"{figure}b" not in text


def test_a_mark_in_a_cell_of_its_own_is_left_out() -> None:
    assert _read("<td>Revenues</td><td>120,450</td><td><sup>1</sup></td>")[0] == ["Revenues", "120,450"]


@pytest.mark.parametrize(
    "cell",
    [
        "<span style='font-size:10pt'>1</span>",
        "$<font size='2'>5</font>",
        "<span style='vertical-align:super'>7</span>",
    ],
)
def test_a_figure_of_one_digit_stays(cell: str) -> None:
    assert _read(f"<td>Revenues</td><td>{cell}</td>")[0][1].strip("$") in {"1", "5", "7"}


def test_ordinals_and_units_stay() -> None:
    cells, text = _read("<td>Area in km<sup>2</sup>, 53<sup>rd</sup> week</td><td>120,450</td>")
    assert cells[0] == "Area in km², 53rd week" and "km²" in text
