"""Panels: templates over companies and years."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

import finray
from finray.batch.company_files import read_companies
from finray.batch.panels import Panel, PanelTable, read_years
from finray.cli import app
from finray.core.errors import SourceError, UsageError
from finray.core.filing import Filing
from finray.core.grid import Grid, GridCell
from finray.core.predictions import CitedCell, Prediction
from finray.engine import Engine
from finray.filings.pages.page_links import PageLinks
from finray.storage.sheets import Styled
from tests.weightless import OPTIONS

CAPEX = "{company}: capital expenditure in fiscal {year}"


def test_a_question_for_each_company_year_and_metric() -> None:
    panel = Panel.of([CAPEX, "sales = What was {company}'s revenue in {year}?"], ["A", "B {year}"], [2020, 2021])
    texts = [question.question for question in panel.questions()]
    assert len(texts) == len({question.qid for question in panel.questions()}) == 8
    assert texts[:2] == ["A: capital expenditure in fiscal 2020", "What was A's revenue in 2020?"]
    assert texts[-1] == "What was B {year}'s revenue in 2021?"
    assert list(panel.metrics) == ["capital expenditure", "sales"]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        (CAPEX, "capital expenditure"),
        ("What was {company}'s net income in fiscal year {year}?", "net income"),
        ("What were the total assets of {company} at the end of FY{year}?", "total assets of"),
        ("How many employees did {company} have in {year}?", "How many employees did have"),
        ("debt = {company}: debt for {year}", "debt"),
        ("{company} {year}", "{company} {year}"),
    ],
)
def test_columns_are_called_what_remains(template: str, name: str) -> None:
    assert list(Panel.of([template], ["A"], [2020]).metrics) == [name]


def test_metrics_fill_one_template() -> None:
    panel = Panel.of(["{company}: {metric} in fiscal {year}"], ["A"], [2020], ["revenue", "capex"])
    assert [question.question for question in panel.questions()] == [
        "A: revenue in fiscal 2020",
        "A: capex in fiscal 2020",
    ]


@pytest.mark.parametrize(
    ("templates", "companies", "message"),
    [
        (["{company}: revenue"], ["A"], r"has no \{year\}"),
        (["{firm} {company} {year}"], ["A"], r"\{firm\} is unknown; it can use \{company\}, \{year\}, \{metric\}"),
        (["{company}: {metric} in {year}"], ["A"], "name the metrics by --metric"),
        ([CAPEX], [], "at least a company"),
        ([], ["A"], "at least a template"),
        (["x = {company} {year}", "x = {company}: {year}"], ["A"], "two templates are called 'x'"),
        ([CAPEX], [f"c{number}" for number in range(20_000)], "a panel of 2,000,000 questions"),
    ],
)
def test_wrong_panels_are_refused(templates: list[str], companies: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Panel.of(templates, companies, range(1900, 2000))


def test_years() -> None:
    assert read_years("2018-2020, 2016,2019") == (2018, 2019, 2020, 2016)
    for wrong in ("", "2020-2018", "20", "1000-2000", "x"):
        with pytest.raises(UsageError, match="write them as"):
            read_years(wrong)


def test_companies_from_a_file(tmp_path: Path) -> None:
    texts = {
        "a.txt": "Acme\n\nBeta, Inc.\nAcme\n",
        "b.csv": "ticker;Company\nAC;Acme\nBE;Beta, Inc.\n",
        "c.csv": "Acme\n",
    }
    found = {}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        found[name] = read_companies(str(tmp_path / name), 10_000)
    assert found == {"a.txt": ["Acme", "Beta, Inc."], "b.csv": ["Acme", "Beta, Inc."], "c.csv": ["Acme"]}
    book = openpyxl.Workbook()
    book.active.append(["Company"])
    book.active.append(["Acme"])
    book.save(tmp_path / "d.xlsx")
    assert read_companies(str(tmp_path / "d.xlsx"), 10**7) == ["Acme"]
    (tmp_path / "e.txt").write_text("\n")
    with pytest.raises(SourceError, match="names no company"):
        read_companies(str(tmp_path / "e.txt"), 10_000)


def test_the_table_has_values_units_and_reasons() -> None:
    panel = Panel.of([CAPEX, "sales = {company}: revenue in {year}"], ["Acme"], [2020, 2021])
    links = PageLinks({"f": Filing("f", "D", "/d.pdf", "", "Acme", "10-K")}, "https://host")
    table = PanelTable(panel, links)
    capex, sales, other, _ = panel.questions()
    cell = CitedCell("x", 5e6, "D", "f", 3, "Capex", "(5)")
    answered = Prediction(capex.qid, "", "5", "answered", 5e6, "USD", operands=(cell,), confidence=0.7)
    table.add(answered)
    table.add(replace(answered, qid=sales.qid, status="unanswerable", missing=("a filing on 2020",)))
    table.add(replace(answered, qid=other.qid, unit="EUR", confidence=0.9))
    table.add(replace(answered, qid="of another run"))
    assert [column.name for column in table.columns] == [
        "company", "fiscal year", "capital expenditure (USD, EUR)", "sales", "least confidence", "missing",
    ]  # fmt: skip
    link = "https://host/v1/filings/f/pages/3/image"
    assert list(table.rows()) == [
        ["Acme", 2020, Styled(5e6, '#,##0 "USD"', link), None, Styled(0.7, "0%"), "sales: a filing on 2020"],
        ["Acme", 2021, Styled(5e6, '#,##0 "EUR"', link), None, Styled(0.9, "0%"), "sales: not asked yet"],
    ]


def test_line_items_are_asked_once_for_all_years() -> None:
    why = "Why did {company}'s revenue change in {year}?"
    panel = Panel.of([CAPEX, why], ["A", "B"], [2020, 2021, 2022]).in_series()
    assert panel.series == {"capital expenditure"}
    assert [question.question for question in panel.questions()][:3] == [
        "A: capital expenditure in fiscal 2020, 2021 and 2022",
        "Why did A's revenue change in 2020?",
        "Why did A's revenue change in 2021?",
    ]
    assert len(panel.questions()) == 8
    # Two years are two questions: one over both asks for a change.
    assert not Panel.of([CAPEX], ["A"], [2020, 2021]).in_series().series


def test_a_grid_fills_the_years_of_a_panel() -> None:
    panel = Panel.of([CAPEX], ["Acme"], [2020, 2021, 2022]).in_series()
    table = PanelTable(panel, PageLinks({}))
    place = ("Acme", "capex")
    cells = (
        GridCell(place[0], "FY 2020", place[1], 5e6, "USD", "$5 million", ("x",), "Capex"),
        GridCell(place[0], "FY 2021", place[1], 6e6, "USD", "$6 million", ("y",), "Purchases", other_row=True),
        GridCell(place[0], "FY 2022", place[1], reason="no filing on FY 2022"),
    )
    grid = Grid(("Acme",), ("FY 2020", "FY 2021", "FY 2022"), ("capex",), cells)
    (question,) = panel.questions()
    table.add(Prediction(question.qid, "", "", "answered", confidence=0.7, grid=grid))
    rows = [(year, getattr(cell, "value", None), note) for _, year, cell, _, note in table.rows()]
    assert rows == [
        (2020, 5e6, None),
        (2021, 6e6, "capital expenditure: the row “Purchases” of 2021 may be another line"),
        (2022, None, "capital expenditure: no filing on FY 2022"),
    ]


def test_a_panel_of_the_sample(
    engine: Engine, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the command: values as numbers, a company that is not there with the reason, and a second run resumes."""
    from typer.testing import CliRunner

    class InThisProcess:
        def __init__(self, *_arguments: object, **_options: object) -> None:
            self.answer = engine.answer

        def close(self) -> None: ...

    monkeypatch.setattr("finray.cluster.bulk_run.QuestionEngine", InThisProcess)
    out = str(tmp_path / "panel.xlsx")
    command = [
        "panel", "{company}: {metric} in fiscal {year}", "--metric", "revenue", "--metric", "capital expenditure",
        "--company", "Grevandor Systems", "--company", "Zyxware", "--years", "2021-2022", "--index", sample_index,
        "--out", out, "--workers", "0", *OPTIONS,
    ]  # fmt: skip
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.output
    sheet = openpyxl.load_workbook(out)["panel"]
    assert sheet.freeze_panes == "C2"
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0][:4] == ("company", "fiscal year", "revenue (USD)", "capital expenditure (USD)")
    assert rows[2][:3] == ("Grevandor Systems", 2022, 1_408_729_000)
    assert isinstance(rows[2][3], (int, float))
    assert rows[3][:4] == ("Zyxware", 2021, None, None)
    assert rows[3][5].startswith("revenue, capital expenditure: filings of Zyxware")
    again = CliRunner().invoke(app, command)
    assert "(8 from an earlier run)" in again.output.replace("\n", " ")


def test_a_panel_needs_a_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a panel is written to \.xlsx or \.csv"):
        finray.answer_panel(Panel.of([CAPEX], ["A"], [2020]), "i", str(tmp_path / "p.jsonl"))
