"""What the question asks to be ranked, and the files of the fitted models."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from finray.answering.choice_model import Fitted, fitted_json
from finray.answering.rankings.asked import asked_ranking, shipped_ranking_heads
from finray.answering.rankings.block_features import BLOCK_FEATURES
from finray.answering.rankings.choice import SIGNALS, read_ranking_model, shipped_block_weights, shipped_ranking_model
from finray.answering.rankings.features import FEATURES
from finray.answering.rankings.ranking_answerer import LEAST_ASKED
from finray.core.errors import ModelUnavailableError
from finray.models.row_reader import row_reader


@pytest.mark.parametrize(
    ("question", "measured", "lowest", "periods"),
    [
        ("Which segment of Acme had the highest revenue in 2022?", "value", False, False),
        ("Which product line shrank the most in dollars at Acme between 2021 and 2022?", "difference", True, False),
        ("Which region of Acme grew fastest in percent in fiscal 2022?", "growth", False, False),
        ("In which quarter of 2022 was Acme's net income lowest?", "value", True, True),
    ],
)
def test_the_shipped_heads_read_what_is_ranked(question: str, measured: str, lowest: bool, periods: bool) -> None:
    asked = asked_ranking(shipped_ranking_heads(), row_reader().question_state(question))
    assert math.exp(asked.ranks) > 0.9
    assert max(asked.measured, key=lambda name: asked.measured[name]) == measured
    assert (asked.lowest > asked.highest) == lowest
    assert (asked.periods > asked.things) == periods


@pytest.mark.parametrize(
    "question",
    [
        "What was Acme's net income in 2022?",
        "By how much did Acme's revenue grow in 2022?",
        "Why did Acme's gross margin fall in fiscal 2022?",
        "What share of Acme's debt falls due in 2024?",
    ],
)
def test_other_questions_do_not_ask_for_a_ranking(question: str) -> None:
    asked = asked_ranking(shipped_ranking_heads(), row_reader().question_state(question))
    assert asked.ranks < LEAST_ASKED


def test_shipped_models_fit_this_version() -> None:
    model = shipped_ranking_model()
    assert (len(model.weights), len(model.answers)) == (len(FEATURES), len(SIGNALS))
    assert 0.4 < model.threshold < 0.9
    assert len(shipped_block_weights()) == len(BLOCK_FEATURES)


def test_a_model_is_read_as_it_was_written() -> None:
    fitted = Fitted(np.linspace(-1, 1, len(FEATURES)), np.linspace(-2, 2, len(SIGNALS)), {"threshold": 0.5})
    model = read_ranking_model(fitted_json(fitted, FEATURES, SIGNALS, {"questions": 1}), "x")
    assert model.weights == pytest.approx(fitted.weights, abs=1e-4)
    assert model.threshold == 0.5


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"weights": {"cover": 1}})])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(ModelUnavailableError, match=r"^x .*fit it again$"):
        read_ranking_model(text, "x")
