"""Models from a hub: the revision that was named, weights that run nothing, and no code."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError, SettingsError
from finray.core.settings import (
    EncoderSettings,
    LlmSettings,
    RerankerSettings,
    SparseEncoderSettings,
    load_settings,
)
from finray.models import hub
from finray.models.encoder_loading import load_encoder
from finray.models.reranker import load_reranker
from finray.models.sparse_encoder import load_sparse_encoder
from finray.models.vllm_arguments import engine_arguments

FIRST, SECOND = "1" * 40, "2" * 40


def bert(folder: Path, seed: int, kind: str) -> Path:
    """A BERT of one layer with random weights."""
    import torch
    import transformers

    torch.manual_seed(seed)
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "net", "income"]))
    config = transformers.BertConfig(
        vocab_size=7, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64,
    )  # fmt: skip
    config.num_labels = 1
    getattr(transformers, kind)(config).save_pretrained(folder)
    transformers.BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture
def no_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a hub that cannot be reached."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return cache


def test_the_revision_that_is_named_is_loaded(no_hub: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = no_hub / "models--acme--tiny"
    for seed, commit in enumerate((FIRST, SECOND)):
        bert(model / "snapshots" / commit, seed, "BertModel")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(SECOND)

    def vector(revision: str) -> Any:
        settings = EncoderSettings(model="acme/tiny", revision=revision, dtype="float32", device="cpu")
        return load_encoder(settings).encode_query("net income")

    first, second, main = (vector(revision) for revision in (FIRST, SECOND, "main"))
    assert not np.allclose(first, second)
    np.testing.assert_allclose(second, main)
    assert "no revision" not in caplog.text
    hub._warn.cache_clear()
    with caplog.at_level(logging.WARNING):
        np.testing.assert_allclose(vector(""), main)
    assert "the hub model 'acme/tiny' has no revision" in caplog.text
    with pytest.raises(ModelUnavailableError):
        vector("3" * 40)


class Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


LOADERS: dict[str, Callable[[str], object]] = {
    "BertModel": lambda folder: load_encoder(EncoderSettings(model=folder, device="cpu")),
    "BertForSequenceClassification": lambda folder: load_reranker(RerankerSettings(model=folder, device="cpu")),
    "BertForMaskedLM": lambda folder: load_sparse_encoder(SparseEncoderSettings(model=folder, device="cpu")),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_weights_that_could_run_something_are_refused(tmp_path: Path, kind: str) -> None:
    folder = bert(tmp_path / "model", 0, kind)
    LOADERS[kind](str(folder))
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Harm(tmp_path / "ran")))
    with pytest.raises(ModelUnavailableError, match="safetensors"):
        LOADERS[kind](str(folder))
    assert not (tmp_path / "ran").exists()


def test_code_in_a_models_folder_is_not_run(tmp_path: Path) -> None:
    folder = bert(tmp_path / "model", 0, "BertModel")
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(
        config.replace("{", '{"auto_map": {"AutoConfig": "evil.C", "AutoModel": "evil.M"}, ', 1).replace(
            '"model_type": "bert"', '"model_type": "unheard-of"'
        )
    )
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelUnavailableError):
        load_encoder(EncoderSettings(model=str(folder), device="cpu"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("local", [True, False])
def test_vllm_loads_the_same_revision_as_safely(local: bool, tmp_path: Path) -> None:
    model = str(tmp_path) if local else "acme/large"
    arguments = engine_arguments(LlmSettings(backend="vllm", model=model, revision=FIRST), on_cpu=False)
    assert (arguments["trust_remote_code"], arguments["load_format"]) == (False, "safetensors")
    assert arguments["revision"] == arguments["tokenizer_revision"] == (None if local else FIRST)


def test_settings_name_the_models_that_are_not_pinned(tmp_path: Path) -> None:
    assert load_settings(environment={}).unpinned() == {}
    hirec = load_settings("hirec", environment={})
    assert hirec.unpinned() == {
        "encoder": "intfloat/multilingual-e5-large@main",
        "document_reranker": "naver/trecdl22-crossencoder-debertav3@main",
        "passage_reranker": "naver/trecdl22-crossencoder-debertav3@main",
    }
    pinned = {f"{name}.revision": FIRST for name in hirec.unpinned()}
    assert load_settings("hirec", {**pinned, "hub.unpinned": "error"}, environment={}).unpinned() == {}
    assert set(load_settings("vllm", environment={}).unpinned()) == {"llm"}
    assert load_settings("vllm", {"llm.model": str(tmp_path)}, environment={}).unpinned() == {}


@pytest.mark.parametrize("revision", ["", "main", "v1.0", "1234567"])
def test_they_can_be_an_error(revision: str) -> None:
    changed = {"encoder.model": "acme/tiny", "encoder.revision": revision, "hub.unpinned": "error"}
    with pytest.raises(SettingsError, match=r"encoder\.model = 'acme/tiny.*commit"):
        load_settings(overrides=changed, environment={})


def test_what_was_built_before_models_had_revisions_still_counts() -> None:
    def hashes(revision: str) -> tuple[str, str]:
        changed = {"encoder.model": "acme/tiny", "encoder.revision": revision}
        settings = load_settings(overrides=changed, environment={})
        return settings.index_hash(), settings.answer_hash()

    assert hashes("") == hashes("main")
    assert set(hashes("")).isdisjoint(hashes(FIRST))
