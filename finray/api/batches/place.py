"""Storage of the files and batches of keys, in a local folder or under an ``s3://`` prefix.

====================================  ==============================================
``keys/KEY/file-ID.json``             name, size and time of a file
``keys/KEY/file-ID.data``             its content
``keys/KEY/batch_ID.json``            a batch: see :class:`StoredBatch`
``keys/KEY/batch_ID.answers.jsonl``   its predictions, as a bulk run stores them
``unfinished/batch_ID``               the key of a batch that runs
====================================  ==============================================

Folders have the names of keys, so a new key with the name of a revoked one gets its files and batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

from finray.core.batch_replies import Batch, FileObject
from finray.core.errors import SourceError
from finray.core.records import Record, from_object, parse_json, to_json
from finray.storage.atomic import locked
from finray.storage.locations import delete, is_s3, join, list_objects, normalize, read_bytes, write_bytes

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredBatch(Record):
    """A batch and the arguments of its run. ``retrying``: repeat the questions that ended in an error."""

    batch: Batch
    question_column: str | None = None
    sheet: str | None = None
    retrying: bool = False


@dataclass(frozen=True, slots=True)
class Kept:
    """The files and batches of a key, by id."""

    files: dict[str, FileObject] = field(default_factory=dict)
    batches: dict[str, StoredBatch] = field(default_factory=dict)


def batches_location(chosen: str, index_uri: str) -> str:
    """``chosen`` (the setting ``serving.batches``), or a folder beside the index."""
    return normalize(chosen or f"{normalize(index_uri)}-batches")


class BatchPlace:
    """Blocking reads and writes; each raises SourceError."""

    def __init__(self, uri: str) -> None:
        self.uri = normalize(uri)
        self._lock: IO[bytes] | None = None

    def open(self) -> None:
        """Claim a local folder for this process, so that no other service runs its batches. Raises SourceError."""
        if is_s3(self.uri) or self._lock is not None:
            return
        folder = Path(self.uri)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = locked(folder / "lock")
        except OSError as error:
            raise SourceError(f"cannot write batches to {self.uri!r} (serving.batches): {error}") from error
        if self._lock is None:
            raise SourceError(f"another service runs the batches at {self.uri!r} (serving.batches)")

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def kept(self, key: str) -> Kept:
        """Everything that a key has stored."""
        kept = Kept()
        for found in list_objects(self._at(key)):
            name = found.uri.rpartition("/")[2]
            if not name.endswith(".json"):
                continue
            if name.startswith("file-"):
                kept.files[name.removesuffix(".json")] = _read(FileObject, found.uri)
            else:
                kept.batches[name.removesuffix(".json")] = _read(StoredBatch, found.uri)
        return kept

    def unfinished(self) -> dict[str, str]:
        """The keys of the batches that were running when the service ended, by batch id."""
        marks = [found.uri for found in list_objects(join(self.uri, "unfinished"))]
        return {uri.rpartition("/")[2]: read_bytes(uri).decode() for uri in marks}

    def mark(self, key: str, batch_id: str, *, running: bool) -> None:
        uri = join(self.uri, "unfinished", batch_id)
        if running:
            write_bytes(uri, key.encode())
        else:
            delete(uri)

    def save_file(self, key: str, file: FileObject, content: bytes) -> None:
        write_bytes(self._at(key, f"{file.id}.data"), content)
        write_bytes(self._at(key, f"{file.id}.json"), to_json(file))

    def content(self, key: str, file_id: str) -> bytes:
        return read_bytes(self._at(key, f"{file_id}.data"))

    def delete_file(self, key: str, file_id: str) -> None:
        delete(self._at(key, f"{file_id}.json"))
        delete(self._at(key, f"{file_id}.data"))

    def save_batch(self, key: str, stored: StoredBatch) -> None:
        write_bytes(self._at(key, f"{stored.batch.id}.json"), to_json(stored))

    def delete_batch(self, key: str, batch_id: str) -> None:
        delete(self._at(key, f"{batch_id}.json"))
        answers = self.answers_uri(key, batch_id)
        delete(answers)
        for part in list_objects(f"{answers}.parts"):
            delete(part.uri)

    def answers_uri(self, key: str, batch_id: str) -> str:
        return self._at(key, f"{batch_id}.answers.jsonl")

    def _at(self, key: str, *name: str) -> str:
        return join(self.uri, "keys", key, *name)


def _read(kind: type[T], uri: str) -> T:
    try:
        return from_object(kind, parse_json(read_bytes(uri)))
    except ValueError as error:
        raise SourceError(f"{uri!r} is damaged: {error}; move it away") from error
