"""The file with training data of the page model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import UsageError
from finray.lab.training.retrieval.page_ranker import RankedQuestion
from finray.lab.training.retrieval.page_ranking_data import RankingData, load_ranking_data, save_ranking_data
from finray.retrieval.page_features import FEATURES


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    question = RankedQuestion("s:q", "g", np.eye(3, len(FEATURES)), (frozenset([1]), frozenset([0, 2]), frozenset()))
    empty = RankedQuestion("s:none", "g", np.zeros((0, len(FEATURES))), (frozenset(),))
    save_ranking_data(path, RankingData((question, empty), ()))
    data = load_ranking_data(path)
    assert data.end_to_end == ()
    for read, saved in zip(data.given, (question, empty), strict=True):
        assert (read.qid, read.group, read.evidence) == (saved.qid, saved.group, saved.evidence)
        assert read.features.tolist() == saved.features.tolist()


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04junk"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="create it again"):
        load_ranking_data(path)


def test_data_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez_compressed(path, feature_names=np.asarray(["dense"]))
    with pytest.raises(UsageError, match="its features are dense"):
        load_ranking_data(path)
