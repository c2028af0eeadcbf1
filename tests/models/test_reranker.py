from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from finray.core.errors import ModelUnavailableError
from finray.core.settings import RerankerSettings
from finray.models import hub
from finray.models.reranker import OverlapReranker, load_reranker
from tests.tiny_models import write_cross_encoder


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


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"reranker\.device is 'cuda', but there is no GPU"):
        load_reranker(RerankerSettings(model=str(tmp_path), device="cuda"))


@pytest.mark.parametrize(("fast", "loaded"), [(True, torch.bfloat16), (False, torch.float32)])
def test_weights_in_bfloat16_are_computed_so_if_the_processor_can(
    fast: bool, loaded: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification

    folder = write_cross_encoder(tmp_path / "model")
    AutoModelForSequenceClassification.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    monkeypatch.setattr(hub, "fast_bf16", lambda _: fast)
    model = hub.sentence_transformers_model(CrossEncoder, "reranker", RerankerSettings(model=folder, device="cpu"))
    assert model.model.dtype == loaded


@pytest.mark.slow
def test_in_bfloat16_a_cross_encoder_ranks_as_in_float32(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "model")
    texts = ["net sales rose", "cash", "the dividend was $0.25 per share", ""]
    exact = load_reranker(RerankerSettings(model=folder, dtype="float32", device="cpu")).scores("sales?", texts)
    coarse = load_reranker(RerankerSettings(model=folder, dtype="bfloat16", device="cpu")).scores("sales?", texts)
    assert coarse.dtype == np.float32
    np.testing.assert_allclose(coarse, exact, atol=0.02)
