"""The trained page model: a file of weights, probabilities, reasons."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.retrieval.page_features import FEATURES
from finray.retrieval.page_model import PageModel, load_page_model, page_model_json, shipped_page_model


def test_the_shipped_model_prefers_what_a_reader_would() -> None:
    weights = dict(zip(FEATURES, shipped_page_model().weights, strict=True))
    for name in ("dense_page", "lexical_chunk", "named", "implied", "words", "document"):
        assert weights[name] > 0
    assert weights["exhibit"] < 0


def test_each_encoder_has_weights_of_its_own() -> None:
    fitted = {name: load_page_model("", name).weights.tolist() for name in ("minilm", "static", "my/encoder.npz")}
    assert fitted["static"] == fitted["my/encoder.npz"] != fitted["minilm"] == shipped_page_model().weights.tolist()
    cosines = list(FEATURES).index("dense"), list(FEATURES).index("dense_page")
    assert sum(fitted["static"][at] for at in cosines) < sum(fitted["minilm"][at] for at in cosines)


def test_probabilities_of_one_question_sum_to_one() -> None:
    model = PageModel(np.ones(len(FEATURES)))
    features = np.zeros((3, len(FEATURES)))
    features[1, 0] = 1000.0
    assert model.probabilities(features) == pytest.approx([0.0, 1.0, 0.0])
    assert model.probabilities(features[:0]).tolist() == []


def test_reasons_name_the_strongest_features() -> None:
    weights = np.zeros(len(FEATURES))
    weights[0], weights[1] = 2.0, -1.0
    assert PageModel(weights).reasons(np.ones(len(FEATURES))) == "dense +2.0, dense_page -1.0"


def test_a_written_model_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(page_model_json(np.arange(len(FEATURES), dtype=float), {"questions": 3}))
    assert load_page_model(str(path)).weights.tolist() == list(range(len(FEATURES)))


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"weights": {"dense": 1.0}}), json.dumps({"weights": 3})])
def test_an_unfit_model_is_an_error_that_names_the_fix(tmp_path: Path, content: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(content)
    with pytest.raises(ModelUnavailableError, match="`finray train page-ranker`"):
        load_page_model(str(path))


def test_a_missing_model_is_named() -> None:
    with pytest.raises(ModelUnavailableError, match=r"/nowhere/model\.json"):
        load_page_model("/nowhere/model.json")
