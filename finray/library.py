"""The public API: index filings, open an index, ask it, answer many questions. Commands and jobs use it too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from finray.batch.driver import Answer, AnswerSummary, Progress, answer_all
from finray.batch.prediction_store import PredictionStore, pending, read_predictions
from finray.batch.question_files import BadLine, read_questions, write_questions
from finray.core.errors import FinrayError
from finray.core.filing_filter import FilingFilter
from finray.core.query import Query
from finray.core.settings import Settings, load_settings
from finray.core.types import Document, GoldEvidence, Passage, Prediction, Question
from finray.engine import Engine, asks_llm, open_engine
from finray.engines.questions import QuestionEngine
from finray.index.in_process import index_in_process
from finray.index.reader import IndexReader
from finray.index.summary import IndexSummary, ReportProgress
from finray.retrieval.methods.registry import method_named

__all__ = [
    "AnswerSummary",
    "Document",
    "FilingFilter",
    "FinrayError",
    "GoldEvidence",
    "Index",
    "IndexSummary",
    "Passage",
    "Prediction",
    "Question",
    "Retrieval",
    "Settings",
    "answer_many",
    "index_filings",
    "load_settings",
    "open_index",
    "read_predictions",
    "read_questions",
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

    def ask(self, question: str, *, filings: FilingFilter | None = None) -> Prediction:
        """Answer ``question`` from the filings that match ``filings``, by default from all.

        If the question cannot be answered, this does not raise; ``status`` is "answered", "unanswerable" or "error".
        """
        return self._wait(self.engine.answer(Question(qid="ask", question=question), narrowed=filings))

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

    Runs on the Ray cluster at ``RAY_ADDRESS``, or on one that it starts on this machine, or in this process if
    ``settings.index.in_process``. The summary lists files that failed; ``retry_failed`` tries them again.

    Raises SourceError, IndexMismatchError, ModelUnavailableError, ClusterError.
    """
    settings = settings or load_settings()
    if settings.index.in_process:
        return index_in_process(sources, index, settings, progress=progress, retry_failed=retry_failed)
    from finray.cluster.index_job import index_filings as index_on_ray  # imports Ray

    return index_on_ray(sources, index, settings, progress=progress, retry_failed=retry_failed)


def answer_many(
    questions: str | Iterable[Question],
    index: str,
    out: str,
    settings: Settings | None = None,
    *,
    retry_failed: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    remark: Callable[[str], object] = lambda _text: None,
) -> AnswerSummary:
    """Answer ``questions``, a file or objects, into the predictions file ``out``. A second run resumes.

    Files are .jsonl or .parquet, local or s3://; ``read_predictions`` reads ``out``. ``workers`` is the number of Ray
    workers, by default one for each CPU; 0 uses one child process, without Ray. ``retry_failed`` repeats questions that
    ended in an error. ``remark`` is called if ``out`` ends in a truncated line, which is dropped.

    Raises SourceError, IndexMissingError, IndexMismatchError, ModelUnavailableError, ClusterError.
    """
    settings = settings or load_settings()
    lines: list[Question | BadLine]
    if isinstance(questions, str):
        lines = list(read_questions(questions, max_characters=settings.bulk.max_question_characters))
    else:
        lines = list(questions)
    with PredictionStore(out) as store:
        if store.torn:
            remark(store.torn)
        todo = pending(lines, store.done(), settings.answer_hash(), retry_failed=retry_failed)
        to_ask = sum(isinstance(item, Question) for item in todo)
        with _answerer(index, settings, workers, to_ask=to_ask) as answer:
            return _run(answer_all(lines, answer, store, settings, retry_failed=retry_failed, progress=progress))


@contextmanager
def _answerer(index: str, settings: Settings, workers: int | None, *, to_ask: int) -> Iterator[Answer]:
    """The function that answers questions: one engine (``workers`` 0) or a pool on Ray.

    A vLLM engine batches the requests of many questions, so one engine is the default for it.
    """
    waits = asks_llm(settings)
    if workers is None and waits and settings.llm.backend == "vllm":
        workers = 0
    if not to_ask:
        yield _not_needed
    elif workers == 0:
        in_flight = settings.bulk.concurrency if waits else 1
        with closing(QuestionEngine(index, settings, asks_llm=waits, in_flight=in_flight)) as engine:
            yield engine.answer
    else:
        from finray.cluster.answer_job import AnswerPool
        from finray.cluster.runtime import ray_cluster

        # Report a wrong method or index before a cluster starts.
        method_named(settings.retrieval.method)
        IndexReader.open(index, settings)
        with ray_cluster():
            pool = AnswerPool(index, settings, workers, questions=to_ask)
            try:
                pool.wait_until_ready()
                yield pool.answer
            finally:
                pool.close()


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """``asyncio.run``, in a new thread if this one already runs a loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _not_needed(question: Question) -> Prediction:
    raise AssertionError(f"question {question.qid} already has a prediction")
