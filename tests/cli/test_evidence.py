"""Rendered evidence at a terminal."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from finray.cli.evidence import cells, shown_block
from finray.core.passages import RenderedBlock
from finray.evidence import markdown

TEXT = """**Consolidated Statement of Cash Flows** (in millions)
|USD millions, 12 months to|Dec 2017|Dec 2016|
|---|---:|---:|
|Operating Activities|||
|Net income [red]of which[/red] \\| a|$4,908|$6,379|
|Restructuring and impairment charges and other items that take more than a line|(295)|160|
… 3 rows left out"""


def _printed(text: str) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=False)
    for each in shown_block(RenderedBlock("e1", "D", "F", 1, "table", "h", text)):
        console.print(each, highlight=False, markup=False)
    return [line.rstrip() for line in out.getvalue().split("\n")]


def test_tables_are_aligned_on_eighty_columns() -> None:
    lines = _printed(TEXT)
    assert max(map(len, lines)) <= 80
    ends = {line.index(figure) + len(figure) for line in lines for figure in ("$4,908", "(295)") if figure in line}
    assert len(ends) == 1
    assert "  … 3 rows left out" in lines


def test_text_of_filings_is_printed_as_it_is() -> None:
    assert any("Net income [red]of which[/red] | a" in line for line in _printed(TEXT))


@given(st.lists(st.text(alphabet=st.sampled_from("a1|\\`<>*[ "), max_size=20), min_size=1, max_size=5))
def test_cells_are_read_as_they_were_written(texts: list[str]) -> None:
    assert cells(markdown.row(texts)) == [" ".join(text.split()) for text in texts]


@given(st.text(alphabet=st.sampled_from("a1|\\`<>*[-:\n "), max_size=200))
def test_any_text_can_be_shown(text: str) -> None:
    _printed(text)
