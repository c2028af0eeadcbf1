"""The public API: index filings, open an index, ask it, answer many questions. Commands and jobs call it too."""

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
    """What a question was read as, and the filings and passages found for it, best first."""

    query: Query
    documents: tuple[Document, ...]
    passages: tuple[Passage, ...]


class Index:
    """One version of an index, open to questions; what an index job adds meanwhile is seen when it is opened again.

    The methods block, also inside a running event loop (a notebook); ``engine`` has them as coroutines. Questions are
    answered in this process without a time limit; ``answer_many`` and the HTTP service have one.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # One loop for all questions: clients of language models keep their connections with it.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="finray", daemon=True)
        self._thread.start()

    def ask(self, question: str, *, filings: FilingFilter | None = None) -> Prediction:
        """Answer ``question`` from the ``filings`` that pass, by default from all.

        Never raises for a question that cannot be answered: look at ``status``, "answered", "unanswerable" or "error".
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
        """The evidence for ``question`` without an answer. The settings give the numbers that are None.

        Raises QuestionError if ``question`` is not text, ModelError if a model fails.
        """
        found = self.engine.retrieve(question, narrowed=filings, k_documents=k_documents, k_passages=k_passages)
        query, documents, passages = self._wait(found)
        return Retrieval(query, tuple(documents), tuple(passages))

    def close(self) -> None:
        """End the thread that answers."""
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
    """Read, parse, chunk, embed and store ``sources`` (folders, globs, files, s3://). Run again, it does what is new.

    Runs on the Ray cluster in reach (``RAY_ADDRESS``, or one that it starts on this machine), or in this process if
    ``settings.index.in_process``. A file that cannot be used is in the summary; ``retry_failed`` tries it again.

    Raises SourceError, IndexMismatchError, ModelUnavailableError, ClusterError.
    """
    settings = settings or load_settings()
    if settings.index.in_process:
        return index_in_process(sources, index, settings, progress=progress, retry_failed=retry_failed)
    from finray.cluster.index_job import index_filings as index_on_ray  # brings Ray along

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
    """Answer ``questions``, a file or objects, into the predictions file ``out``. Run again, it continues.

    Files are .jsonl or .parquet, local or s3://; ``read_predictions`` reads ``out``. ``workers`` counts Ray workers, by
    default one for each CPU; 0 uses one process beside this one, without Ray. ``retry_failed`` asks again what ended in
    an error. ``remark`` is called if ``out`` ends in half a line, which is dropped.

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
    """Who answers: nobody if there is nothing to ask, else one engine (``workers`` 0) or a pool on Ray.

    An engine of vLLM batches what many questions ask, so it stays the only one unless ``workers`` are asked for.
    """
    waits = asks_llm(settings)
    if workers is None and waits and settings.llm.backend == "vllm":
        workers = 0
    if not to_ask:
        yield _nobody
    elif workers == 0:
        in_flight = settings.bulk.concurrency if waits else 1
        with closing(QuestionEngine(index, settings, asks_llm=waits, in_flight=in_flight)) as engine:
            yield engine.answer
    else:
        from finray.cluster.answer_job import AnswerPool
        from finray.cluster.runtime import ray_cluster

        # What is wrong with these is known before a cluster starts.
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
    """``asyncio.run``, in a thread of its own if this one runs a loop already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def _nobody(question: Question) -> Prediction:
    raise AssertionError(f"{question.qid} was not to be asked")
