"""The files and batches of each key, as stored and in memory."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from finray.api.batches.ledger import Ledger
from finray.api.batches.place import BatchPlace, Kept, StoredBatch
from finray.api.errors import ApiError, not_found
from finray.api.fair_threads import FairThreads
from finray.core.batch_replies import Batch, BatchStatus, FileObject
from finray.core.errors import MissingExtraError, SourceError
from finray.core.settings import ServingSettings

_log = logging.getLogger(__name__)
RUNNING: Final[frozenset[BatchStatus]] = frozenset({"validating", "in_progress", "cancelling"})
UNAVAILABLE_S: Final = 5.0
T = TypeVar("T")


@dataclass(slots=True)
class Known:
    """A batch in memory. ``task`` is its run, ``stopping`` whether it was asked to stop."""

    key: str
    stored: StoredBatch
    task: asyncio.Task[None] | None = None
    stopping: bool = False
    ledger: Ledger | None = None
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def batch(self) -> Batch:
        return self.stored.batch

    def change(self, **changed: Any) -> None:
        self.stored = replace(self.stored, batch=replace(self.batch, **changed))


@dataclass(slots=True)
class Folder:
    files: dict[str, FileObject]
    batches: dict[str, Known]


class Folders:
    """The folders of all keys at ``uri``. Coroutines raise ApiError 503 if the storage cannot be used, unless they say
    otherwise; ids of other keys are not found."""

    def __init__(self, uri: str, limits: ServingSettings) -> None:
        """Raises SourceError for another scheme than a local path or s3://."""
        self.place = BatchPlace(uri)
        self._threads = FairThreads("batch files", 2, per_key=limits.max_concurrent, waiting=limits.max_waiting_reads)
        self._folders: dict[str, Folder] = {}
        self._opening = asyncio.Lock()
        self._opened = False

    async def close(self) -> None:
        self._threads.close()
        await asyncio.to_thread(self.place.close)

    def in_memory(self) -> Iterator[Known]:
        return (known for folder in self._folders.values() for known in folder.batches.values())

    async def mark(self, key: str, batch_id: str, *, running: bool) -> None:
        """Note that the batch runs, so that the next service resumes it, or that it does not. Raises SourceError."""
        await asyncio.to_thread(self.place.mark, key, batch_id, running=running)

    async def open(self) -> None:
        """Raises SourceError if the storage cannot be used, or another service runs these batches."""
        if self._opened:
            return
        async with self._opening:
            if not self._opened:
                await asyncio.to_thread(self.place.open)
                self._opened = True

    async def folder(self, key: str) -> Folder:
        """The files and batches of a key, read from the storage on first use."""
        with _for_clients():
            return await self.opened(key)

    async def opened(self, key: str) -> Folder:
        """Like :meth:`folder`, for the service itself. Raises SourceError."""
        await self.open()
        if key not in self._folders:
            async with self._opening:
                if key not in self._folders:
                    kept: Kept = await asyncio.to_thread(self.place.kept, key)
                    known = {batch_id: Known(key, stored) for batch_id, stored in kept.batches.items()}
                    self._folders[key] = Folder(kept.files, known)
        return self._folders[key]

    async def known(self, key: str, batch_id: str) -> Known:
        known = (await self.folder(key)).batches.get(batch_id)
        if known is None:
            raise not_found(f"there is no batch {batch_id[:64]!r}", "batch_id")
        return known

    async def at_rest(self, key: str, batch_id: str) -> Known:
        """A batch that has ended, after its end is stored. Raises ApiError 409 while it runs."""
        known = await self.known(key, batch_id)
        if known.batch.status not in RUNNING and known.task is not None:
            await asyncio.wait([known.task])
        if known.batch.status in RUNNING:  # also if another request resumed it meanwhile
            raise ApiError(409, "batch_running", f"the batch is {known.batch.status}; cancel it first, or wait")
        return known

    async def save(self, known: Known) -> None:
        async with known.saving:
            await self.stored(self.place.save_batch, known.key, known.stored)

    async def stored(self, work: Callable[..., T], *arguments: object) -> T:
        """The result of ``work`` on the storage. Raises ApiError 503; its location stays in the log."""
        with _for_clients():
            return await asyncio.to_thread(work, *arguments)

    async def in_turn(self, key: str, work: Callable[[], T]) -> T:
        """Like :meth:`stored`, for long work: keys take turns. Raises ApiError 429, 503."""
        with _for_clients():
            return await self._threads.run(key, work)

    def answers(self, known: Known) -> str:
        return self.place.answers_uri(known.key, known.batch.id)


@contextmanager
def _for_clients() -> Iterator[None]:
    """Turn storage errors into ApiError 503, which names no location, and a missing package into 409."""
    try:
        yield
    except SourceError as error:
        _log.error("batches: %s", error)
        message = "files and batches cannot be stored or read now; the service's log says why"
        raise ApiError(503, "batches_unavailable", message, retry_after=UNAVAILABLE_S) from error
    except MissingExtraError as error:
        raise ApiError(409, "not_installed", str(error)) from error


def now() -> int:
    """Unix time in whole seconds, as in OpenAI's API."""
    return int(time.time())
