"""What goes before a judge, and how its words are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.predictions import Prediction, Status
from finray.core.questions import Question
from finray.lab.evaluation.judging.judgement import VERDICTS, Judgement, Submission, decode, encode, submission_of


@pytest.mark.parametrize(
    ("gold", "kind", "status", "judged"),
    [
        ("It rose.", None, "answered", True),
        ("5%", None, "answered", False),
        (None, None, "answered", False),
        ("It rose.", "unanswerable", "answered", False),
        ("It rose.", None, "unanswerable", False),
        ("It rose.", None, "error", False),
    ],
)
def test_only_answers_in_words_are_judged(gold: str | None, kind: str | None, status: Status, judged: bool) -> None:
    found = submission_of(Question("q", "Did it?", gold, kind), Prediction("q", "Did it?", "It grew.", status))
    assert (found == Submission("q", "Did it?", "It rose.", "It grew.")) is judged


def test_the_key_is_that_of_the_texts_alone() -> None:
    one = Submission("1", "q", "r", "a")
    assert one.key == Submission("2", "q", "r", "a").key
    assert len({one.key, Submission("1", "qr", "", "a").key, Submission("1", "q", "r", "b").key}) == 3


@given(st.text(), st.text(), st.sampled_from([*VERDICTS, None]), st.integers(0, 10**9))
def test_judgements_survive_the_disk(qid: str, reason: str, verdict: None, tokens: int) -> None:
    judgement = Judgement(qid, "k", verdict, reason, "judge", "hash", tokens, 1, 0.5)
    line = encode(judgement)
    assert line.count(b"\n") == 1
    assert decode(line) == judgement


def test_a_line_of_an_earlier_version_is_read() -> None:
    line = b'{"qid": "q", "verdict": null, "reason": "r", "judge": "j", "judge_hash": "h", "key": "k", '
    line += b'"prompt_tokens": 7, "completion_tokens": 2, "cost": 0.0}'
    assert decode(line) == Judgement("q", "k", None, "r", "j", "h", 7, 2)


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"qid": "q", "verdict": "maybe"}', b"[" * 10_000, b"\xff"])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        decode(line)
