"""Heads that read a question's state: fits, folds, and files."""

from __future__ import annotations

import io

import numpy as np
import pytest

from finray.answering.question_heads import read_question_heads, write_question_heads
from finray.core.errors import ModelUnavailableError
from finray.lab.training.question.question_heads import UNKNOWN, HeadData, fit_heads, held_out_heads

OUTPUTS = {"kind": 3}


def _data(questions: int = 60) -> HeadData:
    """The kind of a question is its largest component."""
    states = np.random.default_rng(0).normal(size=(questions, 3))
    labels = states.argmax(axis=1)
    labels[:5] = UNKNOWN
    return HeadData(states, {"kind": labels}, [f"company {number % 6}" for number in range(questions)])


def test_a_head_learns_what_states_tell() -> None:
    data = _data()
    heads = fit_heads(data, OUTPUTS, l2=0.1)
    found = [int(heads.log_probabilities(state)["kind"].argmax()) for state in data.states]
    assert np.mean(np.asarray(found) == data.states.argmax(axis=1)) > 0.95
    assert np.exp(heads.log_probabilities(data.states[0])["kind"]).sum() == pytest.approx(1.0)


def test_questions_of_one_company_share_heads_that_have_not_seen_it() -> None:
    data = _data()
    held_out = held_out_heads(data, OUTPUTS)
    assert len(held_out) == len(data.groups)
    assert held_out[0] is held_out[6]
    assert len({id(heads) for heads in held_out}) == 5


def test_every_answer_of_a_head_needs_an_example() -> None:
    with pytest.raises(ValueError, match="each of the 4 answers of the head 'kind'"):
        fit_heads(_data(), {"kind": 4})


def test_written_heads_are_read_again() -> None:
    heads = fit_heads(_data(), OUTPUTS)
    file = io.BytesIO()
    write_question_heads(heads, file)
    file.seek(0)
    read = read_question_heads(file, "heads.npz", OUTPUTS)
    assert read.weights["kind"] == pytest.approx(heads.weights["kind"], abs=1e-2)


@pytest.mark.parametrize("outputs", [{"other": 3}, {"kind": 2}])
def test_heads_of_another_version_are_refused(outputs: dict[str, int]) -> None:
    file = io.BytesIO()
    write_question_heads(fit_heads(_data(), OUTPUTS), file)
    file.seek(0)
    with pytest.raises(ModelUnavailableError, match="fit it again"):
        read_question_heads(file, "heads.npz", outputs)


def test_a_file_that_is_no_archive_is_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="fit it again"):
        read_question_heads(io.BytesIO(b"nothing"), "heads.npz", OUTPUTS)
