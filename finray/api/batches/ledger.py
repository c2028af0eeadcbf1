"""The answers of one batch in memory, in brief: enough to count, filter and list them."""

from __future__ import annotations

from collections.abc import Iterator

from finray.batch.answer_sheets import reason
from finray.batch.question_lines import BadLine
from finray.batch.question_tables import QuestionFile
from finray.core.batch_replies import (
    LOW_CONFIDENCE,
    AnswerCounts,
    BatchAnswer,
    BatchAnswers,
    RequestCounts,
    Show,
)
from finray.core.passages import Passage
from finray.core.predictions import CitedCell, Prediction

_EXCERPT = 300


class Ledger:
    """The answers to ``asked`` under one settings hash. ``add`` may be called from any thread."""

    def __init__(self, asked: QuestionFile, settings_hash: str) -> None:
        self.asked = asked
        self._hash = settings_hash
        self._numbers = {line.qid: number for number, line in enumerate(asked.lines, start=1)}
        self._answers: dict[int, BatchAnswer] = {}

    def add(self, prediction: Prediction) -> None:
        """Record a stored prediction. It replaces an earlier one for the same question."""
        number = self._numbers.get(prediction.qid)
        if number is not None and prediction.settings_hash == self._hash:
            self._answers[number] = _brief(number, prediction)

    def qid(self, number: int) -> str | None:
        """The id of question ``number``, None if there is no such question."""
        lines = self.asked.lines
        return lines[number - 1].qid if 1 <= number <= len(lines) else None

    def page(self, show: Show, after: int, limit: int) -> BatchAnswers:
        """At most ``limit`` answers that ``show`` selects, starting at question ``after`` + 1."""
        shown: list[BatchAnswer] = []
        for answer in self._from(after):
            if not _is_shown(answer, show):
                continue
            if len(shown) == limit:
                return BatchAnswers(tuple(shown), has_more=True, next_after=shown[-1].number)
            shown.append(answer)
        return BatchAnswers(tuple(shown), has_more=False, next_after=None)

    def counts(self) -> AnswerCounts:
        found = list(self._answers.values())
        statuses = [answer.status for answer in found]
        return AnswerCounts(
            answered=statuses.count("answered"),
            unanswerable=statuses.count("unanswerable"),
            error=statuses.count("error"),
            waiting=len(self.asked.lines) - len(found),
            low_confidence=sum(_is_shown(answer, "low_confidence") for answer in found),
            not_grounded=sum(_is_shown(answer, "not_grounded") for answer in found),
        )

    def _from(self, after: int) -> Iterator[BatchAnswer]:
        for number, line in enumerate(self.asked.lines[after:], start=after + 1):
            known = self._answers.get(number)
            if known is not None:
                yield known
            else:
                text = line.text if isinstance(line, BadLine) else line.question
                yield BatchAnswer(number=number, qid=line.qid, question=text[:_EXCERPT], status="waiting")


def request_counts(counts: AnswerCounts) -> RequestCounts:
    done = counts.answered + counts.unanswerable
    return RequestCounts(done + counts.error + counts.waiting, done, counts.error)


def _is_shown(answer: BatchAnswer, show: Show) -> bool:
    if show == "low_confidence":
        confidence = answer.confidence
        return answer.status == "answered" and confidence is not None and confidence < LOW_CONFIDENCE
    if show == "not_grounded":
        return answer.status == "answered" and answer.grounded is False
    return show in ("all", answer.status)


def _brief(number: int, prediction: Prediction) -> BatchAnswer:
    cited: tuple[CitedCell | Passage, ...] = (*prediction.operands, *prediction.evidence)
    first = cited[0] if cited and prediction.status == "answered" else None
    return BatchAnswer(
        number=number,
        qid=prediction.qid,
        question=prediction.question[:_EXCERPT],
        status=prediction.status,
        answer=prediction.answer[:_EXCERPT],
        value=prediction.value,
        unit=prediction.unit,
        confidence=prediction.confidence,
        grounded=prediction.grounded,
        reason=reason(prediction)[:_EXCERPT],
        doc_name=None if first is None else first.doc_name,
        page=None if first is None else first.page,
    )
