"""Answers scored as in arXiv 2602.17981, section 3.4."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.evaluation.generated import answer_rouge_l, number_set, number_sets_match


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("$1616.00", {1616.0}),  # table 1
        ("net AR is $1,615.9 million (2019: 1,864.3)", {1615.9, 2019.0, 1864.3}),
        ("-12.5% or €.5", {-12.5, 0.5}),
        ("fiscal 2019-2020, page A-12", {2019.0, 2020.0, 12.0}),
        ("no figure", set()),
    ],
)
def test_numbers_without_commas_and_currencies(text: str, numbers: set[float]) -> None:
    assert number_set(text) == numbers


@pytest.mark.parametrize(
    ("answer", "reference", "matches"),
    [
        ("Trade receivables, net were $1,615.9 million.", "$1616.00", True),
        ("It was 1.6 billion", "$1616.00", False),
        ("103.02", "100", True),  # atol + rtol * |reference| = 3.03
        ("103.1", "100", False),
        ("97.1", "100", True),
        ("In 2020 it was 5", "2020: 24.26", True),  # any pair counts, as published
        ("none", "3", False),
        ("3", "none", False),
    ],
)
def test_any_pair_within_the_tolerance(answer: str, reference: str, matches: bool) -> None:
    assert number_sets_match(answer, reference) == matches


def test_rouge_l_of_the_whole_answer() -> None:
    assert answer_rouge_l("Revenue rose by 5%", "revenue rose by 5%") == 1.0
    assert answer_rouge_l("a b c d", "a x c") == pytest.approx(2 * 2 / 7)
    assert answer_rouge_l("", "a") == 0.0


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_scored(answer: str, reference: str) -> None:
    assert 0.0 <= answer_rouge_l(answer, reference) <= 1.0
    assert isinstance(number_sets_match(answer, reference), bool)
