"""``finray train reranker --recipe hirec``: the paper's data and hyperparameters by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from finray.cli import app
from finray.lab.training.fine_tuning.options import PUBLISHED_RERANKER
from finray.lab.training.fine_tuning.reranker import reranker_columns
from finray.lab.training.fine_tuning.runs import Run


@pytest.fixture
def run(sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Trains with the given further options, up to the run itself, which is returned."""
    runs: list[Run] = []

    def train_model(run: Run, out: Path, share: float, reports: object) -> dict[str, Any]:
        assert share == 0.0 or run.options.base == "minilm", "the paper learns from all training questions"
        runs.append(run)
        return {}

    monkeypatch.setattr("finray.lab.training.fine_tuning.runs.train_model", train_model)
    monkeypatch.setattr("finray.cli.train.fine_tuning._held_out_table", lambda *_: "")

    def start(*options: str) -> Run:
        data = ["--questions", str(sample_folder / "questions.jsonl"), "--index", sample_index]
        result = CliRunner().invoke(
            app, ["train", "reranker", *data, "--out", str(tmp_path), *options, "--json"], catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        return runs[-1]

    return start


def test_the_hyperparameters_are_the_papers(run: Any) -> None:
    options = run("--recipe", "hirec").options
    assert options == PUBLISHED_RERANKER
    assert "debertav3" in options.base
    assert (options.learning_rate, options.batch_size, options.epochs) == (2e-7, 128, 3.0)
    assert (options.negatives, options.negative_kind, options.hard) == (8, "tables", 0)
    assert run("--recipe", "hirec", "--base", "minilm", "--batch-size", "16").options.base == "minilm"


def test_every_table_of_a_gold_page_has_eight_tables_of_other_pages(run: Any) -> None:
    trained = run("--recipe", "hirec")
    corpus = trained.corpus
    for question in corpus.questions:
        gold = corpus.gold_units(question)
        assert gold and all(unit.is_table and unit.page in question.spared for unit in gold)
        on_page = [u for d in question.documents for u in corpus.units[d] if u.page == gold[0].page and u.is_table]
        assert {unit.key for unit in on_page} <= set(question.gold)
    several = next(q for q in corpus.questions if len(q.gold) > 1)
    columns = reranker_columns(corpus, [several], trained.options)
    right, wrong = columns["label"].count(1.0), columns["label"].count(0.0)
    assert (right, wrong) == (len(several.gold), 8 * len(several.gold))
    texts = {unit.text: unit for document in several.documents for unit in corpus.units[document]}
    negatives = [texts[text] for text, label in zip(columns["passage"], columns["label"], strict=True) if not label]
    assert all(unit.is_table and unit.page not in several.spared for unit in negatives)


def test_passages_are_learned_with_the_titles_that_they_are_scored_with(run: Any) -> None:
    corpus = run("--recipe", "hirec").corpus
    texts = [unit.text for units in corpus.units.values() for unit in units]
    assert texts and all(", form 10-" in text or ", form 8-" in text for text in texts)
    plain = run().corpus
    assert not any(
        unit.text.startswith(("Grevandor", "Caldavale")) and ", form 10-K" in unit.text[:60]
        for units in plain.units.values()
        for unit in units
    )


def test_questions_without_a_table_on_the_gold_page_are_left_out(run: Any) -> None:
    reasons = {left.reason for left in run("--recipe", "hirec").corpus.left_out}
    assert "its gold page has no table" in reasons
