"""From a filing to the answer: currencies, dashes, registrants of combined reports, tables that go on over a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import finray
from finray.core.predictions import Prediction
from finray.core.settings import load_settings
from finray.index.job.in_process import index_in_process

BREAK = '<hr style="page-break-after:always"/>'
COVER = """<p>SECURITIES AND EXCHANGE COMMISSION</p><p>FORM {form}</p><p>ANNUAL REPORT</p>
<p>For the fiscal year ended December 31, 2024</p><p>Commission File Number 1-7100</p>
<p>{name}</p><p>(Exact name of registrant as specified in its charter)</p><p>Norway</p>"""
HEADS = "<tr><td></td><td>2024</td><td>2023</td><td>2022</td></tr>"
Ask = Callable[[str], Prediction]


def rows(*lines: str) -> str:
    """Rows of a table: cells separated by "|"."""
    cells = ("".join(f"<td>{cell.strip()}</td>" for cell in line.split("|")) for line in lines)
    return "".join(f"<tr>{row}</tr>" for row in cells)


def income(*head: str, name: str = "", revenue: str = "5,410 | 5,120 | 4,980", net: str = "610 | 540 | 505") -> str:
    """A statement of operations with lines above its table."""
    above = "".join(f"<p>{line}</p>" for line in (name, "CONSOLIDATED STATEMENTS OF OPERATIONS", *head) if line)
    body = rows(
        f"Total revenues | {revenue}", "Gain on sale of business | — | 35 | —", "Operating income | 900 | 850 | 800"
    )
    return f"{above}<p>Year ended December 31,</p><table>{HEADS}{body}{rows(f'Net income | {net}')}</table>"


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[str, str, str], Ask]:
    """Indexes one report of a company, given its form and pages, and returns a way to ask it."""

    def index(name: str, form: str, pages: str) -> Ask:
        html = f"<html><body>{COVER.format(form=form, name=name)}{BREAK}{pages}</body></html>"
        (tmp_path / "report.htm").write_text(html, encoding="utf-8")
        settings = load_settings("local", overrides={"encoder.model": "hash"}, environment={})
        assert not index_in_process([str(tmp_path / "report.htm")], str(tmp_path / "index"), settings).failures
        return finray.open_index(str(tmp_path / "index"), settings).ask

    return index


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        ("(In millions of Norwegian kroner)", "NOK"),
        ("(Expressed in thousands of Canadian dollars)", "CAD"),
        ("(in millions of Swiss francs)", "CHF"),
        ("(In millions of Brazilian reais)", "BRL"),
        ("(in millions)", "XXX"),
    ],
)
def test_amounts_have_the_currency_that_the_statement_states(
    asked: Callable[[str, str, str], Ask], head: str, unit: str
) -> None:
    prediction = asked("FJELLVIK MARINE ASA", "20-F", income(head))("What was Fjellvik Marine's revenue in 2024?")
    assert prediction.unit == unit
    assert "$" not in prediction.answer
    if unit == "XXX":
        assert "currency" in prediction.answer


def test_a_domestic_report_is_in_dollars(asked: Callable[[str, str, str], Ask]) -> None:
    prediction = asked("HARLOCK MILLS INC", "10-K", income("(in millions)"))("What was Harlock Mills' revenue in 2024?")
    assert (prediction.value, prediction.unit) == (5_410e6, "USD")


def test_a_dash_is_said_and_a_change_from_it_counts_it_as_zero(asked: Callable[[str, str, str], Ask]) -> None:
    ask = asked("HARLOCK MILLS INC", "10-K", income("(in millions)"))
    none = ask("What was Harlock Mills' gain on sale of business in 2024?")
    assert none.value == 0
    assert none.answer.startswith("The filing shows no amount (—) for FY 2024")
    assert none.operands[0].text == "—"
    assert ask("What was Harlock Mills' gain on sale of business in 2023?").value == 35e6


def test_each_statement_of_a_combined_report_is_its_registrants(asked: Callable[[str, str, str], Ask]) -> None:
    parent = income("(in millions)", name="Torvane Energy Corporation and Subsidiaries")
    part = income("(in millions)", name="Torvane Gas Company", revenue="1,250 | 1,200 | 1,150", net="140 | 130 | 120")
    ask = asked("TORVANE ENERGY CORPORATION", "10-K", f"{part}{BREAK}{parent}")
    assert ask("What was Torvane Energy Corporation's net income in 2024?").value == 610e6
    subsidiary = ask("What was Torvane Gas Company's net income in 2024?")
    assert subsidiary.value in (140e6, None)
    if subsidiary.value is not None:
        assert "Torvane Gas" in subsidiary.answer


def test_a_table_that_goes_on_keeps_its_years_and_scale(asked: Callable[[str, str, str], Ask]) -> None:
    first = income("(in thousands)")
    flows = (
        f"<p>CONSOLIDATED STATEMENTS OF CASH FLOWS</p><p>(in thousands)</p><p>Year ended December 31,</p><table>{HEADS}"
    )
    top = rows("Net income | 610 | 540 | 505", "Depreciation and amortization | 210 | 205 | 201")
    rest = rows(
        "Purchases of property and equipment | (310) | (288) | (255)",
        "Dividends paid | (95) | (90) | (84)",
        "Net decrease in cash | (12) | (9) | (4)",
    )
    pages = f"{first}{BREAK}{flows}{top}</table>{BREAK}<table>{rest}</table>"
    ask = asked("HARLOCK MILLS INC", "10-K", pages)
    assert ask("What were Harlock Mills' dividends paid in 2022?").value == 84e3
    assert ask("What were Harlock Mills' capital expenditures in 2023?").value == 288e3


@pytest.mark.parametrize(
    ("cell", "said"),
    [("N/A", "prints 'N/A'"), ("NM", "prints 'NM'"), ("Not applicable", "prints 'Not applicable'"), ("", "blank")],
)
@pytest.mark.parametrize("line", ["Impairment of goodwill", "Gain on sale of vessels", "Restructuring charges"])
def test_what_stands_in_place_of_a_figure_is_said(
    asked: Callable[[str, str, str], Ask], line: str, cell: str, said: str
) -> None:
    table = rows("Total revenues | 5,410 | 5,120 | 4,980", f"{line} | {cell} | 35 | 28", "Net income | 610 | 540 | 505")
    page = f"<p>CONSOLIDATED STATEMENTS OF OPERATIONS</p><p>(in millions)</p><table>{HEADS}{table}</table>"
    ask = asked("HARLOCK MILLS INC", "10-K", page)
    prediction = ask(f"What was Harlock Mills' {line.lower()} in fiscal 2024?")
    assert (prediction.status, prediction.value) == ("unanswerable", None)
    assert said in prediction.answer
    assert ask(f"What was Harlock Mills' {line.lower()} in fiscal 2023?").value == 35e6
