"""The scale of amounts in sentences."""

from __future__ import annotations

import datetime as dt

import pytest

from finray.core.filing import LineItem
from finray.filings.pages.sentences import page_sentences
from finray.filings.prose.figures import prose_figures
from finray.filings.prose.scales import is_scaled, unspoken_scale

UNSCALED = "We paid a penalty of $62 to settle the investigation in 2023."
MILLIONS = LineItem(3, None, "Total", 1e6, "1", "USD", 10**6, dt.date(2024, 12, 31), 12)
A_SHARE = LineItem(3, None, "Dividend", 1.0, "1", "USD/share", 1, dt.date(2024, 12, 31), 12)


def _scale(text: str, *tables: LineItem) -> int:
    return unspoken_scale(text, (each.text for each in page_sentences(text, "")), tables)


@pytest.mark.parametrize(
    ("text", "scaled"),
    [("$62", False), ("$62 million", True), ("$1.2 billion", True), ("$1,250,000", True), ("$99,999", False)],
)
def test_a_word_of_scale_or_full_dollars(text: str, scaled: bool) -> None:
    assert is_scaled(prose_figures(text)[0], text) is scaled


def test_the_scale_is_that_of_the_tables_or_of_the_title() -> None:
    assert _scale(UNSCALED, MILLIONS, MILLIONS, A_SHARE) == 10**6
    assert _scale(f"Notes (in thousands)\n{UNSCALED}") == 10**3
    assert _scale(UNSCALED) == 1
    assert _scale(UNSCALED, A_SHARE) == 1


@pytest.mark.parametrize("other", ["$3 million", "$250,000", "$5,000"])
def test_one_amount_in_full_makes_the_others_plain_dollars(other: str) -> None:
    assert _scale(f"{UNSCALED} Its other costs came to {other} in the last quarter of that year.", MILLIONS) == 1
