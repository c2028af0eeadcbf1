"""Fitting the choice of a cell, with cells made up here, and the command over an index."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.answering.cell_choice import SIGNALS, CellModel, read_cell_model
from finray.answering.cell_features import FEATURES, CellCandidates
from finray.answering.cell_words import words_around
from finray.answering.page_cells import PageCell
from finray.cli import main
from finray.lab.training.cell_choice import CELLS, CellQuestion
from finray.lab.training.choices import HeldOutChoice, least_probability
from tests.answering.made_up_cells import FILING, item

COLUMN = {name: at for at, name in enumerate(FEATURES)}


def _question(number: int, *, printed: bool = True, taken: bool = False) -> CellQuestion:
    """Six cells; the figure is the one with the question's words, if it is printed."""
    random = np.random.default_rng(number)
    features = random.uniform(0, 0.3, (6, len(FEATURES)))
    gold = np.zeros(6, dtype=bool)
    if printed:
        features[number % 6, COLUMN["cover"]] = features[number % 6, COLUMN["best_cover"]] = 1.0
        gold[number % 6] = True
    items = [item(1, row, f"Row {row}", 100.0 + row) for row in range(6)]
    cells = tuple(PageCell(FILING, each, 0, words_around(each), frozenset()) for each in items)
    asked = np.zeros(len(SIGNALS))[-14:]
    found = CellCandidates(cells, features, 0.0)
    return CellQuestion(f"q{number}", f"company {number % 6}", found, asked, gold, gold, figure=True, taken=taken)


QUESTIONS = [_question(n, printed=n % 3 != 0) for n in range(90)]


def _fitted() -> CellModel:
    fitted = CELLS.fit(QUESTIONS, l2=0.1)
    return CellModel(fitted.weights, fitted.answers, **fitted.thresholds)


def test_the_words_of_the_question_are_learned_to_matter() -> None:
    model = _fitted()
    new = _question(100)
    choice = model.choose(new.found, new.asked)
    assert choice is not None
    assert choice.cell.item.row == 100 % 6


def test_questions_whose_figure_no_cell_prints_are_below_the_threshold() -> None:
    model = _fitted()
    chosen: dict[bool, list[bool]] = {True: [], False: []}
    for number in range(200, 240):
        new = _question(number, printed=number % 2 == 0)
        choice = model.choose(new.found, new.asked)
        assert choice is not None
        chosen[number % 2 == 0].append(choice.probability >= model.threshold)
    assert np.mean(chosen[True]) > 0.7
    assert np.mean(chosen[False]) < 0.2


def test_only_questions_without_a_planned_figure_are_tested() -> None:
    tests = CELLS.held_out([*QUESTIONS, _question(500, taken=True)], l2=1.0)
    assert {test.qid for test in tests} == {question.qid for question in QUESTIONS}


def test_the_threshold_keeps_wrong_figures_few() -> None:
    questions = [_question(n) for n in range(100)]
    choices = [HeldOutChoice(f"q{n}", 1 - n / 100, n % 10 != 9, True) for n in range(100)]
    threshold = least_probability(choices, questions, CELLS.wrong)
    wrong = sum(not c.right for c in choices if c.probability >= threshold)
    assert wrong == int(CELLS.wrong * len(questions))
    assert least_probability([HeldOutChoice("q", 0.9, False, True)], questions[:1], CELLS.wrong) == 1.0


def test_without_a_printed_figure_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        CELLS.fit([_question(n, printed=False) for n in range(10)], l2=1.0)


def test_the_command_fits_to_questions_over_an_index(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (sample_folder / "questions.jsonl").read_text("utf-8").splitlines()
    numeric = [line for line in lines if json.loads(line)["question_type"] in ("numeric_table", "numeric_quarter")]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(numeric[:16]) + "\n", encoding="utf-8")
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    out = tmp_path / "model.json"
    sources = ["--questions", str(questions), "--index", sample_index, "--preset", str(preset), "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["finray", "train", "cell-choice", *sources])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    text = out.read_text("utf-8")
    assert len(read_cell_model(text, "model.json").answers) == len(SIGNALS)
    assert json.loads(text)["trained"]["questions"] == 16
