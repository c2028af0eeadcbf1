"""Fitting the weights that rank rows, with rows made up here, and the command over an index."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.answering.choice_model import read_linear
from finray.answering.table_reader.row_words import FEATURES
from finray.cli import main
from finray.lab.training.answers.row_words import RowQuestion, fit_row_words, held_out_ranks, last_rank

COLUMN = {name: at for at, name in enumerate(FEATURES)}


def _question(number: int) -> RowQuestion:
    """Six rows; the gold one has the question's words."""
    random = np.random.default_rng(number)
    features = random.uniform(0, 0.3, (6, len(FEATURES)))
    gold = np.zeros(6, dtype=bool)
    gold[number % 6] = True
    features[number % 6, COLUMN["cover"]] = 1.0
    return RowQuestion(f"q{number}", f"company {number % 6}", features, gold)


QUESTIONS = [_question(number) for number in range(60)]


def test_the_words_of_the_question_are_learned_to_matter() -> None:
    weights = fit_row_words(QUESTIONS, l2=0.1)
    assert weights[COLUMN["cover"]] > 1
    assert [last_rank(_question(number), weights) for number in range(100, 110)] == [0] * 10


def test_the_rank_is_that_of_the_last_operand() -> None:
    both = RowQuestion("q", "c", np.eye(3, len(FEATURES)), np.asarray([True, False, True]))
    weights = np.zeros(len(FEATURES))
    weights[:3] = 3, 2, 1
    assert last_rank(both, weights) == 2


def test_every_question_is_ranked_by_weights_fitted_without_its_company() -> None:
    assert len(held_out_ranks(QUESTIONS, l2=1.0)) == len(QUESTIONS)


def test_without_questions_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        fit_row_words([], l2=1.0)


def test_the_command_fits_to_questions_over_an_index(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (sample_folder / "questions.jsonl").read_text("utf-8").splitlines()
    numeric = [line for line in lines if json.loads(line)["question_type"] in ("numeric_table", "numeric_quarter")]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(numeric[:16]) + "\n", encoding="utf-8")
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    out = tmp_path / "row_words.json"
    sources = ["--questions", str(questions), "--index", sample_index, "--preset", str(preset), "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["finray", "train", "row-words", *sources])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    text = out.read_text("utf-8")
    assert len(read_linear(text, "row_words.json", "rows", FEATURES)) == len(FEATURES)
    assert 4 <= json.loads(text)["trained"]["questions"] <= 16
