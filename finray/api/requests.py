"""Request bodies and their validation. All input is hostile."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from finray.api.errors import ApiError
from finray.api.service import Asked, AskedRetrieval
from finray.core.errors import QuestionError
from finray.core.filing_filter import FilingFilter
from finray.core.question_fields import MAX_QID_CHARACTERS, read_qid, read_question
from finray.core.settings import ServingSettings
from finray.core.types import Question

_MAX_NAMES = 50
Name = Annotated[str, Field(min_length=1, max_length=200)]
Year = Annotated[int, Field(ge=1900, le=2200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Filters(_Body):
    """Restricts the filings that answers may come from. An empty list matches every filing."""

    companies: list[Name] = Field(
        [], max_length=_MAX_NAMES, description="Names, aliases, tickers or CIKs; case-insensitive."
    )
    forms: list[Name] = Field([], max_length=_MAX_NAMES, description="Such as 10-K, 10-Q, 8-K.")
    fiscal_years: list[Year] = Field([], max_length=_MAX_NAMES, description="As the companies count them.")

    def narrowed(self) -> FilingFilter:
        return FilingFilter(tuple(self.companies), tuple(self.forms), tuple(self.fiscal_years))


class QuestionItem(_Body):
    """One of several questions. ``qid`` defaults to the position in the list, from 1."""

    question: str = Field(min_length=1, examples=["What was Acme's revenue in fiscal 2023?"])
    qid: str | None = Field(None, min_length=1, max_length=MAX_QID_CHARACTERS)


class AnswerRequest(_Body):
    """Either ``question`` or ``questions``."""

    question: str | None = Field(None, min_length=1, examples=["What was Acme's revenue in fiscal 2023?"])
    questions: list[QuestionItem] | None = Field(None, min_length=1, description="At most serving.max_questions.")
    filters: Filters = Filters()
    trace: bool = Field(False, description="Whether predictions include the trace lines of every stage.")

    @model_validator(mode="after")
    def _one_of_both(self) -> AnswerRequest:
        if (self.question is None) == (self.questions is None):
            raise ValueError("give either 'question' or 'questions'")
        return self

    def asked(self, limits: ServingSettings, *, stream: bool, trace_parent: str | None, request_id: str) -> Asked:
        """Raises ApiError 422 for invalid questions."""
        items = self.questions if self.questions is not None else [QuestionItem(question=self.question or "")]
        if len(items) > limits.max_questions:
            raise ApiError(
                422,
                "too_many_questions",
                f"{len(items)} questions are more than the limit of {limits.max_questions} per request "
                "(serving.max_questions); use `finray answer` for thousands",
                param="questions",
            )
        questions = []
        for number, item in enumerate(items, start=1):
            where = "question" if self.questions is None else f"questions.{number - 1}.question"
            text = read_text(item.question, limits, where)
            questions.append(Question(_qid(item.qid, number), text))
        if len({question.qid for question in questions}) < len(questions):
            raise ApiError(422, "duplicate_qid", "two questions have the same 'qid'", param="questions")
        return Asked(tuple(questions), self.filters.narrowed(), stream, self.trace, trace_parent, request_id)


class RetrieveRequest(_Body):
    """Filings and passages for a question, without an answer."""

    question: str = Field(min_length=1)
    filters: Filters = Filters()
    k_documents: int | None = Field(None, ge=1, le=50, description="Filings; default: retrieval.k_documents.")
    k_passages: int | None = Field(None, ge=1, le=100, description="Passages; default: retrieval.k_passages.")

    def asked(self, limits: ServingSettings, *, trace_parent: str | None, request_id: str) -> AskedRetrieval:
        """Raises ApiError 422 for an invalid question."""
        question = read_text(self.question, limits, "question")
        narrowed = self.filters.narrowed()
        return AskedRetrieval(question, narrowed, self.k_documents, self.k_passages, trace_parent, request_id)


def read_text(question: str, limits: ServingSettings, param: str) -> str:
    """The question. Raises ApiError 422 if it is too long, blank or has invalid characters."""
    if len(question) > limits.max_question_characters:
        raise ApiError(
            422,
            "question_too_long",
            f"the question has {len(question):,} characters, more than {limits.max_question_characters:,} "
            "(serving.max_question_characters)",
            param=param,
        )
    try:
        return read_question(question, limits.max_question_characters)
    except QuestionError as error:
        raise ApiError(422, "invalid_question", str(error), param=param) from error


def _qid(qid: str | None, number: int) -> str:
    try:
        return str(number) if qid is None else read_qid(qid)
    except QuestionError as error:
        raise ApiError(422, "invalid_qid", str(error), param=f"questions.{number - 1}.qid") from error
