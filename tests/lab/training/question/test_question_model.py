"""The fit of the question model, on a few questions and metrics."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.lab.training.question.marked_questions import MarkedQuestion, marked_questions
from finray.lab.training.question.metric_examples import MetricPhrase, phrases, read_wordings
from finray.lab.training.question.question_model import (
    Named,
    Tagged,
    fine_tune,
    metrics_of,
    named,
    operation_accuracy,
    save_model,
    shares,
    tagged,
    threshold,
    word_f1,
)
from finray.models.bert.tokens import placed_tokens
from finray.models.bert.weights import read_weights
from finray.models.question_model import LABELS, WEIGHTS, MetricLabels, QuestionModel
from tests.lab.training.question.test_marked_questions import QUESTIONS
from tests.lab.training.question.test_metric_examples import WORDINGS

FEW = ("inventory", "goodwill", "eps_diluted")


def _tagged(questions: list[MarkedQuestion]) -> list[Tagged]:
    return tagged(questions, lambda _: [[], [], [], []])


@pytest.mark.slow
def test_a_fit_learns_words_operations_and_metrics(tmp_path: Path) -> None:
    wordings = [each for each in read_wordings(WORDINGS) if each.metric in FEW and each.writer == "lay"]
    metrics, known = metrics_of(wordings), list(phrases(wordings))[::8]
    asked = _tagged(marked_questions(QUESTIONS)[::150])
    unmarked = _tagged([MarkedQuestion("Why did sales fall?", None, "words", "table_questions")])
    state = fine_tune(asked, unmarked, known, metrics, steps=25)
    model = QuestionModel(state, MetricLabels(metrics, 0.0))
    assert np.mean(word_f1(model, asked)) > 0.3
    assert operation_accuracy(model, unmarked) == [1.0]
    right = [each.metric == each.phrase.metric for each in named(model, known) if each.phrase.metric != "none"]
    assert np.mean(right) > 0.6

    save_model(state, MetricLabels(metrics, 0.5), tmp_path)
    assert json.loads((tmp_path / LABELS).read_text())["metrics"] == list(metrics)
    assert (tmp_path / WEIGHTS).stat().st_size < 8_000_000
    with (tmp_path / WEIGHTS).open("rb") as file:
        again = QuestionModel(read_weights(file), MetricLabels(metrics, 0.5))
    ids, _ = placed_tokens("goods on the shelves")
    np.testing.assert_allclose(again.phrase(ids), model.phrase(ids), atol=0.2)


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="marked questions"):
        fine_tune([], [], [], ("none",), steps=1)


def test_tags_follow_the_pieces_of_a_quantity() -> None:
    question = MarkedQuestion("rent of Europe over sales", (("rent", "Europe"), ("sales",)), "ratio", "x")
    (found,) = _tagged([question])
    assert found.tags is not None
    assert list(found.tags) == [1, 0, 1, 0, 3]


def _named(metric: str, probability: float, *, asked: str = "none") -> Named:
    return Named(MetricPhrase("q", asked, "phrase", "lay"), metric, probability)


def test_the_threshold_lets_few_other_figures_pass() -> None:
    found = [_named("inventory", number / 100) for number in range(100)]
    least = threshold(found, most_wrong=0.05)
    assert sum(each.probability >= least for each in found) == 5


def test_shares_tell_right_from_wrong() -> None:
    found = shares(
        [
            _named("inventory", 0.9, asked="inventory"),
            _named("goodwill", 0.9, asked="inventory"),
            _named("goodwill", 0.2),
        ],
        0.5,
    )
    assert found["phrase"] == ([1.0, 0.0], [0.0, 1.0])
    assert found["phrase, another figure"] == ([0.0], [0.0])
