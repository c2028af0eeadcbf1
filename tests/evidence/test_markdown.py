"""Hostile text in cells, lines and headings."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from finray.evidence import markdown

HOSTILE = st.text(alphabet=st.sampled_from("a1|\\`<>*_#[]\n\r\t\u2028\u202e\x00&é "), max_size=60)


def _cells(line: str) -> list[str]:
    """The cells of a row, as a reader of Markdown splits it."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


@given(st.lists(st.lists(HOSTILE, min_size=3, max_size=3), max_size=5))
def test_no_cell_breaks_its_row(rows: list[list[str]]) -> None:
    lines = markdown.table(["a", "b", "c"], rows).split("\n")
    assert len(lines) == 2 + len(rows)
    assert all(len(_cells(line)) == 3 for line in lines)


@given(HOSTILE)
def test_nothing_begins_a_tag_or_code(text: str) -> None:
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`]", markdown.plain(text))
    assert "\n" not in markdown.plain(text)


@given(HOSTILE, HOSTILE)
def test_a_heading_is_one_line(title: str, note: str) -> None:
    assert "\n" not in markdown.heading(title, note)


def test_a_long_cell_is_cut() -> None:
    assert markdown.cell("x" * 1_000).endswith("…")
    assert len(markdown.cell("x" * 1_000)) < 2 * markdown.MAX_CELL


def test_figures_stay_as_printed() -> None:
    assert markdown.row(["Net income (loss)", "$(1,234)", "12.5%"]) == "|Net income (loss)|$(1,234)|12.5%|"
