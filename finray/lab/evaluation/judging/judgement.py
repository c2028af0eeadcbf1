"""The submission to a judge, its judgement, and the lines of a judgements file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from finray.core.predictions import Prediction, TokenUsage
from finray.core.question_fields import excerpt
from finray.core.questions import Question
from finray.core.records import OmitEmpty, Record, from_object, parse_json, to_json
from finray.lab.evaluation import metrics

Verdict = Literal["correct", "incorrect", "refused"]
"""HiREC's classes (arXiv 2505.20368) and FinanceBench's labels. An answer that is right in part is incorrect."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Submission:
    """An answer to be judged, with its question and gold answer (``reference``)."""

    qid: str
    question: str
    reference: str
    answer: str

    @property
    def key(self) -> str:
        """16 hex digits over the three texts, so that the same answer of another run is not judged again."""
        content = json.dumps([self.question, self.reference, self.answer])
        return hashlib.sha256(content.encode("utf-8")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Judgement(Record):
    """What a judge found: one line of a judgements file."""

    qid: str
    """The question's; that of the first if several runs gave the same answer."""
    key: str
    """16 hex digits over question, gold answer and answer."""
    verdict: Verdict | None
    """null for "not judged": the judge gave none that can be used."""
    reason: str
    """One sentence of the judge's, or why there is no verdict."""
    judge: str
    """Who judged."""
    judge_hash: str
    """12 hex digits over model, sampling and prompt: one file holds one of them."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """0 for what the replay cache answered."""
    cached_tokens: OmitEmpty[int] = 0

    @property
    def usage(self) -> TokenUsage:
        """Tokens and cost of the verdict."""
        return TokenUsage(self.prompt_tokens, self.completion_tokens, self.cost, self.cached_tokens)


class AnswerJudge(Protocol):
    """``name`` is for people; ``hash`` identifies the judge's configuration."""

    @property
    def name(self) -> str: ...

    @property
    def hash(self) -> str: ...

    async def judge(self, submission: Submission) -> Judgement:
        """Raises ModelUnavailableError if no model is available."""
        ...


def submission_of(question: Question, prediction: Prediction) -> Submission | None:
    """The submission for an answer to a question whose gold answer is in words; None for other answers.

    Refusals and errors need no judge, since they score 0.
    """
    answer = question.answer
    if answer is None or prediction.status != "answered" or not metrics.is_textual(question):
        return None
    return Submission(question.qid, question.question, answer, prediction.answer)


def model_judgement(
    judge: AnswerJudge, submission: Submission, verdict: Verdict | None, reason: str, usage: TokenUsage
) -> Judgement:
    """The judgement of a language model, with at most 500 characters of ``reason``."""
    return Judgement(
        submission.qid,
        submission.key,
        verdict,
        excerpt(reason, _REASON_CHARACTERS),
        judge.name,
        judge.hash,
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cost,
        usage.cached_tokens,
    )


def encode(judgement: Judgement) -> bytes:
    """One JSON line with a line feed."""
    return to_json(judgement) + b"\n"


def decode(line: bytes) -> Judgement:
    """The judgement on ``line``. Raises ValueError with the problem."""
    return from_object(Judgement, parse_json(line))
