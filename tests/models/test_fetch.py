"""Models are downloaded once into a cache, and an encoder's dimension is read without weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import Settings, load_settings
from finray.models.fetch import HubModel, fetch_model, models_of
from tests.models.local_hub import COMMIT, LocalHub, local_hub

ENCODER = ["--set", "encoder.model=acme/encoder", "--set", "encoder.revision=main"]
DIMENSION = """
import sys
from finray.core.settings import EncoderSettings
from finray.models.encoder_loading import encoder_dimension
print(encoder_dimension(EncoderSettings(model=sys.argv[1], revision=sys.argv[2])), "torch" in sys.modules)
"""


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[LocalHub]:
    folder = tmp_path / "published"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "bert", "hidden_size": 16}')
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    with local_hub({"acme/encoder": folder}) as running:
        yield running


def python(hub: LocalHub, home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Another process, whose hub is ``hub``: huggingface_hub reads its environment once."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "FINRAY_"))}
    env = {**clean, "HF_ENDPOINT": hub.url, "HF_HOME": str(home), **environment}
    return subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_models_are_fetched_once_and_serve_a_process_without_a_hub(hub: LocalHub, tmp_path: Path) -> None:
    fetch = ["-m", "finray.cli", "fetch-models", *ENCODER, "--to", str(tmp_path / "models"), "--json"]
    own = tmp_path / "own"
    early = python(hub, own, *fetch, "--check")
    assert early.returncode == 2
    assert "the model 'acme/encoder@main' (encoder.model) is not in the cache; run finray fetch-models" in early.stderr
    assert hub.downloaded == []
    done = python(hub, own, *fetch)
    assert done.returncode == 0, done.stderr
    (model,) = json.loads(done.stdout)["models"]
    assert (model["roles"], model["commit"]) == (["encoder"], COMMIT)
    assert sorted(hub.downloaded) == ["config.json", "config.json", "model.safetensors", "tokenizer.json"]  # no pickle
    hub.downloaded.clear()
    assert python(hub, own, *fetch).returncode == 0
    assert hub.downloaded == []
    assert not own.exists()
    # Its pods: HF_HOME is the folder, and the hub is out of reach.
    offline = {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}
    assert python(hub, tmp_path / "models", *fetch, "--check", **offline).returncode == 0
    read = python(hub, tmp_path / "models", "-c", DIMENSION, "acme/encoder", "main", **offline)
    assert read.stdout.split() == ["16", "False"], read.stderr


def test_without_a_hub_the_message_names_model_and_way_out(hub: LocalHub, tmp_path: Path) -> None:
    fetch = ["-m", "finray.cli", "fetch-models", *ENCODER]
    for environment in ({"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}):
        failed = python(hub, tmp_path / "home", *fetch, **environment)
        assert failed.returncode == 2
        said = " ".join(failed.stderr.split())
        assert "cannot download the model 'acme/encoder@main' (encoder.model)" in said
        assert "where the hub can be reached" in said
        assert "Traceback" not in said
    one = python(hub, tmp_path / "home", *fetch, "--set", "passage_reranker.model=acme/nothing")
    assert one.returncode == 1
    assert "encoder: acme/encoder at " in one.stdout
    assert "failed: cannot download the model 'acme/nothing' (passage_reranker.model)" in one.stdout


def test_the_dimension_of_a_hub_model_downloads_no_weights(hub: LocalHub, tmp_path: Path) -> None:
    read = python(hub, tmp_path / "home", "-c", DIMENSION, "acme/encoder", COMMIT)
    assert read.stdout.split() == ["16", "False"], read.stderr
    assert hub.downloaded == ["config.json"]


def test_the_dimension_of_the_embedded_encoder_needs_no_torch(hub: LocalHub, tmp_path: Path) -> None:
    assert python(hub, tmp_path, "-c", DIMENSION, "minilm", "").stdout.split() == ["384", "False"]


def test_settings_without_a_hub_model_have_nothing_to_fetch() -> None:
    assert models_of(Settings()) == []


def test_a_model_in_two_roles_is_fetched_once() -> None:
    hirec = load_settings("hirec", {"llm.backend": "vllm"}, environment={})
    assert models_of(hirec) == [
        HubModel(("encoder",), "intfloat/multilingual-e5-large", "main"),
        HubModel(("document_reranker", "passage_reranker"), "naver/trecdl22-crossencoder-debertav3", "main"),
        HubModel(("llm",), "Qwen/Qwen2.5-7B-Instruct", ""),
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"config.json": "{}", "pytorch_model.bin": "x"}, "only weights in safetensors are loaded"),
        ({"model.safetensors": "x"}, "lacks config.json"),
        (
            {
                "config.json": "{}",
                "model.safetensors.index.json": '{"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}',
                "1.safetensors": "x",
            },
            "lacks 2.safetensors; run finray fetch-models again",
        ),
    ],
)
def test_an_incomplete_model_is_named(tmp_path: Path, files: dict[str, str], said: str) -> None:
    snapshot = tmp_path / "hub" / "models--acme--encoder" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for name, content in files.items():
        (snapshot / name).write_text(content)
    with pytest.raises(ModelUnavailableError, match=said):
        fetch_model(HubModel(("encoder",), "acme/encoder", COMMIT), str(tmp_path), download=False)
