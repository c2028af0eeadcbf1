"""The public API: index filings, open an index, ask it, answer many questions. Commands and jobs use it too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from finray.batch.driver import AnswerSummary, Progress
from finray.batch.panels import Panel
from finray.batch.prediction_files import is_spreadsheet
from finray.batch.prediction_store import read_predictions
from finray.batch.question_files import read_question_file, read_questions, write_questions
from finray.batch.question_tables import QuestionFile
from finray.cluster.attached import is_attached
from finray.cluster.bulk_run import BulkRun
from finray.core.errors import FinrayError, UsageError
from finray.core.filing_filter import FilingFilter
from finray.core.passages import Document, Passage
from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.core.questions import GoldEvidence, Question
from finray.core.settings import Settings, load_settings
from finray.engine import Engine, open_engine
from finray.facts.files import check_facts_target, write_facts
from finray.facts.lookup import look_up_facts
from finray.facts.records import Fact, facts_table
from finray.filings.pages.page_links import PageLinks
from finray.index.job.in_process import finish_in_process, index_in_process, suits_this_process
from finray.index.job.run import start_run
from finray.index.job.summary import IndexSummary, ReportProgress
from finray.index.reading.reader import IndexReader
from finray.models.encoder_loading import encoder_dimension, load_encoder
from finray.question.companies.catalog import CompanyCatalog

__all__ = [
    "AnswerSummary",
    "Document",
    "Fact",
    "FilingFilter",
    "FinrayError",
    "GoldEvidence",
    "Index",
    "IndexSummary",
    "Panel",
    "Passage",
    "Prediction",
    "Question",
    "Retrieval",
    "Settings",
    "answer_many",
    "answer_panel",
    "facts_table",
    "index_filings",
    "load_settings",
    "open_index",
    "read_facts",
    "read_predictions",
    "read_questions",
    "save_facts",
    "write_questions",
]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The query that the question reader made, and the filings and passages found for it, best first."""

    query: Query
    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]


class Index:
    """One version of an index, open for questions. Open it again to see what index jobs have added.

    The methods block, and work inside a running event loop (a notebook); ``engine`` has them as coroutines. Questions
    run in this process without a time limit; ``answer_many`` and the HTTP service have one.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # One loop for all questions: clients of language models bind their connections to a loop.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="finray", daemon=True)
        self._thread.start()

    def ask(self, question: str, *, context: Sequence[str] = (), filings: FilingFilter | None = None) -> Prediction:
        """Answer ``question`` from the filings that match ``filings``, by default from all.

        What the question lacks is taken from ``context``, the earlier questions of the conversation, oldest first:
        "and in 2021?" keeps company and figure. ``resolved`` of the prediction is then the question that was answered.
        If the question cannot be answered, this does not raise; ``status`` is "answered", "unanswerable" or "error".
        """
        asked = Question(qid="ask", question=question, context=tuple(context))
        return self._wait(self.engine.answer(asked, narrowed=filings))

    def retrieve(
        self,
        question: str,
        *,
        filings: FilingFilter | None = None,
        k_documents: int | None = None,
        k_passages: int | None = None,
    ) -> Retrieval:
        """Filings and passages for ``question``, without an answer. The settings replace a ``k_...`` that is None.

        Raises QuestionError if ``question`` is not text, ModelError if a model fails.
        """
        found = self.engine.retrieve(question, narrowed=filings, k_documents=k_documents, k_passages=k_passages)
        query, documents, passages = self._wait(found)
        return Retrieval(query, tuple(documents), tuple(passages))

    def close(self) -> None:
        """Stop the thread that answers questions."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def open_index(index: str, settings: Settings | None = None) -> Index:
    """The index at ``index``, a folder or s3:// URI, with the models of ``settings`` (default: the preset "local").

    Raises IndexMissingError, IndexMismatchError if the index was built with another encoder, ModelUnavailableError.
    """
    return Index(open_engine(index, settings or load_settings()))


def index_filings(
    sources: Sequence[str],
    index: str,
    settings: Settings | None = None,
    *,
    retry_failed: bool = False,
    progress: ReportProgress | None = None,
) -> IndexSummary:
    """Read, parse, chunk, embed and store ``sources`` (folders, globs, files, s3://). A second run adds only new files.

    Runs on the Ray cluster at ``RAY_ADDRESS``, or on one that it starts on this machine, or in this process, as
    ``settings.index.in_process`` says. The summary lists files that failed; ``retry_failed`` tries them again.

    Raises SourceError, IndexMismatchError, ModelUnavailableError, ClusterError.
    """
    settings = settings or load_settings()
    if settings.index.in_process is True:
        return index_in_process(sources, index, settings, progress=progress, retry_failed=retry_failed)
    dimension = encoder_dimension(settings.encoder)
    run = start_run(sources, index, settings, dimension, progress=progress, retry_failed=retry_failed)
    if settings.index.in_process == "auto" and not is_attached() and suits_this_process(run):
        return finish_in_process(run, load_encoder(settings.encoder))
    from finray.cluster.index_job import finish_on_ray  # imports Ray

    return finish_on_ray(run)


