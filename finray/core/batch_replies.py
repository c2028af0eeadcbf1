"""Files and batches as the HTTP service shows them: the fields of OpenAI's Files and Batch API, and finray's own.

Times are seconds since 1970, as OpenAI has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from finray.core.filing_filter import FilingFilter
from finray.core.predictions import Status
from finray.core.records import Record

BatchStatus = Literal["validating", "in_progress", "cancelling", "completed", "failed", "cancelled"]
Endpoint = Literal["/v1/answer", "/v1/chat/completions"]
Show = Literal["all", "answered", "unanswerable", "error", "low_confidence", "not_grounded", "waiting"]
"""Which answers of a batch to list."""
DownloadFormat = Literal["jsonl", "csv", "xlsx"]
LOW_CONFIDENCE = 0.5
"""Answers below this probability count as of low confidence."""


@dataclass(frozen=True, slots=True)
class FileObject(Record):
    """A file of questions, or of a batch's results."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: Literal["batch", "batch_output"] = "batch"
    object: Literal["file"] = "file"
    status: Literal["processed"] = "processed"


@dataclass(frozen=True, slots=True)
class FileList(Record):
    """One page of a key's files, newest first."""

    data: tuple[FileObject, ...]
    has_more: bool
    first_id: str | None
    last_id: str | None
    """Value of ``after`` for the next request."""
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class Deleted(Record):
    id: str
    object: Literal["file", "batch"]
    deleted: Literal[True] = True


@dataclass(frozen=True, slots=True)
class RequestCounts(Record):
    """``failed`` are questions that ended in an error, ``completed`` the others that are done."""

    total: int = 0
    completed: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class AnswerCounts(Record):
    """Questions of a batch by outcome. The last two are among ``answered``."""

    answered: int = 0
    unanswerable: int = 0
    error: int = 0
    waiting: int = 0
    low_confidence: int = 0
    not_grounded: int = 0


@dataclass(frozen=True, slots=True)
class BatchError(Record):
    code: str
    message: str
    line: int | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class BatchErrors(Record):
    data: tuple[BatchError, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Record):
    """A run over a file of questions."""

    id: str
    input_file_id: str
    filename: str
    created_at: int
    status: BatchStatus
    endpoint: Endpoint = "/v1/answer"
    completion_window: Literal["24h"] = "24h"
    """For OpenAI's clients: a batch runs until it is done."""
    errors: BatchErrors | None = None
    """Why the batch failed; errors of single questions are among its answers."""
    output_file_id: str | None = None
    """The answers as lines of OpenAI's batch API, once the batch has ended."""
    error_file_id: str | None = None
    in_progress_at: int | None = None
    cancelling_at: int | None = None
    cancelled_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    request_counts: RequestCounts = RequestCounts()
    counts: AnswerCounts = AnswerCounts()
    remarks: tuple[str, ...] = ()
    """What is odd about the file, one line each."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    filters: FilingFilter = field(default_factory=FilingFilter)
    settings_hash: str = ""
    object: Literal["batch"] = "batch"


@dataclass(frozen=True, slots=True)
class BatchList(Record):
    """One page of a key's batches, newest first."""

    data: tuple[Batch, ...]
    has_more: bool
    first_id: str | None
    last_id: str | None
    """Value of ``after`` for the next request."""
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer(Record):
    """One question of a batch and its answer in brief."""

    number: int
    """Position in the file, from 1."""
    qid: str
    question: str
    status: Status | Literal["waiting"]
    answer: str = ""
    value: float | None = None
    unit: str | None = None
    confidence: float | None = None
    grounded: bool | None = None
    reason: str = ""
    """Why there is no answer."""
    doc_name: str | None = None
    """The filing that the answer rests on first."""
    page: int | None = None
    """Counted from 0."""


@dataclass(frozen=True, slots=True)
class BatchAnswers(Record):
    """One page of a batch's answers in the order of its file."""

    data: tuple[BatchAnswer, ...]
    has_more: bool
    next_after: int | None
    """Value of ``after`` for the next request."""
    object: Literal["list"] = "list"
