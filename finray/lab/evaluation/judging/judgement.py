"""What a judge is asked, what it says, and the lines that hold it on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from finray.core.question_fields import excerpt
from finray.core.types import Prediction, Question, TokenUsage
from finray.lab.evaluation import metrics

Verdict = Literal["correct", "incorrect", "refused"]
"""HiREC's classes (arXiv 2505.20368) and FinanceBench's labels. An answer that is right in part is incorrect."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Submission:
    """An answer beside the gold answer (``reference``) to its question."""

    qid: str
    question: str
    reference: str
    answer: str

    @property
    def key(self) -> str:
        """16 hex digits over the three texts: the same answer in another run need not be judged again."""
        content = json.dumps([self.question, self.reference, self.answer])
        return hashlib.sha256(content.encode("utf-8")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Judgement:
    """``verdict`` is None where the judge gave none that can be used ("not judged"); ``reason`` then says why.

    ``judge`` names who judged and ``judge_hash`` covers all that can change its verdict. ``usage`` is what it took.
    """

    qid: str
    key: str
    verdict: Verdict | None
    reason: str
    judge: str
    judge_hash: str
    usage: TokenUsage = field(default_factory=TokenUsage)


class AnswerJudge(Protocol):
    """``name`` is for people, ``hash`` for telling its judgements from those of others."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    async def judge(self, submission: Submission) -> Judgement:
        """Raises ModelUnavailableError where there is nobody to ask."""
        ...


def submission_of(question: Question, prediction: Prediction) -> Submission | None:
    """What there is to judge: an answer in words to a question whose gold answer is in words; None for all else.

    A refusal or an error needs no judge: either scores 0.
    """
    answer = question.answer
    if answer is None or prediction.status != "answered" or not metrics.is_textual(question):
        return None
    return Submission(question.qid, question.question, answer, prediction.answer)


def encode(judgement: Judgement) -> bytes:
    """One JSON line with its line feed."""
    record = {
        "qid": judgement.qid,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "judge": judgement.judge,
        "judge_hash": judgement.judge_hash,
        "key": judgement.key,
        "prompt_tokens": judgement.usage.prompt_tokens,
        "completion_tokens": judgement.usage.completion_tokens,
        "cost": judgement.usage.cost,
    }
    return json.dumps(record, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"


def decode(line: bytes) -> Judgement:
    """The judgement on ``line``. Raises ValueError that says what is wrong with it."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {excerpt(str(error))}") from error
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    verdict = record.get("verdict")
    if verdict is not None and verdict not in VERDICTS:
        raise ValueError(f"'verdict' is {excerpt(repr(verdict), 40)}, not one of {', '.join(VERDICTS)} or null")
    usage = TokenUsage(_count(record, "prompt_tokens"), _count(record, "completion_tokens"), _cost(record))
    texts = {name: _text(record, name) for name in ("qid", "key", "reason", "judge", "judge_hash")}
    return Judgement(verdict=verdict, usage=usage, **texts)


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name!r} is {excerpt(repr(value), 40)}, not text")
    return value


def _count(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name, 0)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _cost(record: Mapping[str, Any]) -> float:
    value = record.get("cost", 0.0)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 else 0.0
