"""Terms on pages, found in arrays of hashes as they would be in sets of words."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.terms import content_terms
from finray.retrieval.filing_pages import PageText
from finray.retrieval.found_terms import FoundTerms

WORDS = st.sampled_from(["revenue", "tax", "lease", "2024", "|", "1,234", "$ 5", "\n", "\n\n", "—"])
TEXT = st.lists(WORDS, max_size=25).map(" ".join)
WEIGHTS = {"revenu": 0.5, "tax": 0.3, "leas": 0.2}


@given(st.lists(TEXT, max_size=5))
def test_terms_are_found_as_by_reading_each_page(texts: list[str]) -> None:
    found = FoundTerms([PageText(text) for text in texts], WEIGHTS)
    for term in WEIGHTS:
        assert found.pages(term).tolist() == [at for at, text in enumerate(texts) if term in content_terms(text)]
    pairs = [set(pairwise(terms)) for terms in map(content_terms, texts)]
    assert found.has_pair("revenu", "tax").tolist() == [("revenu", "tax") in each for each in pairs]
    best, rows = found.best_lines(WEIGHTS)
    assert best == pytest.approx([max(map(_weight, text.split("\n"))) for text in texts])
    expected = [
        max((_weight(line) for at, line in enumerate(text.split("\n")) if _is_row(text, at)), default=0.0)
        for text in texts
    ]
    assert rows == pytest.approx(np.asarray(expected))


def _weight(line: str) -> float:
    return sum(WEIGHTS.get(term, 0.0) for term in set(content_terms(line)))


def test_a_row_has_its_figure_in_the_line_or_in_the_next() -> None:
    html, pdf = "Net sales | 1,234 |\nprose", "Net sales\n1,234\nprose"
    assert [_is_row(html, 0), _is_row(html, 1)] == [True, False]
    assert [_is_row(pdf, 0), _is_row(pdf, 2)] == [True, False]
    assert PageText(pdf).first_row([2, 0]) == 0


def _is_row(text: str, number: int) -> bool:
    return PageText(text).first_row([number]) == number


@given(st.text(alphabet="2024 ,_a-", max_size=20))
def test_a_year_is_a_word_of_its_own(text: str) -> None:
    assert PageText(text).has_number("2024") == (re.search(r"\b2024\b", text) is not None)
