"""Headings over groups of columns, whose extent a PDF does not state."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.filings.pdf.column_groups import aligned, leaves, spread_headings
from finray.filings.tables.cells import Printed

PITCH, WIDTH = 60.0, 30.0


def _columns(count: int) -> list[tuple[float, float]]:
    return [(300 + PITCH * at, 300 + PITCH * at + WIDTH) for at in range(count)]


def _over(text: str, middle: float, width: float = 20.0) -> Printed:
    """A heading around ``middle``, counted in columns from 0."""
    center = 300 + PITCH * middle + WIDTH / 2
    return Printed(text, center - width / 2, center + width / 2)


def _leaves(*texts: str) -> list[Printed]:
    return [_over(text, at) for at, text in enumerate(texts)]


def _heads(rows: list[list[Printed]], count: int) -> list[list[str]]:
    """The headings over each column."""
    columns = _columns(count)
    return [
        [cell.text for row in spread_headings(rows, columns) for cell in row if cell.x0 < x1 and x0 < cell.x1]
        for x0, x1 in columns
    ]


def test_two_plans_over_three_years_each() -> None:
    rows = [[_over("U.S.", 1), _over("International", 4)], _leaves("2021", "2020", "2019", "2021", "2020", "2019")]
    assert _heads(rows, 6) == [
        ["U.S.", "2021"],
        ["U.S.", "2020"],
        ["U.S.", "2019"],
        ["International", "2021"],
        ["International", "2020"],
        ["International", "2019"],
    ]


def test_three_and_six_months_with_their_change_although_they_stand_over_the_years_only() -> None:
    rows = [
        [_over("Three Months", 0.5, 50), _over("Six Months", 3.5, 50)],
        _leaves("2023", "2022", "% Change", "2023", "2022", "% Change"),
    ]
    heads = _heads(rows, 6)
    assert heads[2] == ["Three Months", "% Change"]
    assert heads[5] == ["Six Months", "% Change"]


def test_groups_of_other_sizes_are_found_by_their_middle() -> None:
    rows = [
        [_over("2018", 2), _over("2017", 6)],
        _leaves("Sales", "Costs", "SG&A", "Interest", "Other", "Costs", "Interest", "Other"),
    ]
    heads = _heads(rows, 8)
    assert [head[0] for head in heads] == ["2018"] * 5 + ["2017"] * 3


def test_a_group_whose_last_year_is_missing_below() -> None:
    rows = [
        [_over("Net Revenue", 1), _over("Long-Lived Assets", 3.5, 70)],
        _leaves("2017", "2016", "2015", "2017", "2016"),
    ]
    assert [head[0] for head in _heads(rows, 5)] == ["Net Revenue"] * 3 + ["Long-Lived Assets"] * 2


def test_a_year_over_its_amount_and_its_share() -> None:
    assert [head[:1] for head in _heads([[_over("2022", 0.5), _over("2021", 2.5)]], 4)] == [
        ["2022"],
        ["2022"],
        ["2021"],
        ["2021"],
    ]


def test_years_below_the_headings_that_repeat() -> None:
    rows = [_leaves("Shares", "Amount", "Shares", "Amount"), [_over("2018", 1), _over("2017", 3)]]
    assert _heads(rows, 4) == [["Shares", "2018"], ["Amount", "2018"], ["Shares", "2017"], ["Amount", "2017"]]


def test_headings_beside_their_figures_belong_to_the_columns_in_order() -> None:
    columns = _columns(3)
    heads = [
        Printed(text, x0 - 25, x0 - 2) for text, (x0, _) in zip(("2023", "Reported", "currency"), columns, strict=True)
    ]
    title = Printed("A sentence over the whole table", 50, 500)
    rows = [[title], [Printed("constant", columns[2][0] - 25, columns[2][0] - 2)], heads]
    own = leaves(rows, columns)
    assert list(own) == heads
    first, above, last = aligned(rows, columns, own)
    assert first == [title]
    assert [(cell.x0, cell.x1) for cell in (*above, *last)] == [columns[2], *columns]


def test_a_line_with_fewer_headings_than_columns_has_none_of_its_own() -> None:
    columns = _columns(3)
    assert leaves([_leaves("2023", "2022")], columns) == ()


def test_a_heading_alone_tells_its_columns_from_the_others() -> None:
    rows = [[_over("% Change", 3.5, 40)], _leaves("2015", "2014", "2013", "2015", "2014")]
    assert [head[0] for head in _heads(rows, 5)] == ["2015", "2014", "2013", "% Change", "% Change"]


def test_the_parts_of_a_wrapped_heading_stay_over_their_column() -> None:
    rows = [
        [_over("2020", 1), _over("2019", 4)],
        [_over("Accumulated", 1), _over("Accumulated", 4)],
        _leaves("Gross", "Amortization", "Net", "Gross", "Amortization", "Net"),
    ]
    assert _heads(rows, 6)[0] == ["2020", "Gross"]
    assert _heads(rows, 6)[4] == ["2019", "Accumulated", "Amortization"]


def test_columns_that_differ_already_get_no_heading_of_a_neighbor() -> None:
    rows = [[_over("Restated", 1)], _leaves("2018", "2017", "2016", "2015")]
    assert _heads(rows, 4) == [["2018"], ["Restated", "2017"], ["2016"], ["2015"]]


def test_balances_between_movements_are_over_one_column_each() -> None:
    rows = [
        [_over("Balance", 0), _over("Balance", 3), _over("Balance", 6)],
        _leaves("2018", "Additions", "Other", "2019", "Additions", "Other", "2020"),
    ]
    assert _heads(rows, 7)[1] == ["Additions"]


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(["2021", "2020", "Total", "U.S."]), st.floats(-2, 9)), max_size=6),
        max_size=14,
    ),
    st.integers(1, 9),
)
def test_any_headings_keep_their_texts_and_order(lines: list[list[tuple[str, float]]], count: int) -> None:
    rows = [[_over(text, middle) for text, middle in sorted(line, key=lambda each: each[1])] for line in lines]
    spread = spread_headings(rows, _columns(count))
    assert [[cell.text for cell in row] for row in spread] == [[cell.text for cell in row] for row in rows]
