from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import UsageError
from finray.lab.training.fine_tuning.corpus import TrainingQuestion
from finray.lab.training.fine_tuning.folds import folds_by_document, held_out


def question(qid: str, *documents: str) -> TrainingQuestion:
    return TrainingQuestion(qid, "?", "s", documents, ("gold",), frozenset())


@given(
    st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=2), min_size=1, max_size=30),
    st.integers(2, 4),
    st.integers(0, 3),
)
def test_no_document_is_in_two_folds(documents: list[set[str]], folds: int, seed: int) -> None:
    questions = [question(str(number), *sorted(names)) for number, names in enumerate(documents)]
    try:
        parts = folds_by_document(questions, folds, seed)
    except UsageError:
        return
    assert sorted(q.qid for part in parts for q in part) == sorted(q.qid for q in questions)
    seen = [{d for q in part for d in q.documents} for part in parts]
    assert sum(map(len, seen)) == len(set().union(*seen))
    assert all(parts)


def test_questions_on_two_filings_tie_these_together() -> None:
    tied = [question("1", "a"), question("2", "a", "b"), question("3", "b"), question("4", "c")]
    parts = folds_by_document(tied, 2, seed=0)
    assert sorted([q.qid for q in part] for part in parts) == [["1", "2", "3"], ["4"]]
    with pytest.raises(UsageError, match=r"3 folds need at least 3 groups.*4 questions make 2"):
        folds_by_document(tied, 3, seed=0)


def test_a_share_is_held_out_by_whole_documents() -> None:
    questions = [question(str(number), f"d{number // 2}") for number in range(40)]
    learn, test = held_out(questions, 0.1, seed=1)
    assert len(test) == 4
    assert not {d for q in learn for d in q.documents} & {d for q in test for d in q.documents}
    assert held_out(questions, 0.1, seed=1) == (learn, test)
    assert held_out(questions, 0.0, seed=1) == (questions, [])
