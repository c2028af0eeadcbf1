"""Grids asked through the local preset over the sample's books, and one line over several reports.

The expected figures are read off the printed statements of the sample (tests/answering/test_statements.py), as first
reported: an amendment restates the 2021 revenue of Grevandor Systems.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace

from finray.answering.cells.one_line import in_one_line
from finray.answering.cells.operands import found_in
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Operand
from finray.core.predictions import Prediction
from finray.core.records import from_object, to_object

Ask = Callable[[str], Prediction]
SYSTEMS, OUTFITTERS = "Grevandor Systems, Inc.", "CALDAVALE OUTFITTERS CORPORATION"
REVENUE = {SYSTEMS: [1_359_474, 1_408_729, 1_410_756], OUTFITTERS: [1_726_934, 1_656_655, 1_785_976]}
BOTH = "Compare Grevandor Systems' and Caldavale Outfitters' revenue in fiscal 2021, 2022 and 2023."


def test_every_cell_of_companies_by_years_is_cited(ask: Ask) -> None:
    prediction = ask(BOTH)
    grid = prediction.grid
    assert grid is not None
    assert [[cell.value for cell in cells] for _, _, cells in grid.rows()] == [
        [1000 * value for value in row] for row in REVENUE.values()
    ]
    operands = {cell.name: cell for cell in prediction.operands}
    assert all(operands[cell.operands[0]].value == cell.value for cell in grid.cells)
    assert grid.verdict.startswith(f"{OUTFITTERS} has the higher revenue in all 3 periods; ")
    assert grid.ranking == (OUTFITTERS, SYSTEMS)
    assert prediction.status == "answered"
    assert prediction.grounded
    assert from_object(Prediction, to_object(prediction)).grid == grid


def test_the_lowest_of_all_years_between_two(ask: Ask) -> None:
    prediction = ask("In which year between 2021 and 2023 was Caldavale Outfitters' revenue lowest?")
    assert prediction.answer.startswith(f"FY 2022: revenue of {OUTFITTERS} was lowest, $1,656.7 million.")


def test_a_year_and_a_company_that_are_not_there_are_named(ask: Ask) -> None:
    prediction = ask("What was the revenue of Grevandor Systems and of Boeing in 2022, 2023 and 2033?")
    grid = prediction.grid
    assert grid is not None
    assert [cell.value is None for cell in grid.cells] == [False, False, True, True, True, True]
    assert "revenue of Grevandor Systems, Inc. for FY 2033: no filing on FY 2033" in prediction.missing
    assert "revenue of Boeing for FY 2022: the index has no filing of it" in prediction.missing
    refused = ask("Which had the higher revenue in 2022, Grevandor Systems or Boeing?")
    assert refused.status == "unanswerable"
    assert "$1,408.7 million" in refused.answer


def test_two_items_of_one_company_are_compared(ask: Ask) -> None:
    prediction = ask("Did Grevandor Systems have more current assets than current liabilities at the end of 2022?")
    assert prediction.grid is not None
    assets, liabilities = (cell.value for cell in prediction.grid.cells)
    assert prediction.grid.items == ("current assets", "current liabilities")
    assert assets is not None
    assert liabilities is not None
    assert prediction.answer.startswith("Yes: " if assets > liabilities else "No: ")


def report(year: int, rows: dict[str, dict[int, float]]) -> tuple[Filing, tuple[LineItem, ...]]:
    """The annual report on ``year`` with an income statement of ``rows``: figures in millions by year."""
    filing = Filing(
        f"f{year}", f"ACME_{year}", "a.htm", "0" * 64, "Acme", "10-K",
        period_end=dt.date(year, 12, 31), fiscal_year=year, fiscal_period="FY",
    )  # fmt: skip
    items = [
        LineItem(
            1, "income", label, 1e6 * value, f"{value:,.0f}", "USD", 10**6, dt.date(at, 12, 31), 12, row=row, column=n
        )
        for row, (label, own) in enumerate(rows.items())
        for n, (at, value) in enumerate(own.items(), start=1)
    ]
    return filing, tuple(items)


def one_line(*reports: tuple[Filing, tuple[LineItem, ...]]) -> tuple[dict[int, float], set[int]]:
    """The figures by year that :func:`in_one_line` makes of the first rows of reports, and those of other rows."""
    operands = [
        Operand(f"n{f.fiscal_year}", "acme", "net_income", Period(f.fiscal_year or 0, "FY"), "net income")
        for f, _ in reports
    ]
    series = {
        operand.period: found_in(operand, filing, items[0], items[0].value)
        for operand, (filing, items) in zip(operands, reports, strict=True)
    }
    by_id = {filing.filing_id: items for filing, items in reports}
    found, others = in_one_line(series, operands, [filing for filing, _ in reports], by_id)
    return {p.year: f.value / 1e6 for p, f in found.items()}, {p.year for p in others}


def test_net_income_is_not_mixed_with_that_of_the_parent() -> None:
    """The last report begins to print net income before noncontrolling interests."""
    reports = (
        report(2020, {"Net income attributable to Acme": {2020: 512}}),
        report(2021, {"Net income attributable to Acme": {2021: 1906, 2020: 512}}),
        report(2022, {"Net income": {2022: 1386}, "Net income attributable to Acme": {2022: 1316}}),
    )
    assert one_line(*reports) == ({2020: 512, 2021: 1906, 2022: 1316}, set())


def test_a_renamed_line_is_one_and_another_line_is_marked() -> None:
    renamed = (
        report(2020, {"Net sales": {2020: 10, 2019: 9}}),
        report(2021, {"Net sales": {2021: 11, 2020: 10}}),
        report(2022, {"Revenues": {2022: 12, 2021: 11}}),
    )
    assert one_line(*renamed) == ({2020: 10, 2021: 11, 2022: 12}, set())
    other = (*renamed[:2], report(2022, {"Revenues": {2022: 12, 2021: 11.5}}))
    assert one_line(*other) == ({2020: 10, 2021: 11, 2022: 12}, {2022})


def test_words_for_a_loss_do_not_make_another_row() -> None:
    reports = (
        report(2020, {"Operating income": {2020: 6142}}),
        report(2021, {"Operating income/(loss)": {2021: -10220, 2020: 5601}}),
        report(2022, {"Operating income/(loss)": {2022: 3070, 2021: -10220}}),
    )
    assert one_line(*reports)[0] == {2020: 6142, 2021: -10220, 2022: 3070}
    loss = replace(reports[0][1][0], label="Operating (loss) income")
    assert one_line((reports[0][0], (loss,)), *reports[1:])[1] == set()
