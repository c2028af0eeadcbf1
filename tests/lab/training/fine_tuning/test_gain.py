from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finray.batch.question_files import read_questions
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.engine import Engine
from finray.lab.training.fine_tuning import gain
from finray.lab.training.fine_tuning.gain import fused_order, measure_gain, model_records
from finray.lab.training.fine_tuning.options import RERANKER, Machine
from finray.lab.training.fine_tuning.similarity import best_first


def test_fusion_of_two_orders() -> None:
    assert fused_order([[0, 1, 2], [0, 1, 2]]) == [0, 1, 2]
    assert fused_order([[0, 1, 2], [1, 0, 2]]) == [0, 1, 2]
    assert fused_order([[0, 1, 2, 3], [3, 1, 0, 2]]) == [0, 1, 3, 2]
    assert best_first(np.array([0.1, 0.9, 0.1])) == [1, 0, 2]


def record(held_out: list[str], learned: list[str]) -> str:
    identity = RERANKER.as_dict() | {"kind": "reranker"}
    return json.dumps(
        {"kind": "reranker", "identity": identity, "held_out_questions": held_out, "learned_questions": learned}
    )


@pytest.fixture(scope="module")
def asked(sample_folder: Path) -> list[Question]:
    questions = [q for q in read_questions(str(sample_folder / "questions.jsonl")) if isinstance(q, Question)]
    return [question for question in questions if question.evidence][:12]


def test_each_question_is_scored_by_the_model_that_held_it_out(
    engine: Engine, asked: list[Question], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qids = [question.qid for question in asked]
    for number, (held, learned) in enumerate([(qids[:6], qids[6:]), (qids[6:], qids[:6])], start=1):
        (tmp_path / f"fold-{number}").mkdir()
        (tmp_path / f"fold-{number}" / "training.json").write_text(record(held, learned))
    used: dict[str, str] = {}

    def scorer(folder: Path, _record: Any, _machine: Machine) -> Any:
        def score(question: str, texts: list[str]) -> np.ndarray:
            used[question] = folder.name
            return -np.arange(len(texts), dtype=np.float64)

        return score

    monkeypatch.setattr(gain, "load_scorer", scorer)
    result = measure_gain(engine, asked, tmp_path, 10, Machine(), lambda *_: None)
    assert result["n"] == 12
    expected = {q.question: "fold-1" if q.qid in qids[:6] else "fold-2" for q in asked}
    assert used.items() <= expected.items()
    assert result["page_recall"]["pipeline"] == result["page_recall"]["model"] == result["page_recall"]["fused"]
    assert result["minus_pipeline"]["model"]["5"]["value"] == 0.0


def test_training_questions_are_not_measured(engine: Engine, asked: list[Question], tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text(record([], [question.qid for question in asked]))
    with pytest.raises(UsageError, match="it was trained on 12"):
        measure_gain(engine, asked, tmp_path, 10, Machine(), lambda *_: None)


def test_a_folder_without_a_finished_training_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no finished training"):
        model_records(tmp_path)
