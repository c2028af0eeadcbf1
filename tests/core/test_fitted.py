"""Files of fitted weights."""

from __future__ import annotations

import json

import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.fitted import FittedWeights, read_weights, weights_json

FITTED = FittedWeights({"a": 0.25, "b": 1.0}, {"a": 0.5, "b": 1.0})


def test_what_is_written_is_read_back_with_what_it_was_fitted_on() -> None:
    text = weights_json(FITTED, {"choices": 3})
    assert read_weights(text, "w.json", ["a", "b"]) == FITTED
    assert json.loads(text)["trained"] == {"choices": 3}


def test_weights_of_another_version_are_named() -> None:
    with pytest.raises(ModelUnavailableError, match=r"w\.json has other weights than this version \(b, c\)"):
        read_weights(weights_json(FITTED, {}), "w.json", ["a", "c"])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"weights": {"a": "x"}, "prior": {"a": 1}}', '{"weights": 3, "prior": 3}']
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ModelUnavailableError, match="holds no fitted weights"):
        read_weights(text, "w.json", ["a"])
