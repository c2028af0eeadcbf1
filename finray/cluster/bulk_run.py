"""One run of bulk answering: the questions that are left, what answers them, and the spreadsheet at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from finray.batch.answer_book import AnswerBook, check_spreadsheet
from finray.batch.driver import Answer, AnswerSummary, Order, Progress, answer_all
from finray.batch.panels import Panel
from finray.batch.prediction_files import is_spreadsheet, store_of
from finray.batch.prediction_store import PredictionStore, pending
from finray.batch.question_tables import QuestionFile
from finray.batch.topics import by_topic, topics_in
from finray.cluster.attached import has_cluster
from finray.core.errors import IndexMissingError, UsageError
from finray.core.filing import Filing
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import LlmSettings, Settings
from finray.engine import asks_llm
from finray.engines.questions import QuestionEngine
from finray.filings.pages.page_links import PageLinks
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.methods.composed import method_named

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BulkRun:
    """The arguments are those of :func:`finray.answer_many`."""

    index: str
    out: str
    settings: Settings
    service: str | None
    retry_failed: bool
    workers: int | None
    app: str | None
    progress: Progress | None
    remark: Callable[[str], object]

    def answer(self, asked: QuestionFile, about: Mapping[str, str], panel: Panel | None = None) -> AnswerSummary:
        """Answer the questions of ``asked`` that are left. For a spreadsheet, ``about`` describes them and ``panel`` is
        the table to make of the answers."""
        for text in asked.remarks:
            self.remark(text)
        with PredictionStore(store_of(self.out)) as store:
            if store.torn:
                self.remark(store.torn)
            todo = pending(asked.lines, store.done(), self.settings.answer_hash(), retry_failed=self.retry_failed)
            to_ask = sum(isinstance(item, Question) for item in todo)
            with (
                self._written_at_the_end(store, asked, about, panel),
                self._answerer(to_ask) as (answer, order),
            ):
                work = answer_all(
                    asked.lines,
                    answer,
                    store,
                    self.settings,
                    retry_failed=self.retry_failed,
                    progress=self.progress,
                    order=order,
                )
                return _run(work)

    @contextmanager
    def _written_at_the_end(
        self, store: PredictionStore, asked: QuestionFile, about: Mapping[str, str], panel: Panel | None
    ) -> Iterator[None]:
        """Write a spreadsheet when the block ends; after an error or an interruption with whatever is stored."""
        if not is_spreadsheet(self.out):
            yield
            return
        check_spreadsheet(self.out)
        links = PageLinks(self._filings(), self.service)
        facts = {"index": self.index, **about}
        book = AnswerBook(self.out, asked, links, self.settings, facts, panel)
        try:
            yield
        except BaseException:
            if store.done():
                book.write(store)
            raise
        book.write(store)

    @contextmanager
    def _answerer(self, to_ask: int) -> Iterator[tuple[Answer, Order]]:
        """The function that answers questions, by one engine (``workers`` 0) or a pool on Ray, and their order.

        With vLLM the default is one engine, because it batches the requests of many questions. A job on a cluster uses
        a pool, because its head may have no GPU.
        """
        index, settings, workers = self.index, self.settings, self.workers
        waits = asks_llm(settings)
        own_vllm = [llm for llm in settings.llms.values() if llm.backend == "vllm"] if waits else []
        if workers is None and own_vllm and self.app is None and not _takes_gpus_of_a_cluster(own_vllm):
            workers = 0
        if workers == 0 and self.app is not None:
            raise UsageError(f"--workers 0 runs without Ray, but --app {self.app} is on Ray; leave out one of them")
        if not to_ask:
            yield _not_needed, list
            return
        method_named(settings.retrieval.method)  # report a wrong method or index before a cluster starts
        topic_of = topics_in(CompanyCatalog(IndexReader.open(index, settings).filings()))
        if workers == 0:
            in_flight = settings.bulk.concurrency if waits else 1
            with closing(QuestionEngine(index, settings, asks_llm=waits, in_flight=in_flight)) as engine:
                yield engine.answer, partial(by_topic, topic_of=topic_of, streams=1)
        else:
            from finray.cluster.answer_job import AnswerPool
            from finray.cluster.runtime import ray_cluster
            from finray.cluster.served_models import find_models

            with ray_cluster(running=self.app is not None):
                served = find_models(self.app, settings) if self.app is not None else None
                if served:
                    self.remark(f"answering with {served}")
                pool = AnswerPool(index, settings, workers, questions=to_ask, served=served, topic_of=topic_of)
                try:
                    pool.wait_until_ready()
                    yield pool.answer, partial(by_topic, topic_of=topic_of, streams=pool.workers)
                finally:
                    pool.close()

    def _filings(self) -> Mapping[str, Filing]:
        """The filings to link to; if the index is gone, none and a remark."""
        try:
            return IndexReader.open(self.index).filings().by_id
        except IndexMissingError as error:
            self.remark(f"the spreadsheet has no links: {error}")
            return {}


def _takes_gpus_of_a_cluster(llms: Sequence[LlmSettings]) -> bool:
    from finray.models.vllm_engine import gpus_of

    return has_cluster() and any(gpus_of(llm) for llm in llms)


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
