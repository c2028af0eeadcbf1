"""The pieces of sentences: figures, periods, and words between."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.prose.periods import pieces_of, runs


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("in fiscal 2025 and 2024", ["in fiscal 2025", "in fiscal 2024"]),
        ("at December 2, 2022 and December 3, 2021", ["at December 2, 2022", "at December 3, 2021"]),
        ("in the third quarter of 2024 and in 2023", ["in the third quarter of 2024", "in 2023"]),
        ("the years ended June 30, 2025, 2024 and 2023", [f"the years ended June 30, {y}" for y in (2025, 2024, 2023)]),
        ("for 2025, and costs of $2 million for 2024", ["for 2025", "for 2024"]),
    ],
)
def test_periods_are_named_in_full(text: str, headers: list[str]) -> None:
    assert [piece.header for piece in pieces_of(text) if piece.kind == "period"] == headers


def test_text_in_parentheses_is_left_out() -> None:
    pieces = pieces_of("$5 million ($3 million net) and $4 million")
    assert [piece.figure.value for piece in pieces if piece.figure is not None] == [5e6, 4e6]
    assert runs(pieces, "figure") == [[0, 2]]


def test_counts_in_words_are_not_figures() -> None:
    assert not any(piece.kind == "figure" for piece in pieces_of("for the three and six months ended June 30, 2025"))


@given(st.text(alphabet=st.sampled_from("0129,.$%() adinJue-;&"), max_size=150))
def test_pieces_stand_in_order(text: str) -> None:
    pieces = pieces_of(text)
    assert all(before.end <= after.start for before, after in itertools.pairwise(pieces))
