"""Predictions of a run that may be killed at any moment: append, resume, finish in question order.

Resume is keyed by (qid, settings hash). Nothing that was appended is lost, nothing is answered twice, and a
finished run that is started again writes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from finray.batch.prediction_files import Line, named, prediction_files, scratch_file
from finray.batch.predictions import decode, encode
from finray.batch.question_files import BadLine
from finray.core.errors import SourceError
from finray.core.types import Prediction, Question, Status

Key = tuple[str, str]
"""(qid, settings hash)"""


@dataclass(frozen=True, slots=True)
class Done:
    """What is known of a stored prediction without its text. ``line`` is set for a bad question line."""

    question: str
    status: Status
    seconds: float
    line: int | None


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """What a predictions file holds: the latest prediction for each question, and remarks about the file."""

    predictions: tuple[Prediction, ...]
    remarks: tuple[str, ...]


def read_predictions(uri: str) -> PredictionFile:
    """The predictions at ``uri``, also of a run that is still going or was killed.

    Raises SourceError when there is nothing, or something that is not predictions.
    """
    files = prediction_files(uri)
    latest: dict[str, Prediction] = {}
    count = 0
    for line in files.lines():
        prediction = _decoded(line, uri)
        latest[prediction.qid] = prediction
        count += 1
    if count == 0:
        raise SourceError(f"{uri!r}: no predictions there; `finray answer` writes them")
    remarks = [files.torn] if files.torn else []
    if count > len(latest):
        remarks.append(f"{count - len(latest)} predictions gave way to a later one for the same question")
    return PredictionFile(tuple(latest.values()), tuple(remarks))


def pending(
    questions: Iterable[Question | BadLine],
    done: Mapping[Key, Done],
    settings_hash: str,
    *,
    retry_failed: bool = False,
) -> Iterator[Question | BadLine]:
    """The questions that still need a prediction, in order.

    A question whose text differs from the one that was answered under its qid is asked again.
    """
    for question in questions:
        known = done.get((question.qid, settings_hash))
        if isinstance(question, BadLine):
            needed = known is None or (known.question, known.line) != (question.text, question.line)
        else:
            needed = (
                known is None
                or (known.question, known.line) != (question.question, None)
                or (retry_failed and known.status == "error")
            )
        if needed:
            yield question


class PredictionStore:
    """The predictions at one local path or fsspec URI, ending in .jsonl or .parquet, opened for writing.

    Raises SourceError when the target cannot be written, holds something else, or another run writes to it.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._files = prediction_files(uri)
        self._done: dict[Key, Done] = {}
        self._settled = True  # every line stands in the final file, once
        self._files.open()
        try:
            for line in self._files.lines():
                self._note(_decoded(line, uri))
                self._settled &= line.final
        except BaseException:
            self._files.close()
            raise
        self.torn = self._files.torn
        """What a killed run left half written, for a message; None where nothing."""
        self._settled &= self.torn is None

    def done(self) -> Mapping[Key, Done]:
        """The stored predictions; where one was repeated, the latest."""
        return self._done

    def append(self, batch: Iterable[Prediction]) -> None:
        """Store ``batch``: durable when this returns. Few large batches are better than many small ones."""
        batch = list(batch)
        if not batch:
            return
        lines = [encode(prediction) for prediction in batch]
        self._files.append(b"".join(lines))
        self._settled = False
        for line in lines:
            self._note(decode(line))

    def finish(self, order: Iterable[str], settings_hash: str) -> bool:
        """Bring the file into its final form: one line for each question, in the order of the qids ``order``.

        A prediction made under other settings gives way to the one under ``settings_hash``. Predictions for
        questions that are not in ``order`` follow at the end; those for bad lines that the question file no
        longer has go. False when the file had that form already and was not touched.
        """
        order = list(order)
        wanted = self._final_keys(order, settings_hash)
        if self._settled and wanted == list(self._done):
            return False
        with scratch_file() as spool:
            places = self._spool(spool)
            wanted = self._final_keys(order, settings_hash)
            self._files.replace(_read_at(spool, *places[key]) for key in wanted)
        self._done = {key: self._done[key] for key in wanted}
        self._settled = True
        return True

    def close(self) -> None:
        self._files.close()

    def __enter__(self) -> PredictionStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _note(self, prediction: Prediction) -> None:
        key = (prediction.qid, prediction.settings_hash)
        if self._done.pop(key, None) is not None:  # popped, so that the order is that of the latest lines
            self._settled = False
        self._done[key] = Done(prediction.question, prediction.status, prediction.seconds, prediction.line)

    def _final_keys(self, order: Iterable[str], settings_hash: str) -> list[Key]:
        latest = {qid: (qid, of) for qid, of in self._done}
        wanted = []
        for qid in order:
            other = latest.pop(qid, None)
            if (qid, settings_hash) in self._done:
                wanted.append((qid, settings_hash))
            elif other is not None:
                wanted.append(other)
        return wanted + [key for key in latest.values() if self._done[key].line is None]

    def _spool(self, spool: IO[bytes]) -> dict[Key, tuple[int, int]]:
        """Copy all lines to a scratch file (memory may be too small); where the latest of each key is.

        Notes what another run has stored meanwhile: on S3 nothing keeps it from writing to the same target.
        """
        places: dict[Key, tuple[int, int]] = {}
        start = 0
        for line in self._files.lines():
            prediction = _decoded(line, self._uri)
            with named("write", tempfile.gettempdir()):
                spool.write(line.content)
            self._note(prediction)
            places[prediction.qid, prediction.settings_hash] = (start, len(line.content))
            start += len(line.content)
        with named("write", tempfile.gettempdir()):
            spool.flush()
        return places


def _read_at(spool: IO[bytes], start: int, length: int) -> bytes:
    spool.seek(start)
    return spool.read(length)


def _decoded(line: Line, uri: str) -> Prediction:
    try:
        return decode(line.content)
    except ValueError as error:
        raise SourceError(f"{uri!r} is not a file of predictions: {line.where}: {error}") from error
