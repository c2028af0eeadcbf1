"""Fitting the choice of a figure in a sentence, with figures made up here, and the command over an index."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.answering.sentences.features import FEATURES as SENTENCE_FEATURES
from finray.answering.sentences.features import Candidates
from finray.answering.sentences.figure_choice import OF_QUESTION, SIGNALS, FigureModel, read_figure_model
from finray.answering.sentences.figure_features import FEATURES, FigureCandidates
from finray.cli import main
from finray.filings.prose.figures import ProseFigure
from finray.lab.training.answers.figure_choice import FIGURES, FigureQuestion
from finray.lab.training.choices import HeldOutChoice, least_probability

COLUMN = {name: at for at, name in enumerate(FEATURES)}
NOTHING = Candidates((), (), (), np.zeros((0, len(SENTENCE_FEATURES))))


def _question(number: int, *, stated: bool = True, taken: bool = False) -> FigureQuestion:
    """Six figures; the one asked for is in the sentence with the question's words, if any is."""
    random = np.random.default_rng(number)
    features = random.uniform(0, 0.3, (6, len(FEATURES)))
    gold = np.zeros(6, dtype=bool)
    if stated:
        features[number % 6, COLUMN["sentence_words"]] = features[number % 6, COLUMN["clause"]] = 1.0
        gold[number % 6] = True
    figures = tuple(ProseFigure(100.0 + at, "money", "USD", 0, 3, None, False, 0) for at in range(6))
    found = FigureCandidates(NOTHING, figures, tuple(range(6)), features, 0.0)
    asked = np.zeros(len(OF_QUESTION))
    return FigureQuestion(f"q{number}", f"company {number % 6}", found, asked, gold, gold, figure=True, taken=taken)


QUESTIONS = [_question(n, stated=n % 3 != 0) for n in range(90)]


def _fitted() -> FigureModel:
    fitted = FIGURES.fit(QUESTIONS, l2=0.1)
    return FigureModel(fitted.weights, fitted.answers, **fitted.thresholds)


def test_the_words_of_the_question_are_learned_to_matter() -> None:
    model = _fitted()
    new = _question(100)
    choice = model.choose(new.found, new.asked)
    assert choice is not None
    assert choice.number == 100 % 6


def test_questions_whose_figure_no_sentence_states_are_below_the_threshold() -> None:
    model = _fitted()
    chosen: dict[bool, list[bool]] = {True: [], False: []}
    for number in range(200, 240):
        new = _question(number, stated=number % 2 == 0)
        choice = model.choose(new.found, new.asked)
        assert choice is not None
        chosen[number % 2 == 0].append(choice.probability >= model.threshold)
    assert np.mean(chosen[True]) > 0.7
    assert np.mean(chosen[False]) < 0.2


def test_only_questions_without_another_figure_are_tested() -> None:
    tests = FIGURES.held_out([*QUESTIONS, _question(500, taken=True)], l2=1.0)
    assert {test.qid for test in tests} == {question.qid for question in QUESTIONS}


def test_the_threshold_keeps_wrong_figures_few() -> None:
    questions = [_question(n) for n in range(100)]
    choices = [HeldOutChoice(f"q{n}", 1 - n / 100, n % 10 != 9, True) for n in range(100)]
    threshold = least_probability(choices, questions, FIGURES.wrong)
    assert sum(not c.right for c in choices if c.probability >= threshold) == int(FIGURES.wrong * len(questions))
    assert least_probability([HeldOutChoice("q", 0.9, False, True)], questions[:1], FIGURES.wrong) == 1.0


def test_without_a_stated_figure_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        FIGURES.fit([_question(n, stated=False) for n in range(10)], l2=1.0)


def _train(monkeypatch: pytest.MonkeyPatch, *options: str) -> object:
    monkeypatch.setattr("sys.argv", ["finray", "train", "figure-choice", *options])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


@pytest.mark.slow
def test_the_command_fits_to_questions_over_an_index(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (sample_folder / "questions.jsonl").read_text("utf-8").splitlines()
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    questions, out = tmp_path / "questions.jsonl", tmp_path / "model.json"
    questions.write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    sources = ["--questions", str(questions), "--index", sample_index, "--preset", str(preset), "--out", str(out)]
    assert not _train(monkeypatch, *sources)
    text = out.read_text("utf-8")
    assert len(read_figure_model(text, "model.json").answers) == len(SIGNALS)
    assert json.loads(text)["trained"]["questions"] > 0
