"""BLEU and ROUGE-L against values worked out by hand and a plain implementation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.evaluation.overlap import Reference, bleu, rouge_l, tokens

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_tokens_are_words_and_numbers() -> None:
    assert tokens("Net Sales: $1,234.5 (2019)\nÜber_x") == ("net", "sales", "1,234.5", "2019", "über", "x")


def test_bleu_by_hand() -> None:
    # 1-grams 3/4; 2-grams (2+1)/(3+1); 3-grams (1+1)/(2+1); 4-grams (0+1)/(1+1); no brevity penalty
    assert bleu(list("abcx"), Reference(list("abcd"))) == pytest.approx((3 / 4 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    # a candidate of half the length pays exp(1 - 4/2)
    assert bleu(list("ab"), Reference(list("abcd"))) == pytest.approx(math.exp(-1))


def test_rouge_l_by_hand() -> None:
    # the example of Lin (2004): "police the gunman" is common to 4 and 4 words
    first, second = tokens("police killed the gunman"), tokens("police kill the gunman")
    assert rouge_l(first, Reference(second)) == pytest.approx(3 / 4)
    assert rouge_l(list("abcde"), Reference(list("bd"))) == pytest.approx(2 * 2 / 7)


@given(WORDS, WORDS)
def test_bounds_and_identity(first: list[str], second: list[str]) -> None:
    for measure in (bleu, rouge_l):
        assert 0.0 <= measure(first, Reference(second)) <= 1.0
        assert measure(first, Reference(first)) == pytest.approx(1.0 if first else 0.0)
    assert rouge_l(first, Reference(second)) == rouge_l(second, Reference(first))


@given(WORDS, WORDS)
def test_rouge_l_agrees_with_the_textbook_table(first: list[str], second: list[str]) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    common = table[-1][-1]
    expected = 2 * common / (len(first) + len(second)) if common else 0.0
    assert rouge_l(first, Reference(second)) == pytest.approx(expected)
