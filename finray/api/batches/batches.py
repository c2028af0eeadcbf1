"""The files and batches of keys behind the routes. All methods run on one event loop; storage is read in threads."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from finray.api.batches.folders import RUNNING, Folder, Folders, Known, now
from finray.api.batches.place import StoredBatch
from finray.api.batches.question_input import file_name
from finray.api.batches.results import Download, cited_filings, download, find_prediction, output_lines
from finray.api.batches.runs import Runs
from finray.api.errors import ApiError, invalid, not_found
from finray.api.library import named_filings
from finray.api.service import Service
from finray.core.batch_replies import (
    Batch,
    BatchAnswers,
    BatchList,
    Deleted,
    DownloadFormat,
    FileList,
    FileObject,
    Show,
)
from finray.core.errors import SourceError
from finray.core.predictions import Prediction
from finray.core.settings import Settings


@dataclass(frozen=True, slots=True)
class NewBatch:
    batch: Batch
    question_column: str | None = None
    sheet: str | None = None


class Batches:
    """The batches at ``uri``, answered by ``service``. Every method may raise ApiError; ids of other keys are not
    found."""

    def __init__(self, uri: str, service: Service, settings: Settings) -> None:
        """Raises SourceError for another scheme than a local path or s3://."""
        self._service, self._settings = service, settings
        self._limits = settings.serving
        self._folders = Folders(uri, self._limits)
        self._runs = Runs(self._folders, service, settings)

    async def start(self) -> None:
        """Resume, in the background, the batches that the last service left unfinished."""
        self._runs.start()

    async def stop(self) -> None:
        """Stop the runs where they are; the next service resumes them."""
        await self._runs.stop()
        await self._folders.close()

    # Files

    async def add_file(self, key: str, name: str | None, content: bytes) -> FileObject:
        """Raises ApiError 422 for another format, 429 if the key has too many files."""
        folder = await self._folders.folder(key)
        try:
            named = file_name(name)
        except SourceError as error:
            raise invalid("invalid_file", str(error), "file") from error
        if not content:
            raise invalid("invalid_file", f"{named!r} is empty", "file")
        _check_room(len(folder.files), self._limits.max_files, "files")
        file = FileObject(f"file-{secrets.token_hex(12)}", len(content), now(), named)
        folder.files[file.id] = file
        try:
            await self._folders.stored(self._folders.place.save_file, key, file, content)
        except BaseException:
            del folder.files[file.id]
            raise
        return file

    async def files(self, key: str, after: str | None, limit: int) -> FileList:
        page, more = _page((await self._folders.folder(key)).files.values(), after, limit)
        return FileList(tuple(page), more, *_ends(page))

    async def file(self, key: str, file_id: str) -> FileObject:
        file = (await self._folders.folder(key)).files.get(file_id)
        if file is not None:
            return file
        batch, content = await self._output(key, file_id)
        ended = batch.completed_at or batch.cancelled_at or batch.failed_at or batch.created_at
        return FileObject(file_id, len(content), ended, f"{file_id}.jsonl", "batch_output")

    async def file_content(self, key: str, file_id: str) -> Download:
        file = (await self._folders.folder(key)).files.get(file_id)
        if file is not None:
            content = await self._folders.stored(self._folders.place.content, key, file_id)
            return Download(file.filename, "application/octet-stream", content)
        _, content = await self._output(key, file_id)
        return Download(f"{file_id}.jsonl", "application/x-ndjson", content)

    async def delete_file(self, key: str, file_id: str) -> Deleted:
        """Raises ApiError 409 while there is a batch of the file."""
        folder = await self._folders.folder(key)
        if file_id not in folder.files:
            raise _no_file(file_id)
        used = next((known.batch.id for known in folder.batches.values() if known.batch.input_file_id == file_id), None)
        if used is not None:
            raise ApiError(409, "file_in_use", f"{used} has its questions from this file; delete the batch first")
        await self._folders.stored(self._folders.place.delete_file, key, file_id)
        folder.files.pop(file_id, None)
        return Deleted(file_id, "file")

    async def _output(self, key: str, file_id: str) -> tuple[Batch, bytes]:
        """The batch whose output or error file this is, and its content. Raises ApiError 404."""
        for known in (await self._folders.folder(key)).batches.values():
            if file_id in (known.batch.output_file_id, known.batch.error_file_id):
                errors = file_id == known.batch.error_file_id
                make = partial(output_lines, known.batch, self._folders.answers(known), errors=errors)
                return known.batch, await self._folders.in_turn(key, make)
        raise _no_file(file_id)

    # Batches

    async def create(self, key: str, new: NewBatch) -> Batch:
        """Start a batch. Its ``id``, ``created_at`` and ``status`` are set here.

        Raises ApiError 404 if there is no such file, 429 if the key has too many batches.
        """
        folder = await self._folders.folder(key)
        file = folder.files.get(new.batch.input_file_id)
        if file is None:
            raise _no_file(new.batch.input_file_id, "input_file_id")
        _check_room(len(folder.batches), self._limits.max_files, "batches")
        self._check_running(folder)
        batch = replace(
            new.batch,
            id=f"batch_{secrets.token_hex(12)}",
            filename=file.filename,
            created_at=now(),
            status="validating",
            settings_hash=self._runs.settings_hash,
        )
        known = Known(key, StoredBatch(batch, new.question_column, new.sheet))
        folder.batches[batch.id] = known
        try:
            await self._runs.begin(known)
        except BaseException:
            del folder.batches[batch.id]
            raise
        return known.batch

    async def batches(self, key: str, after: str | None, limit: int) -> BatchList:
        batches = (await self._folders.folder(key)).batches
        page, more = _page((known.batch for known in batches.values()), after, limit)
        shown = [self._runs.counted(batches[batch.id]) for batch in page]
        return BatchList(tuple(shown), more, *_ends(page))

    async def batch(self, key: str, batch_id: str) -> Batch:
        return self._runs.counted(await self._folders.known(key, batch_id))

    async def cancel(self, key: str, batch_id: str) -> Batch:
        """Stop a batch; its answers so far stay. Raises ApiError 409 if it has ended."""
        known = await self._folders.known(key, batch_id)
        if known.batch.status not in RUNNING:
            raise ApiError(409, "batch_ended", f"the batch is {known.batch.status}, so there is nothing to cancel")
        if not known.stopping:
            known.stopping = True
            known.change(status="cancelling", cancelling_at=now())
            await self._folders.save(known)
            if known.stopping and known.task is not None:  # it may have ended meanwhile
                known.task.cancel()
        return self._runs.counted(known)

    async def resume(self, key: str, batch_id: str, *, retry_errors: bool) -> Batch:
        """Ask the unanswered questions of a batch, with ``retry_errors`` also those that ended in an error.

        Raises ApiError 409 while it runs, 429 if the key has too many running batches.
        """
        folder, known = await self._folders.folder(key), await self._folders.at_rest(key, batch_id)
        self._check_running(folder)
        cleared = dict.fromkeys(
            ("errors", "output_file_id", "error_file_id", "cancelling_at", "cancelled_at", "completed_at", "failed_at")
        )
        before = known.stored
        known.change(status="validating", **cleared)
        known.stored = replace(known.stored, retrying=retry_errors)
        known.stopping = False
        try:
            await self._runs.begin(known)
        except BaseException:
            known.stored, known.stopping = before, False
            raise
        return self._runs.counted(known)

    async def delete(self, key: str, batch_id: str) -> Deleted:
        """Delete a batch with its answers. Raises ApiError 409 while it runs."""
        folder, known = await self._folders.folder(key), await self._folders.at_rest(key, batch_id)
        async with known.saving:
            await self._folders.stored(self._folders.place.delete_batch, key, batch_id)
            folder.batches.pop(batch_id, None)  # before another request that waits to save it
        self._runs.forget(batch_id)
        return Deleted(batch_id, "batch")

    async def answers(self, key: str, batch_id: str, show: Show, after: int, limit: int) -> BatchAnswers:
        ledger = await self._runs.ledger(await self._folders.known(key, batch_id))
        return ledger.page(show, after, limit)

    async def answer(self, key: str, batch_id: str, number: int) -> Prediction:
        """The prediction for question ``number``. Raises ApiError 404 if there is none yet."""
        known = await self._folders.known(key, batch_id)
        qid = (await self._runs.ledger(known)).qid(number)
        if qid is None:
            raise not_found(f"the batch has no question {number}", "number")
        find = partial(find_prediction, self._folders.answers(known), qid, known.batch.settings_hash)
        found = await self._folders.in_turn(key, find)
        if found is None:
            raise not_found(f"question {number} is not answered yet", "number")
        return found

    async def download(self, key: str, batch_id: str, kind: DownloadFormat, service: str | None) -> Download:
        """The answers so far as a file. Its links lead to the service at the URL ``service``; if None, to EDGAR."""
        known = await self._folders.known(key, batch_id)
        ledger, uri = await self._runs.ledger(known), self._folders.answers(known)
        cited = await self._folders.in_turn(key, partial(cited_filings, uri)) if kind != "jsonl" else frozenset[str]()
        filings = await self._service.read(key, named_filings, cited) if cited else {}
        make = partial(download, self._runs.counted(known), uri, ledger, self._settings, kind, filings, service)
        return await self._folders.in_turn(key, make)

    def _check_running(self, folder: Folder) -> None:
        running = sum(known.batch.status in RUNNING for known in folder.batches.values())
        if running >= (most := self._limits.max_running_batches):
            message = f"this key has {running} batches under way, of at most {most} (serving.max_running_batches)"
            raise ApiError(429, "too_many_batches", f"{message}; wait for one to end", retry_after=30.0)


def _page(listed: Iterable[Any], after: str | None, limit: int) -> tuple[list[Any], bool]:
    """At most ``limit`` entries, newest first, that follow the one with the id ``after``, and whether there are more.
    Raises ApiError 422 if there is no such entry."""
    found = sorted(listed, key=lambda each: each.created_at)[::-1]  # within one second, too, the later first
    start = 0
    if after:
        ids = [each.id for each in found]
        if after not in ids:
            raise invalid("invalid_after", "'after' is not the id of an entry of this list", "after")
        start = ids.index(after) + 1
    return found[start : start + limit], len(found) > start + limit


def _ends(page: list[Any]) -> tuple[str | None, str | None]:
    """The first and the last id of a page."""
    return (page[0].id, page[-1].id) if page else (None, None)


def _check_room(count: int, most: int, what: Literal["files", "batches"]) -> None:
    if count >= most:
        message = f"this key keeps {count} {what}, of at most {most} (serving.max_files); delete some"
        raise ApiError(429, "too_many_files", message)


def _no_file(file_id: str, param: str = "file_id") -> ApiError:
    return not_found(f"there is no file {file_id[:64]!r}", param)
