"""Fitting the confidence of answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from finray.answering.confidence import SIGNALS
from finray.cli import main
from finray.lab.training.answers.confidence import GradedAnswer, fit_confidence, held_out_confidences


def graded(companies: int = 10, each: int = 20) -> list[GradedAnswer]:
    """Answers that are right if their first signal besides the constant is high."""
    rng = np.random.default_rng(0)
    answers = []
    for company in range(companies):
        for number in range(each):
            signals = rng.random(len(SIGNALS))
            signals[0] = 1.0
            answers.append(GradedAnswer(f"{company}-{number}", str(company), signals, bool(signals[1] > 0.5)))
    return answers


def test_informative_signals_are_learned() -> None:
    weights = fit_confidence(graded(), 0.1).weights
    assert weights[1] == max(weights)
    assert weights[1] > 3


def test_each_answer_is_held_out_once_from_its_company() -> None:
    answers = graded()
    stated = held_out_confidences(answers, 0.1)
    assert len(stated) == len(answers)
    right = np.mean([confidence for confidence, correct in stated if correct])
    wrong = np.mean([confidence for confidence, correct in stated if not correct])
    assert right > wrong + 0.5


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="no graded answers"):
        fit_confidence([], 1.0)


@pytest.mark.slow
def test_the_command(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    out = tmp_path / "confidence.json"
    preset = tmp_path / "hash.toml"
    preset.write_text('[encoder]\nmodel = "hash"\n', encoding="utf-8")
    arguments = [
        "--preset",
        str(preset),
        "--questions",
        str(sample_folder / "questions.jsonl"),
        "--index",
        sample_index,
    ]
    monkeypatch.setattr("sys.argv", ["finray", "train", "confidence", *arguments, "--out", str(out), "--json"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["answers"] > 20
    assert set(json.loads(out.read_text(encoding="utf-8"))["weights"]) == set(SIGNALS)
