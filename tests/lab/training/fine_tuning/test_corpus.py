from __future__ import annotations

from dataclasses import replace

import pytest

from finray.core.errors import UsageError
from finray.lab.training.fine_tuning.corpus import Corpus, LeftOut, joined, looks_like_a_table


def test_rows_of_numbers_are_a_table_and_prose_with_years_is_not() -> None:
    assert looks_like_a_table("Net sales | $1,496.5 | $1,202.9 | $1,107.7\n" * 4)
    assert not looks_like_a_table("In 2019 net sales rose by 12% to $3 million, after a fall in 2018. " * 5)
    assert not looks_like_a_table("2019 2018")


def test_the_digest_changes_with_a_text_and_with_a_label(corpus: Corpus) -> None:
    first, *others = corpus.questions
    asked_otherwise = replace(corpus, questions=(replace(first, gold=("revenue#2",)), *others))
    unit, *rest = corpus.units["debt"]
    reworded = replace(corpus, units={**corpus.units, "debt": (replace(unit, text="other"), *rest)})
    assert len({c.digest() for c in (corpus, asked_otherwise, reworded)}) == 3
    assert joined([corpus]).digest() == corpus.digest()


def test_an_empty_corpus_is_an_error_with_the_reason() -> None:
    empty = Corpus(units={}, sources={}, questions=(), left_out=(LeftOut("q1", "it has no evidence"),))
    with pytest.raises(UsageError, match="no question with evidence to learn from: it has no evidence"):
        joined([empty])
