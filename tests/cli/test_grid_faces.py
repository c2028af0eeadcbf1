"""A grid as the table that people are shown."""

from __future__ import annotations

import io

from rich.console import Console

from finray.api.chat_messages import chat_message
from finray.batch.answer_sheets import GRID_COLUMNS, grid_rows
from finray.cli.ask import shown
from finray.core.grid import Grid, GridCell
from finray.core.predictions import CitedCell, Prediction
from finray.filings.pages.page_links import PageLinks

CELLS = (
    GridCell("Acme | Co", "FY 2021", "capex", 5e6, "USD", "$5 million", ("x",), "Capital [spending]"),
    GridCell("Acme | Co", "FY 2022", "capex", 6e6, "USD", "$6 million", ("y",), "Purchases", other_row=True),
    GridCell("Boeing", "FY 2021", "capex", reason="the index has no filing of it"),
    GridCell("Boeing", "FY 2022", "capex", reason="the index has no filing of it"),
)
GRID = Grid(("Acme | Co", "Boeing"), ("FY 2021", "FY 2022"), ("capex",), CELLS)
OPERANDS = (
    CitedCell("x", 5e6, "ACME_2021", "f", 3, "Capital [spending]", "(5)"),
    CitedCell("y", 6e6, "ACME_2022", "g", 4, "Purchases", "(6)"),
)
PREDICTION = Prediction("q", "?", "figures", "answered", operands=OPERANDS, grid=GRID)


def test_markdown_has_a_row_for_each_company_and_a_mark_for_another_line() -> None:
    head, rule, *rows = GRID.markdown().splitlines()
    assert (head, rule) == ("| | FY 2021 | FY 2022 |", "|---|---:|---:|")
    assert [row.split("|", 3)[1:] for row in rows] == [
        [" Acme / Co, capex ", " $5 million ", " $6 million† |"],
        [" Boeing, capex ", " no figure ", " no figure |"],
    ]


def test_chat_shows_the_table_the_rows_and_what_is_missing_without_links_from_filings() -> None:
    content = chat_message(PREDICTION, {}, "http://localhost").content
    assert GRID.markdown() in content
    assert "Acme | Co, capex: “Capital \\[spending\\]”" in content
    assert "No figure: capex of Boeing for FY 2021: the index has no filing of it" in content


def test_the_terminal_shows_the_table() -> None:
    console = Console(record=True, width=120, file=io.StringIO())
    console.print(*shown(PREDICTION))
    text = console.export_text()
    assert "2 of 4 figures" in text
    assert "$6 million †" in text
    assert "no figure  capex of Boeing for FY 2022" in text


def test_a_sheet_has_a_row_for_each_figure_with_its_page() -> None:
    first, *_, last = grid_rows(PREDICTION, PageLinks({}))
    assert len(first) == len(last) == len(GRID_COLUMNS)
    assert first[9:11] == ["ACME_2021", 4]
    assert (last[5], last[-1]) == (None, "the index has no filing of it")
    assert list(grid_rows(Prediction("q", "?", "5", "answered"), PageLinks({}))) == []
