"""How likely an answer is to be right, from how it was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from finray.answering.confidence import SIGNALS, ConfidenceModel, confidence_model_json, load_confidence_model
from finray.core.data_files import shipped_data
from finray.core.errors import ModelUnavailableError
from finray.core.predictions import Prediction

Ask = Callable[[str], Prediction]


def test_every_answer_has_a_confidence_and_no_refusal_does(ask: Ask) -> None:
    figure = ask("What was Grevandor Systems' revenue in fiscal 2022?")
    assert figure.confidence is not None
    assert 0 < figure.confidence < 1
    assert ask("What was Acme Holdings' revenue in fiscal 2022?").confidence is None


def test_a_line_of_a_statement_is_surer_than_the_closest_passage(ask: Ask) -> None:
    figure = ask("What was Grevandor Systems' revenue in fiscal 2022?")
    closest = ask("How does Grevandor Systems describe the way it competes in its markets in fiscal 2022?")
    assert figure.confidence is not None
    assert closest.confidence is not None
    assert figure.confidence > closest.confidence


def test_the_cells_that_a_figure_rests_on_are_named(ask: Ask) -> None:
    prediction = ask("By how much did Caldavale Outfitters' revenue change from fiscal 2021 to fiscal 2022?")
    assert {(cell.text.lstrip("$"), cell.statement) for cell in prediction.operands} == {
        ("1,656,655", "income"),
        ("1,726,934", "income"),
    }
    for cell in prediction.operands:
        assert prediction.program is not None
        assert cell.name in prediction.program
        assert (cell.doc_name, cell.page) in {(p.doc_name, p.page) for p in prediction.evidence}


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "confidence.json"
    model = ConfidenceModel(np.linspace(-1, 1, len(SIGNALS)))
    path.write_text(confidence_model_json(model, {"answers": 1}), encoding="utf-8")
    assert load_confidence_model(str(path)).weights == pytest.approx(model.weights, abs=1e-4)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weights": {"constant": 1}}', '{"weights": {"constant": "x"}}'])
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "confidence.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelUnavailableError, match="confidence"):
        load_confidence_model(str(path))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelUnavailableError, match="no confidence model"):
        load_confidence_model("nowhere.json")


def test_the_shipped_model_names_its_training_data() -> None:
    shipped = shipped_data("finray.answering", "confidence.json")
    assert set(shipped["weights"]) == set(SIGNALS)
    assert shipped["trained"]["answers"] > 100
    assert shipped["trained"]["held_out"]["brier_skill"] > 0
