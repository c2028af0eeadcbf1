"""Figures that sentences list by period."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.prose.series import prose_series


def _read(text: str) -> list[tuple[str, list[tuple[float, str]]]]:
    return [
        (series.label, [(figure.value, period) for figure, period in zip(series.figures, series.periods, strict=True)])
        for series in prose_series(text)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Rent expense was $17 million, $15 million and $12 million in 2025, 2024 and 2023, respectively.",
        "Rent expense was $17, $15 and $12 million for 2025, 2024 and 2023.",
        "In 2025, 2024 and 2023, rent expense was approximately $17 million, $15 million, and $12 million.",
        "Rent expense was $17 million in 2025, $15 million in 2024 and $12 million in 2023.",
        "Rent expense (including that of stores) was $17 million ($3 million net) in 2025, $15 million in 2024, and "
        "$12 million in 2023.",
    ],
)
def test_figures_are_of_the_periods_in_their_place(text: str) -> None:
    ((label, figures),) = _read(text)
    assert label.lower().startswith("rent expense")
    assert [value for value, _ in figures] == pytest.approx([17e6, 15e6, 12e6])
    assert [period[-4:] for _, period in figures] == ["2025", "2024", "2023"]


def test_periods_of_a_list_share_their_words() -> None:
    text = "Costs were $5 million and $4 million for the three months ended June 30, 2025 and 2024, respectively."
    ((_, figures),) = _read(text)
    assert [period for _, period in figures] == [
        "for the three months ended June 30, 2025", "for the three months ended June 30, 2024",
    ]  # fmt: skip


def test_the_day_of_each_balance_is_kept() -> None:
    text = "The allowance was $23 million and $16 million as of December 2, 2022 and December 3, 2021, respectively."
    ((label, figures),) = _read(text)
    assert label == "allowance"
    assert [period for _, period in figures] == ["as of December 2, 2022", "as of December 3, 2021"]


def test_two_lists_of_one_sentence_are_two_series() -> None:
    text = (
        "Short-term borrowings as of January 31, 2020 and 2019 were $0.6 billion and $5.2 billion, respectively, with "
        "weighted-average interest rates of 5.0% and 2.7%, respectively."
    )
    assert [(label, [value for value, _ in figures]) for label, figures in _read(text)] == [
        ("Short-term borrowings", [6e8, 5.2e9]),
        ("weighted-average interest rates", [5.0, 2.7]),
    ]


def test_a_list_without_words_of_its_own_goes_on_with_those_before() -> None:
    text = (
        "Legal expense was $420 million and $73 million for the three months ended June 30, 2023 and 2022, and "
        "$596 million and $192 million for the six months ended June 30, 2023 and 2022, respectively."
    )
    first, second = _read(text)
    assert first[0] == second[0] == "Legal expense"
    assert "six months" in second[1][0][1]


def test_words_after_the_figures_name_them_too() -> None:
    ((label, _),) = _read("At June 30, 2025 and 2024, we had $4.9 billion and $5.2 billion of unused credit lines.")
    assert label == "unused credit lines"


@pytest.mark.parametrize(
    "text",
    [
        "We bought 3.5 billion shares for $17.25 each from 1984 through December 31, 2019.",
        "In October 2018, we replaced our $1 billion facility of March 2012 by one of $2 billion.",
        "The lines mature between May 2020 and May 2024 and cost between 1.5 and 4.0 basis points.",
        "The table shows maturities for the three and six months ended June 30, 2021 and 2020.",
        "See Notes 3 and 4 of the reports for 2021 and 2020.",
        "Revenue rose $393 million, or 3.2%, in 2021.",
    ],
)
def test_other_sentences_list_nothing(text: str) -> None:
    assert _read(text) == []


@given(st.text(alphabet=st.sampled_from("0129,.$%() adinJue2-;"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    for series in prose_series(text):
        assert len(series.figures) == len(series.periods) >= 2
        assert all(text[figure.start : figure.end] for figure in series.figures)
