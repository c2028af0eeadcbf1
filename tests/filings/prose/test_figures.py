"""The figures that sentences state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.prose.figures import prose_figures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We paid a civil penalty of $62 million.", [(62e6, "USD")]),
        ("The swingline commitment is €60,000,000.", [(60e6, "EUR")]),
        ("We own approximately 16.4% of ICU Medical.", [(16.4, "percent")]),
        ("About five percent of our employees left.", [(5.0, "percent")]),
        ("The exchange price is $171.78 per share of common stock.", [(171.78, "USD/share")]),
        ("A dividend of 12.25 cents per share was paid.", [(0.1225, "USD/share")]),
        ("There were 44 million shares available.", [(44e6, "shares")]),
        ("There were 105,788 registered holders of record.", [(105_788.0, "count")]),
        ("A 110-year replacement cycle is expected.", [(110.0, "count")]),
        ("We operate twenty-six plants.", [(26.0, "count")]),
    ],
)
def test_value_and_unit(text: str, expected: list[tuple[float, str]]) -> None:
    found = prose_figures(text)
    assert [figure.unit for figure in found] == [unit for _, unit in expected]
    assert [figure.value for figure in found] == pytest.approx([value for value, _ in expected])


@pytest.mark.parametrize(
    "text",
    [
        "The agreement of June 30, 2022 ends on 30 June 2027.",
        "See Note 12 and Item 7 of this Form 10-K.",
        "Sections 4-9 and Rule 15(a) apply under ASC 842.",
        "House Bill H414 passed in 2019.",
    ],
)
def test_dates_notes_and_names_are_not_figures(text: str) -> None:
    assert prose_figures(text) == ()


def test_figures_listed_respectively_are_of_their_years() -> None:
    text = "Costs were $5.1 billion, $4.4 billion and $4.1 billion for fiscal 2025, 2024 and 2023, respectively."
    assert [(figure.value, figure.year) for figure in prose_figures(text)] == [
        (5.1e9, 2025), (4.4e9, 2024), (4.1e9, 2023),
    ]  # fmt: skip


def test_without_a_list_the_next_year_counts() -> None:
    text = "In 2023 we received dividends of $314 million in 2022 and $166 million in 2021."
    assert [figure.year for figure in prose_figures(text)] == [2022, 2021]
    assert [figure.year for figure in prose_figures("At January 1, 2022, we had $9 million of cash.")] == [2022]


@given(st.text(alphabet=st.sampled_from("0123456789,.$%()- ¢€mMjJuneperchashrx\n"), max_size=300))
def test_any_text_is_read(text: str) -> None:
    for figure in prose_figures(text):
        assert 0 <= figure.start < figure.end <= len(text)
        assert figure.value >= 0


def test_times_of_day_are_not_figures() -> None:
    assert prose_figures("Clubs are open Monday through Friday from 10:00 a.m. to 8:30 p.m. for all members.") == ()
