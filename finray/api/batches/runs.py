"""Runs of batches by the bulk driver, in the background."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

from finray.api.batches.asking import Asking
from finray.api.batches.folders import RUNNING, UNAVAILABLE_S, Folders, Known, now
from finray.api.batches.ledger import Ledger, request_counts
from finray.api.batches.question_input import read_input
from finray.api.batches.results import stored_predictions
from finray.api.errors import ApiError
from finray.api.service import Service
from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore
from finray.core.batch_replies import Batch, BatchError, BatchErrors
from finray.core.errors import FinrayError, MissingExtraError, SourceError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.core.threads import run_to_end
from finray.storage.locations import is_s3

_log = logging.getLogger(__name__)
_FLUSH_SECONDS = 1.0
"""Stored answers are visible after at most this. On S3 each flush is an object, so ``bulk.flush_seconds`` applies."""
_LEDGERS = 8
"""Ended batches whose answers are kept in memory."""


class Runs:
    """Answers the batches of ``folders`` by ``service``."""

    def __init__(self, folders: Folders, service: Service, settings: Settings) -> None:
        self._folders = folders
        self._settings, self._limits = settings, settings.serving
        self.settings_hash = settings.answer_hash()
        seconds = settings.bulk.flush_seconds
        bulk = {
            "concurrency": self._limits.batch_in_flight,
            "flush_seconds": seconds if is_s3(folders.place.uri) else min(seconds, _FLUSH_SECONDS),
        }
        self._bulk = settings.model_copy(update={"bulk": settings.bulk.model_copy(update=bulk)})
        self._asking = Asking(service, self._limits.batch_in_flight)
        self._ended: OrderedDict[str, Known] = OrderedDict()
        """Ended batches with a ledger, least recently used first."""
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Resume, in the background, the batches that the last service left unfinished."""
        self._starting = asyncio.create_task(self._resume_unfinished())

    async def stop(self) -> None:
        """Stop the runs where they are; the next service resumes them."""
        await _cancel([self._starting] if self._starting else [])  # first, because it starts others
        await _cancel([known.task for known in self._folders.in_memory() if known.task])

    def forget(self, batch_id: str) -> None:
        self._ended.pop(batch_id, None)

    async def _resume_unfinished(self) -> None:
        left = await self._unfinished()  # once: the batches of this service keep their own marks
        log = _ChangesLog()
        while left:
            waiting = {}
            for batch_id, key in left.items():
                try:
                    await self._resume(key, batch_id)
                except SourceError as error:  # the folder of another key may be readable
                    log.warn(f"batch {batch_id} waits", error)
                    waiting[batch_id] = key
            left = waiting
            if left:
                await asyncio.sleep(UNAVAILABLE_S)

    async def _unfinished(self) -> dict[str, str]:
        """The key of each batch that the last service left unfinished, by the batch's id, once it can be read."""
        log = _ChangesLog()
        while True:
            try:
                await self._folders.open()
                return await asyncio.to_thread(self._folders.place.unfinished)
            except SourceError as error:
                log.warn("batches wait", error)
                await asyncio.sleep(UNAVAILABLE_S)

    async def _resume(self, key: str, batch_id: str) -> None:
        known = (await self._folders.opened(key)).batches.get(batch_id)
        if known is None:
            await self._folders.mark(key, batch_id, running=False)
            return
        async with known.saving:  # this service may be starting it
            if known.batch.status not in RUNNING:
                await self._folders.mark(key, batch_id, running=False)
            elif known.task is None:
                known.stopping = known.batch.status == "cancelling"
                self._launch(known)

    async def begin(self, known: Known) -> None:
        """Run a batch after storing that it runs. Raises ApiError 404 if it was deleted meanwhile, 503."""
        async with known.saving:
            await self._folders.known(known.key, known.batch.id)
            # The mark is first: no service resumes a batch without one, whatever its record says.
            mark = partial(self._folders.place.mark, known.key, known.batch.id, running=True)
            await self._folders.stored(mark)
            await self._folders.stored(self._folders.place.save_batch, known.key, known.stored)
            self._launch(known)

    def _launch(self, known: Known) -> None:
        self._ended.pop(known.batch.id, None)
        known.ledger = None
        known.task = asyncio.create_task(self._run(known))

    async def _run(self, known: Known) -> None:
        try:
            await self._ask_all(known)
            known.change(status="completed", completed_at=now())
        except asyncio.CancelledError:
            if not known.stopping:
                raise  # the service ends: the next one resumes
            known.change(status="cancelled", cancelled_at=now())
        except FinrayError as error:
            self._failed(known, error.code if isinstance(error, ApiError) else "invalid_file", str(error))
        except Exception:  # noqa: BLE001 - a bug; the batch says so, and the log has more
            _log.exception("batch %s failed", known.batch.id)
            self._failed(known, "internal_error", "something went wrong; see the service's log")
        self._end(known)
        try:
            await self._folders.save(known)
            await self._folders.mark(known.key, known.batch.id, running=False)
        except (ApiError, SourceError) as error:
            _log.error("batch %s: its end is not stored: %s", known.batch.id, error)
        finally:
            known.task = None

    async def _ask_all(self, known: Known) -> None:
        ledger = known.ledger = await self._read(known, self.settings_hash)
        if known.stopping:
            raise asyncio.CancelledError
        known.change(
            status="in_progress",
            in_progress_at=known.batch.in_progress_at or now(),
            remarks=ledger.asked.remarks,
            settings_hash=self.settings_hash,
        )
        await self._folders.save(known)

        async def answer(question: Question) -> Prediction:
            return await self._asking.predict(question, known.batch.filters, known.batch.id, self.settings_hash)

        with ExitStack() as opened:
            store = await run_to_end(
                lambda: opened.enter_context(PredictionStore(self._folders.answers(known), ledger.add))
            )
            await answer_all(ledger.asked.lines, answer, store, self._bulk, retry_failed=known.stored.retrying)

    def _failed(self, known: Known, code: str, message: str) -> None:
        error = BatchError(code, _without_place(message, self._folders.place.uri))
        known.change(status="failed", failed_at=now(), errors=BatchErrors((error,)))

    def _end(self, known: Known) -> None:
        """Settle the counts and results of a batch that has ended."""
        known.stopping = False
        if known.ledger is None:
            return
        counts = known.ledger.counts()
        requests = request_counts(counts)
        stem = f"file-{known.batch.id.removeprefix('batch_')}"
        known.change(
            counts=counts,
            request_counts=requests,
            output_file_id=f"{stem}-output" if requests.completed else None,
            error_file_id=f"{stem}-errors" if requests.failed else None,
        )
        self._remember(known)

    def counted(self, known: Known) -> Batch:
        """The batch with the counts of this moment."""
        if known.task is None or known.ledger is None:
            return known.batch
        counts = known.ledger.counts()
        return replace(known.batch, counts=counts, request_counts=request_counts(counts))

    async def ledger(self, known: Known) -> Ledger:
        """The answers of a batch, read from the storage if needed. Raises ApiError 409 if its file cannot be used."""
        if known.ledger is None:
            try:
                ledger = await self._read(known, known.batch.settings_hash)
            except (SourceError, MissingExtraError) as error:
                message = f"the batch has no answers: {_without_place(str(error), self._folders.place.uri)}"
                raise ApiError(409, "no_answers", message) from error
            await self._folders.in_turn(known.key, partial(_fill, ledger, self._folders.answers(known)))
            if known.ledger is None:
                known.ledger = ledger
        if known.task is None:
            self._remember(known)
        return known.ledger

    async def _read(self, known: Known, settings_hash: str) -> Ledger:
        """Raises SourceError if the file cannot be used."""
        content = await asyncio.to_thread(self._folders.place.content, known.key, known.batch.input_file_id)
        asked = await asyncio.to_thread(
            read_input,
            content,
            known.batch.filename,
            self._settings.bulk,
            max_questions=self._limits.max_batch_questions,
            question_column=known.stored.question_column,
            sheet=known.stored.sheet,
        )
        return Ledger(asked, settings_hash)

    def _remember(self, known: Known) -> None:
        self._ended[known.batch.id] = known
        self._ended.move_to_end(known.batch.id)
        while len(self._ended) > _LEDGERS:
            _, oldest = self._ended.popitem(last=False)
            if oldest.task is None:
                oldest.ledger = None


class _ChangesLog:
    """Logs why something waits: once, and again if the reason changes."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def warn(self, what: str, error: Exception) -> None:
        if self._reasons.get(what) != str(error):
            self._reasons[what] = str(error)
            _log.warning("%s: %s", what, error)


async def _cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _fill(ledger: Ledger, uri: str) -> None:
    for prediction in stored_predictions(uri):
        ledger.add(prediction)


def _without_place(message: str, uri: str) -> str:
    """``message``, or a general one if it discloses where batches are stored."""
    return "the storage of batches failed; the service's log says why" if uri in message else message