def answer_many(
    questions: str | Iterable[Question],
    index: str,
    out: str,
    settings: Settings | None = None,
    *,
    question_column: str | None = None,
    sheet: str | None = None,
    service: str | None = None,
    retry_failed: bool = False,
    workers: int | None = None,
    app: str | None = None,
    progress: Progress | None = None,
    remark: Callable[[str], object] = lambda _text: None,
) -> AnswerSummary:
    """Answer ``questions``, a file or objects, into the predictions file ``out``. A second run resumes.

    Files are .jsonl, .parquet, .csv or .xlsx, local or s3://; ``read_predictions`` reads ``out``. ``question_column``
    and ``sheet`` name what is read of a .csv or .xlsx, ``service`` is the URL of a service to which the spreadsheet
    ``out`` links. ``workers`` is the number of Ray workers, by default one for each CPU; 0 uses one child process,
    without Ray. ``app`` names a Ray Serve application on a running cluster whose models the workers call instead of
    loading their own. ``retry_failed`` repeats questions that ended in an error. ``remark`` is called with what is odd
    about a file.

    Raises UsageError if no such application runs, SourceError, IndexMissingError, IndexMismatchError,
    ModelUnavailableError, ClusterError.
    """
    settings = settings or load_settings()
    if isinstance(questions, str):
        asked = read_question_file(
            questions,
            max_characters=settings.bulk.max_question_characters,
            max_bytes=settings.bulk.max_table_bytes,
            question_column=question_column,
            sheet=sheet,
        )
    else:
        asked = QuestionFile(tuple(questions))
    about = {"questions": questions} if isinstance(questions, str) else {}
    run = BulkRun(index, out, settings, service, retry_failed, workers, app, progress, remark)
    return run.answer(asked, about)


def answer_panel(
    panel: Panel,
    index: str,
    out: str,
    settings: Settings | None = None,
    *,
    service: str | None = None,
    retry_failed: bool = False,
    workers: int | None = None,
    app: str | None = None,
    progress: Progress | None = None,
    remark: Callable[[str], object] = lambda _text: None,
) -> AnswerSummary:
    """Ask the questions of ``panel`` and write ``out``, a table of companies by years by metrics.

    ``out`` ends in .xlsx, which also has the answers with their evidence, or .csv. A second run resumes. The other
    arguments are those of :func:`answer_many`.

    Raises UsageError for another kind of file, and what ``answer_many`` raises.
    """
    if not is_spreadsheet(out):
        raise UsageError(f"{out!r}: a panel is written to .xlsx or .csv")
    settings = settings or load_settings()
    run = BulkRun(index, out, settings, service, retry_failed, workers, app, progress, remark)
    if settings.loop.answerer == "statements":
        panel = panel.in_series()
    about = {f"template, {name}": template for name, template in panel.metrics.items()}
    return run.answer(QuestionFile(tuple(panel.questions())), about, panel)


def companies_of(index: str) -> list[str]:
    """One name for each company of the index at ``index``, in alphabetical order. Raises IndexMissingError."""
    catalog = CompanyCatalog(IndexReader.open(index).filings())
    return sorted(company.name for company in catalog.companies.values() if company.names)


def read_facts(
    index: str,
    companies: Sequence[str] = (),
    items: Sequence[str] = (),
    years: Iterable[int] = (),
    *,
    every_filing: bool = False,
) -> list[Fact]:
    """The ``items`` of ``companies`` in fiscal ``years`` that the filings of ``index`` print, with cell, page, unit and
    tag, and whether they were restated later; ``facts_table`` makes an Arrow table of them.

    Companies are names, tickers or CIKs, items names ("capex"), tags ("us-gaap:Goodwill") or labels of rows; by default
    all of the index, all that finray knows by name, and all years with an annual report. There is a fact for each; with
    ``every_filing`` one for each filing that prints it. Without a value it says why. Raises IndexMissingError.
    """
    reader = IndexReader.open(index)
    return list(look_up_facts(reader, companies, items, tuple(years), every_filing=every_filing))


def save_facts(uri: str, facts: Sequence[Fact], index: str, *, service: str | None = None) -> None:
    """Write ``facts`` of ``index`` to a .csv, .xlsx, .parquet, .arrow, .json or .jsonl, local or s3://.

    Spreadsheets link to the pages of the ``service`` at this URL, else to EDGAR. Raises SourceError.
    """
    check_facts_target(uri)
    filings = IndexReader.open(index).filings().by_id
    write_facts(uri, facts, PageLinks(filings, service))
