"""``finray extend``: the vectors a method needs, and what is said without them."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from finray.cli.commands.extend import run_extend
from finray.core.errors import IndexMismatchError, SettingsError, UsageError
from finray.core.settings import Settings, load_settings
from finray.core.types import Question
from finray.engine import open_engine

FAKES = {"encoder.model": "hash", "sparse_encoder.model": "hash", "retrieval.method": "splade"}


@pytest.fixture
def settings() -> Settings:
    return load_settings(overrides=FAKES, environment={})


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    ignored = shutil.ignore_patterns("extensions")
    return str(shutil.copytree(sample_index, tmp_path / "index", ignore=ignored))


def extend(name: str, index: str, settings: Settings, *, as_json: bool = False, rebuild: bool = False) -> str:
    out = io.StringIO()
    assert (
        run_extend(
            name,
            index,
            settings,
            rebuild=rebuild,
            as_json=as_json,
            out=Console(file=out),
            err=Console(file=io.StringIO()),
        )
        == 0
    )
    return out.getvalue()


async def test_a_method_answers_once_its_vectors_are_there(index: str, settings: Settings) -> None:
    with pytest.raises(IndexMismatchError, match=f"finray extend --index {index} --with splade"):
        open_engine(index, settings)
    assert "filings encoded" in extend("splade", index, settings)
    question = "What unrecognized tax benefits did Grevandor Systems report for fiscal 2022?"
    prediction = await open_engine(index, settings).answer(Question("q", question))
    assert prediction.passages and "tax benefits" in prediction.passages[0].text


def test_for_a_machine(index: str, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    extend("splade", index, settings, as_json=True)
    extend("splade", index, settings, as_json=True)
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["added"] == first["filings"] > 0 and second["added"] == 0
    assert first["rows"] == second["rows"]


def test_a_method_without_vectors_of_its_own_is_refused(index: str, settings: Settings) -> None:
    with pytest.raises(UsageError, match="'bm25' needs no vectors beside the index; these do: splade, page_scorer"):
        extend("bm25", index, settings)
    with pytest.raises(SettingsError, match=r"page_encoder\.model is empty"):
        extend("page_scorer", index, settings)


def test_another_model_takes_a_rebuild(index: str, settings: Settings) -> None:
    extend("splade", index, settings)
    other = load_settings(overrides={**FAKES, "sparse_encoder.max_tokens": 64}, environment={})
    with pytest.raises(IndexMismatchError, match="--rebuild"):
        extend("splade", index, other)
    assert "filings encoded" in extend("splade", index, other, rebuild=True)
    open_engine(index, other)
