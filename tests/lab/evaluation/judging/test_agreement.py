"""Agreement with labels, against figures computed by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from finray.core.errors import SourceError
from finray.lab.evaluation.judging.agreement import agreement, kappa
from finray.lab.evaluation.judging.agreement_report import agreement_report
from finray.lab.evaluation.judging.judgement import VERDICTS, Judgement, Submission, Verdict
from finray.lab.evaluation.judging.labels import LabeledAnswer, read_labels, write_labels


def labeled(label: Verdict, number: int, kind: str = "") -> LabeledAnswer:
    return LabeledAnswer(Submission(f"q{number}", "Q", "R", f"answer {number}"), label, kind)


def judged(one: LabeledAnswer, verdict: Verdict | None) -> tuple[str, Judgement]:
    return one.submission.key, Judgement(one.submission.qid, one.submission.key, verdict, "", "j", "h")


def test_kappa_by_hand() -> None:
    # 20 and 15 agreed, 5 and 10 not: observed .70, expected .50 (the textbook example)
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    found = kappa(pairs)
    assert found.value == pytest.approx(0.4)
    assert found.n == 50
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=30))
def test_kappa_is_at_most_one(pairs: list[tuple[str, str]]) -> None:
    found = kappa(pairs, resamples=20)
    assert (found.value is None) is (not pairs)
    assert found.value is None or -1 <= found.value <= 1
    if pairs and all(first == second for first, second in pairs):
        assert found.value == pytest.approx(1.0)


def test_agreement_by_class_and_kind() -> None:
    rows = [
        (labeled("correct", 1, "plain"), "correct"),
        (labeled("correct", 2, "plain"), "incorrect"),
        (labeled("incorrect", 3, "number"), "correct"),
        (labeled("incorrect", 4, "number"), "incorrect"),
        (labeled("refused", 5), "refused"),
        (labeled("refused", 6), None),
        (labeled("correct", 7), "never asked"),
    ]
    known = dict(judged(one, verdict) for one, verdict in rows if verdict != "never asked")  # type: ignore[arg-type]
    found = agreement([one for one, _ in rows], known)
    assert (found.n, found.not_judged) == (5, 2)
    assert found.accuracy.value == pytest.approx(3 / 5)
    assert found.by_label["correct"].value == 0.5
    assert found.precision["refused"].value == 1.0
    assert found.confusion["incorrect"] == {"correct": 1, "incorrect": 1, "refused": 0, "not judged": 0}
    assert found.confusion["refused"]["not judged"] == 1
    assert found.by_kind["number"].value == 0.5
    assert (found.share_correct_labelled, found.share_correct_judged) == (0.4, 0.4)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(agreement_report("[red]judge", found))
    console.print(agreement_report("nobody", agreement([], {})))
    text = console.export_text()
    assert "[red]judge" in text
    assert "nan" not in text


def test_labels_survive_the_disk(tmp_path: Path) -> None:
    path = str(tmp_path / "labels.jsonl")
    rows = [labeled(label, number, "kind") for number, label in enumerate(VERDICTS)]
    write_labels(path, rows)
    assert read_labels(path) == rows


def test_longer_wordings_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    said = ["Correct Answer", "Incorrect Answer", "Refusal", "Failed to answer"]
    lines = [json.dumps({"question": "Q", "gold_answer": "G", "model_answer": f"{n}", "label": label})
             for n, label in enumerate(said)]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    assert [one.label for one in read_labels(str(path))] == ["correct", "incorrect", "refused", "refused"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no labeled answers"),
        ("x", "line 1"),
        ("[]", "not a JSON object"),
        ('{"question": "Q", "reference": "R", "answer": "A", "label": "good"}', "'label' is 'good'"),
        ('{"question": "Q", "reference": "R", "label": "correct"}', "'answer' is None"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(SourceError, match=message):
        read_labels(str(path))
