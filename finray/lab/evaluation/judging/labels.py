"""Reads and writes label files: answers with known verdicts, for measuring judges."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass

from finray.core.errors import SourceError
from finray.core.question_fields import excerpt
from finray.lab.evaluation.judging.judgement import Submission, Verdict
from finray.storage.locations import read_bytes, write_bytes

LABELS: dict[str, Verdict] = {
    "correct": "correct", "correct answer": "correct", "right": "correct",
    "incorrect": "incorrect", "incorrect answer": "incorrect", "partially correct": "incorrect", "wrong": "incorrect",
    "refused": "refused", "refusal": "refused", "failed to answer": "refused", "no answer": "refused",
}  # fmt: skip
"""Labels accepted in label files, in lower case."""
NO_KIND = "(none)"


@dataclass(frozen=True, slots=True)
class LabeledAnswer:
    """``kind`` is the kind of answer, for breakdowns in reports; "" for none."""

    submission: Submission
    label: Verdict
    kind: str = ""


def read_labels(uri: str) -> list[LabeledAnswer]:
    """The labeled answers of the ``.jsonl`` file at ``uri``: objects with ``question``, ``reference`` (or
    ``gold_answer``), ``answer`` (or ``model_answer``), ``label``, and optionally ``qid`` and ``kind``.

    Raises SourceError for any other line, because agreement with part of a file would be misleading.
    """
    found = []
    for number, line in enumerate(io.BytesIO(read_bytes(uri)), start=1):
        if line.strip():
            try:
                found.append(_labeled(json.loads(line.decode("utf-8-sig")), number))
            except (ValueError, RecursionError) as error:
                raise SourceError(f"{uri!r} is not a file of labels: line {number}: {excerpt(str(error))}") from error
    if not found:
        raise SourceError(f"{uri!r} has no labeled answers")
    return found


def write_labels(uri: str, labeled: Iterable[LabeledAnswer]) -> None:
    """Write a ``.jsonl`` file in one step. Raises SourceError."""
    lines = [
        json.dumps(
            {
                "qid": one.submission.qid,
                "question": one.submission.question,
                "reference": one.submission.reference,
                "answer": one.submission.answer,
                "label": one.label,
                "kind": one.kind,
            },
            ensure_ascii=False,
        )
        for one in labeled
    ]
    write_bytes(uri, "".join(f"{line}\n" for line in lines).encode("utf-8", errors="replace"))


def _labeled(record: object, number: int) -> LabeledAnswer:
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    texts = []
    for names in (("question",), ("reference", "gold_answer"), ("answer", "model_answer")):
        value = next((record[name] for name in names if name in record), None)
        if not isinstance(value, str):
            raise ValueError(f"{names[0]!r} is {excerpt(repr(value), 40)}, not text")
        texts.append(value)
    raw = record.get("label")
    label = LABELS.get(" ".join(raw.lower().split())) if isinstance(raw, str) else None
    if label is None:
        raise ValueError(f"'label' is {excerpt(repr(raw), 40)}, not one of {', '.join(LABELS)}")
    kind = record.get("kind")
    qid = record.get("qid")
    submission = Submission(str(qid) if isinstance(qid, str | int) else f"line-{number}", *texts)
    return LabeledAnswer(submission, label, kind if isinstance(kind, str) else "")
