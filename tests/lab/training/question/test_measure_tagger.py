"""The tagger's fit, and the file of marked questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.question.measure_tagger import fit_tagger, marked_questions, save_tagger, tagged, word_f1
from finray.models.token_states import minilm_tokens

QUESTIONS = Path(__file__).parents[4] / "benchmarks" / "measure_spans" / "questions.jsonl"


def test_a_fit_learns_the_marked_words(tmp_path: Path) -> None:
    read = tagged(marked_questions(QUESTIONS)[::40], minilm_tokens(), lambda _: [[], [], [], []])
    weights = fit_tagger(read[:40], epochs=20)
    assert sum(scores := word_f1(weights, read[:40])) / len(scores) > 0.5
    save_tagger(weights, tmp_path / "tagger.npz")
    assert (tmp_path / "tagger.npz").stat().st_size < 1_000_000


@pytest.mark.parametrize(
    "record",
    [
        {"question": "What was rent?", "measures": [["revenue"]], "operation": "value", "source": "x"},
        {"question": "What was rent?", "measures": [["rent"]], "operation": "guess", "source": "x"},
        {"question": "What was rent?"},
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, record: dict[str, object]) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(UsageError, match="line 1"):
        marked_questions(path)
