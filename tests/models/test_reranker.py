from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import RerankerSettings
from finray.models.reranker import OverlapReranker, load_reranker


def test_overlap_is_the_share_of_the_questions_words() -> None:
    scores = OverlapReranker().scores("Total revenue 2022", ["revenue in 2022", "TOTAL REVENUE, 2022", "nothing", ""])
    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([2 / 3, 1.0, 0.0, 0.0])


def test_overlap_of_nothing() -> None:
    assert OverlapReranker().scores("", ["a"]).tolist() == [0.0]
    assert OverlapReranker().scores("a", []).shape == (0,)


def test_the_fake_is_loaded_by_name() -> None:
    assert isinstance(load_reranker(RerankerSettings(model="overlap")), OverlapReranker)


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="empty"):
        (tmp_path / "empty").mkdir()
        load_reranker(RerankerSettings(model=str(tmp_path / "empty")))
