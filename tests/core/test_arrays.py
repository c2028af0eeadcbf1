from __future__ import annotations

import numpy as np

from finray.core.arrays import log_softmax


def test_each_row_becomes_log_probabilities() -> None:
    logs = log_softmax(np.asarray([[0.0, 0.0], [1000.0, 1000.0 + np.log(3)]]))
    assert np.allclose(np.exp(logs), [[0.5, 0.5], [0.25, 0.75]])


def test_nothing_to_choose_from_has_no_probabilities() -> None:
    assert log_softmax(np.zeros(0)).shape == (0,)
