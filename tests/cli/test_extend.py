"""``finray extend``: the vectors that a method needs, and the error without them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from finray.cli.extend import extend as extend_command
from finray.core.errors import IndexMismatchError, SettingsError, UsageError
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from tests.scripted_chat import ScriptedChatModel
from tests.weightless import WEIGHTLESS

FAKES = {
    **WEIGHTLESS,
    "sparse_encoder.model": "hash",
    "retrieval.method": "splade",
    "index.in_process": "true",
}


@pytest.fixture
def settings() -> Settings:
    return load_settings(overrides=FAKES, environment={})


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    ignored = shutil.ignore_patterns("extensions")
    return str(shutil.copytree(sample_index, tmp_path / "index", ignore=ignored))


def extend(name: str, index: str, *settings: str, rebuild: bool = False, json_: bool = False) -> None:
    chosen = [*(f"{key}={value}" for key, value in FAKES.items()), *settings]
    assert extend_command(index, name, set_=chosen, rebuild=rebuild, json_=json_) == 0


async def test_a_method_answers_after_its_vectors_are_stored(
    index: str, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(IndexMismatchError, match=f"finray extend --index {index} --with splade"):
        open_engine(index, settings)
    extend("splade", index)
    assert "filings made" in capsys.readouterr().out
    question = "What unrecognized tax benefits did Grevandor Systems report for fiscal 2022?"
    prediction = await open_engine(index, settings).answer(Question("q", question))
    assert prediction.passages and "tax benefits" in prediction.passages[0].text


def test_for_a_machine(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    extend("splade", index, json_=True)
    extend("splade", index, json_=True)
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["added"] == first["filings"] > 0 and second["added"] == 0
    assert first["rows"] == second["rows"]


def test_a_method_without_vectors_of_its_own_is_refused(index: str) -> None:
    with pytest.raises(UsageError, match="'bm25' needs nothing beside the index; these do: splade, page_scorer, hirec"):
        extend("bm25", index)
    with pytest.raises(SettingsError, match=r"page_encoder\.model is empty"):
        extend("page_scorer", index)


def test_a_composition_stores_all_that_its_parts_need(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    extend("rrf+title", index)
    words, vectors = capsys.readouterr().out.splitlines()
    assert words.startswith("title_words: ") and vectors.startswith("title_vectors: ")
    overrides = {**FAKES, "retrieval.method": "rrf+title"}
    open_engine(index, load_settings(overrides=overrides, environment={}))
    with pytest.raises(IndexMismatchError, match=r"finray extend --index .* --with page_scorer\+title"):
        own = {**overrides, "retrieval.method": "page_scorer+title", "page_encoder.model": "hash"}
        open_engine(index, load_settings(overrides=own, environment={}))


def test_another_model_requires_a_rebuild(index: str) -> None:
    extend("splade", index)
    smaller = "sparse_encoder.max_tokens=64"
    other = load_settings(overrides={**FAKES, "sparse_encoder.max_tokens": 64}, environment={})
    with pytest.raises(IndexMismatchError, match="--rebuild"):
        extend("splade", index, smaller)
    extend("splade", index, smaller, rebuild=True)
    open_engine(index, other)


TREES = ("methods.fingear.reduction=spectral", "methods.fingear.dimension=2")


@pytest.mark.slow
def test_trees_report_what_a_filing_took(index: str, capsys: pytest.CaptureFixture[str]) -> None:
    extend("fingear", index, *TREES)
    assert "of processor time (at most" in (told := capsys.readouterr().out) and "no tokens" in told
    extend("fingear", index, *TREES, rebuild=True, json_=True)
    record = json.loads(capsys.readouterr().out)
    assert len(record["costs"]) == record["filings"]
    assert sum(cost["nodes"] for cost in record["costs"].values()) > 0


def test_cover_summaries_are_paid_for_by_filing(
    index: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = iter(["", *["A report."] * 1000])
    model = ScriptedChatModel(lambda _: next(replies))
    monkeypatch.setattr("finray.retrieval.cover_summaries.load_chat", lambda _: model)
    extend("hirec", index)
    assert "tokens (at most" in (told := capsys.readouterr().out) and "; 1 unusable replies" in told
    extend("hirec", index, "llm.model=another", rebuild=True, json_=True)
    record = json.loads(capsys.readouterr().out)
    assert {cost["completion_tokens"] for cost in record["costs"].values()} == {2}
    assert len(record["costs"]) == record["filings"]
