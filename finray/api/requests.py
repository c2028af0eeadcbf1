"""Request bodies and their validation. All input is hostile."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from finray.api.batches.batches import NewBatch
from finray.api.errors import invalid
from finray.api.service import Asked, AskedRetrieval
from finray.core.batch_replies import Batch, Endpoint
from finray.core.errors import QuestionError
from finray.core.filing_filter import FilingFilter
from finray.core.question_fields import MAX_CONTEXT, MAX_QID_CHARACTERS, read_qid, read_question
from finray.core.questions import Question
from finray.core.settings import ServingSettings

MAX_NAMES = 50
Name = Annotated[str, Field(min_length=1, max_length=200)]
Year = Annotated[int, Field(ge=1900, le=2200)]
MetadataName = Annotated[str, Field(min_length=1, max_length=64)]
MetadataText = Annotated[str, Field(max_length=512)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


_CONTEXT: Any = Field(
    [],
    max_length=MAX_CONTEXT,
    description="Earlier questions of the conversation, oldest first: what the question lacks is taken from them.",
    examples=[["What was Acme's revenue in fiscal 2023?"]],
)


class Filters(_Body):
    """Restricts the filings that answers may come from. An empty list matches every filing."""

    companies: list[Name] = Field(
        [], max_length=MAX_NAMES, description="Names, aliases, tickers or CIKs; case-insensitive."
    )
    forms: list[Name] = Field([], max_length=MAX_NAMES, description="Such as 10-K, 10-Q, 8-K.")
    fiscal_years: list[Year] = Field([], max_length=MAX_NAMES, description="As the companies count them.")

    def narrowed(self) -> FilingFilter:
        return FilingFilter(tuple(self.companies), tuple(self.forms), tuple(self.fiscal_years))


class QuestionItem(_Body):
    """One of several questions. ``qid`` defaults to the position in the list, from 1."""

    question: str = Field(min_length=1, examples=["What was Acme's revenue in fiscal 2023?"])
    qid: str | None = Field(None, min_length=1, max_length=MAX_QID_CHARACTERS)
    context: list[str] = _CONTEXT


class AnswerRequest(_Body):
    """Either ``question`` or ``questions``."""

    question: str | None = Field(None, min_length=1, examples=["What was Acme's revenue in fiscal 2023?"])
    questions: list[QuestionItem] | None = Field(None, min_length=1, description="At most serving.max_questions.")
    context: list[str] = _CONTEXT
    filters: Filters = Filters()
    trace: bool = Field(False, description="Whether predictions include the trace lines of every stage.")

    @model_validator(mode="after")
    def _one_of_both(self) -> AnswerRequest:
        if (self.question is None) == (self.questions is None):
            raise ValueError("give either 'question' or 'questions'")
        if self.questions is not None and self.context:
            raise ValueError("give each of 'questions' its own 'context'")
        return self

    def asked(self, limits: ServingSettings, *, stream: bool, trace_parent: str | None, request_id: str) -> Asked:
        """Raises ApiError 422 for invalid questions."""
        items = self.questions or [QuestionItem(question=self.question or "", context=self.context)]
        if len(items) > limits.max_questions:
            most = f"the limit of {limits.max_questions} per request (serving.max_questions)"
            message = f"{len(items)} questions are more than {most}; use `finray answer` for thousands"
            raise invalid("too_many_questions", message, "questions")
        questions = []
        for number, item in enumerate(items, start=1):
            place = "" if self.questions is None else f"questions.{number - 1}."
            text = read_text(item.question, limits, f"{place}question")
            context = tuple(
                read_text(each, limits, f"{place}context.{index}") for index, each in enumerate(item.context)
            )
            questions.append(Question(_qid(item.qid, number), text, context=context))
        if len({question.qid for question in questions}) < len(questions):
            raise invalid("duplicate_qid", "two questions have the same 'qid'", "questions")
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


class BatchRequest(_Body):
    """Starts a batch. `metadata` comes back with it."""

    input_file_id: str = Field(min_length=1, max_length=100, examples=["file-0123456789abcdef01234567"])
    endpoint: Endpoint = Field("/v1/answer", description="For OpenAI's clients; the answers are the same.")
    completion_window: Literal["24h"] = Field("24h", description="For OpenAI's clients: a batch runs until it is done.")
    metadata: dict[MetadataName, MetadataText] | None = Field(None, max_length=16)
    filters: Filters = Filters()
    question_column: str | None = Field(None, min_length=1, max_length=500, description="Of a table; else it is found.")
    sheet: str | None = Field(
        None, min_length=1, max_length=100, description="Of a workbook; else the first with questions."
    )

    def asked(self) -> NewBatch:
        batch = Batch(
            id="",
            input_file_id=self.input_file_id,
            filename="",
            created_at=0,
            status="validating",
            endpoint=self.endpoint,
            metadata=self.metadata or {},
            filters=self.filters.narrowed(),
        )
        return NewBatch(batch, self.question_column, self.sheet)


class ResumeRequest(_Body):
    retry_errors: bool = Field(False, description="Whether to repeat questions that ended in an error.")


def read_text(question: str, limits: ServingSettings, param: str) -> str:
    """The question. Raises ApiError 422 if it is too long, blank or has invalid characters."""
    if len(question) > limits.max_question_characters:
        most = f"{limits.max_question_characters:,} (serving.max_question_characters)"
        raise invalid("question_too_long", f"the question has {len(question):,} characters, more than {most}", param)
    try:
        return read_question(question, limits.max_question_characters)
    except QuestionError as error:
        raise invalid("invalid_question", str(error), param) from error


def _qid(qid: str | None, number: int) -> str:
    try:
        return str(number) if qid is None else read_qid(qid)
    except QuestionError as error:
        raise invalid("invalid_qid", str(error), f"questions.{number - 1}.qid") from error
