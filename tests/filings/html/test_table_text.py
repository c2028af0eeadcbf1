import lxml.html
import pytest

from finray.filings.html.table_text import row_cells, table_lines


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Net sales", "$", "1,234", "", "$", "999"], ["Net sales", "$1,234", "$999"]),
        (["Loss", "$", "(12", ")", "(3", ")"], ["Loss", "$(12)", "(3)"]),
        (["Loss", "($", "12", ")"], ["Loss", "($12)"]),
        (["Margin", "12.5", "%", "(3.1", ")%"], ["Margin", "12.5%", "(3.1)%"]),
        (["$ 1,234", "€ 5"], ["$1,234", "€5"]),
        (["•", "a point"], ["• a point"]),
        (["Dash", "—", "%"], ["Dash", "—%"]),
        (["Note", "(a)"], ["Note", "(a)"]),
    ],
)
def test_numbers_are_put_together(cells: list[str], expected: list[str]) -> None:
    row = lxml.html.fragment_fromstring("<table><tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr></table>")
    assert row_cells(next(row.iter("tr"))) == expected


def test_a_table_without_rows_is_its_text() -> None:
    assert table_lines(lxml.html.fragment_fromstring("<table><caption>Only this</caption></table>")) == ["Only this"]
    assert table_lines(lxml.html.fragment_fromstring("<table></table>")) == []
