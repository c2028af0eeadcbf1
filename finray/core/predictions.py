"""Answers and predictions, with the cells and evidence that they rest on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from finray.core.filing import Statement
from finray.core.grid import Grid
from finray.core.ocr_marks import OcrMark
from finray.core.passages import DocumentRef, PageRef, Passage, PassageRef, RenderedBlock
from finray.core.questions import Question
from finray.core.records import OmitEmpty, OmitNone, Record

Status = Literal["answered", "unanswerable", "error"]


@dataclass(frozen=True, slots=True)
class TokenUsage(Record):
    """Tokens of a language model in one stage."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: OmitEmpty[float] = 0.0
    """At ``llm.prompt_price`` and ``llm.completion_price``; 0 for replies from the replay cache."""
    cached_tokens: OmitEmpty[int] = 0
    """Tokens of the prompt that came from the server's prefix cache, if it reports them."""
    calls: OmitEmpty[int] = 0
    """Replies."""

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
        )

    def __sub__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.cost - other.cost,
            self.cached_tokens - other.cached_tokens,
            self.calls - other.calls,
        )


@dataclass(frozen=True, slots=True)
class CitedCell(Record):
    """A number that an answer was computed from, and the cell of a table that prints it."""

    name: str
    """Its name in ``program``."""
    value: float
    """In base units, as the program uses it."""
    doc_name: str
    filing_id: str
    page: int
    label: str
    """The row as printed; the concept's name if the tagged number stands in a sentence."""
    text: str
    """The cell as printed."""
    section: OmitNone[str | None] = None
    """The heading inside the table that governs the row."""
    column_label: OmitNone[str | None] = None
    """What stands above the column."""
    statement: OmitNone[Statement | None] = None
    period_end: OmitNone[dt.date | None] = None
    months: OmitNone[int | None] = None
    """Length of the period, 0 for an instant."""
    concept: OmitNone[str | None] = None
    """The XBRL concept that the cell is tagged with."""
    registrant: OmitNone[str | None] = None
    """The registrant of a combined report whose statement the cell is in, if it is not the filer."""
    box: OmitNone[tuple[float, float, float, float] | None] = None
    """(x0, y0, x1, y1) in PDF points; absent for HTML."""
    fit: float = 1.0
    """In [0, 1]: how well the row matches the question's words; 1 for a line that a named metric is defined by."""
    ocr: OmitNone[OcrMark | None] = None
    """If OCR read the cell: ``stands``, or why it is doubted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answerer's conclusion. ``value`` is in ``unit`` (``"USD"``, ``"USD/share"``, ``"percent"``, ``"ratio"``,
    ``"shares"``); ``text`` is for a person. ``program`` shows the arithmetic over named operands."""

    text: str
    status: Status
    value: float | None = None
    unit: str | None = None
    program: str | None = None
    evidence: tuple[Passage, ...] = ()
    operands: tuple[CitedCell, ...] = ()
    confidence: float | None = None
    """The probability that the answer is right, from how it was found; None for a refusal or if unknown."""
    missing: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    """For a refusal: the contents of the index that are closest to what is missing, for a person."""
    grounded: bool | None = None
    """Whether every number that the answer was computed from, or that it states, is in its evidence; None if that was
    not checked."""
    settled: bool = False
    """Whether an answer or a refusal is final: what the filing prints is not in doubt, so no other row may give the
    figure."""
    grid: Grid | None = None
    """For a question over several companies, periods or items: all figures."""

    @classmethod
    def refused(cls, *missing: str) -> Answer:
        """The refusal for what ``missing`` names: the filings lack it."""
        return cls(f"Not found in the filings: {'; '.join(missing)}.", "unanswerable", missing=missing)


@dataclass(frozen=True, slots=True)
class Prediction(Record):
    """The outcome of one question: one line of a predictions file."""

    qid: str
    question: str
    """As asked."""
    answer: str
    """Text for a person."""
    status: Status
    value: float | None = None
    """The answer as a number, in ``unit``."""
    unit: str | None = None
    """``USD``, ``USD/share``, ``percent``, ``ratio``, ``shares``, …"""
    error: str | None = None
    """What went wrong."""
    documents: tuple[DocumentRef, ...] = ()
    """Best first."""
    passages: tuple[Passage, ...] = ()
    """Best first: the ranked retrieval, before curation."""
    evidence: tuple[Passage, ...] = ()
    """What the answer rests on."""
    evidence_blocks: OmitEmpty[tuple[RenderedBlock, ...]] = ()
    """``evidence`` for a reader: the tables and the prose that it is from, at most ``evidence.shown_tokens``."""
    iterations: int = 0
    """Rounds of the loop."""
    usage: Mapping[str, TokenUsage] = field(default_factory=dict)
    """Tokens of language models by stage."""
    unusable: OmitEmpty[Mapping[str, int]] = field(default_factory=dict)
    """Replies of language models that could not be used, by stage."""
    seconds: float = 0.0
    """From question to answer."""
    settings_hash: str = ""
    """12 hex digits over every setting that can change an answer."""
    program: OmitNone[str | None] = None
    """The arithmetic over named operands."""
    missing: OmitEmpty[tuple[str, ...]] = ()
    """What the index lacks, for unanswerable questions."""
    line: OmitNone[int | None] = None
    """1-based line of the question file, for lines that could not be asked."""
    trace: OmitEmpty[tuple[str, ...]] = ()
    """What each stage did, if it was asked for."""
    rounds: OmitEmpty[tuple[tuple[PageRef, ...], ...]] = ()
    """For each iteration of the loop its distinct pages: those that the curator kept, then those retrieved for what was
    missing."""
    context: OmitEmpty[tuple[PassageRef, ...]] = ()
    """The passages that the answerer was given, best first."""
    grounded: OmitNone[bool | None] = None
    """Whether every number that the answer was computed from (or, for a language model, that it states) is in its
    ``evidence``, except scales, divisors and counts; absent for quotations."""
    nearest: OmitEmpty[tuple[str, ...]] = ()
    """For a refusal: the contents of the index that are closest to what is missing (companies with similar names,
    filings of the nearest years, rows with similar words)."""
    operands: OmitEmpty[tuple[CitedCell, ...]] = ()
    """Each number of ``program`` and the cell that prints it."""
    confidence: OmitNone[float | None] = None
    """The probability that the answer is right; for a quotation, that it is from a page that answers. Only for the
    ``statements`` answerer, or one that ``loop.confidence_model`` was trained for."""
    resolved: OmitNone[str | None] = None
    """The question that was answered, if ``question`` was completed from its ``context``."""
    unclear: OmitNone[str | None] = None
    """What the question leaves open after its ``context``: how it continues an earlier one, or which of several
    companies it means. Then nothing is answered."""
    grid: OmitNone[Grid | None] = None
    """For a question over several companies, periods or items: a cell for each, with its figure or why there is none,
    and what the figures say."""

    @classmethod
    def of_failure(cls, question: Question, error: BaseException, settings_hash: str) -> Prediction:
        """The prediction for a question that could not be answered because of ``error``."""
        problem = f"{type(error).__name__}: {error}"
        return cls(question.qid, question.question, "", "error", error=problem, settings_hash=settings_hash)
