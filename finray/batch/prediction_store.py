"""Predictions of a run that may be killed at any moment: append, resume, finish in question order.

Resume is keyed by (qid, settings hash). No appended prediction is lost, no question is answered twice, and a finished
run that starts again writes nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import IO

from finray.batch.prediction_files import prediction_files, store_of
from finray.batch.predictions import decode, encode
from finray.batch.question_lines import BadLine
from finray.batch.stored_lines import Line, named, scratch_file
from finray.core.errors import SourceError
from finray.core.predictions import Prediction, Status
from finray.core.questions import Question

Key = tuple[str, str]
"""(qid, settings hash)"""


@dataclass(frozen=True, slots=True)
class Done:
    """What a resumed run needs to know of a stored prediction. ``line`` is set for a bad question line."""

    question: str
    status: Status
    line: int | None


@dataclass(frozen=True, slots=True)
class PredictionFile:
    """The latest prediction for each question of a predictions file, and remarks about the file."""

    predictions: tuple[Prediction, ...]
    remarks: tuple[str, ...]


def read_predictions(uri: str) -> PredictionFile:
    """The predictions at ``uri``, which may be of a killed run or one in progress; for a spreadsheet, those stored
    beside it.

    Raises SourceError if there are none, or the content is something else.
    """
    files = prediction_files(store_of(uri))
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
        remarks.append(f"{count - len(latest)} predictions are superseded by a later one for the same question")
    return PredictionFile(tuple(latest.values()), tuple(remarks))


def pending(
    questions: Iterable[Question | BadLine],
    done: Mapping[Key, Done],
    settings_hash: str,
    *,
    retry_failed: bool = False,
) -> Iterator[Question | BadLine]:
    """The questions without a prediction, in order, and those whose text has changed under the same qid."""
    for question in questions:
        known = done.get((question.qid, settings_hash))
        asked = (question.text, question.line) if isinstance(question, BadLine) else (question.question, None)
        changed = known is None or (known.question, known.line) != asked
        failed = known is not None and known.line is None and known.status == "error"
        if changed or (retry_failed and failed):
            yield question


class PredictionStore:
    """The predictions at one local path or fsspec URI, ending in .jsonl or .parquet, opened for writing.

    ``noted`` is called with each prediction found or stored, in the order of the lines.
    Raises SourceError if the target cannot be written, holds something else, or another run writes to it.
    """

    def __init__(self, uri: str, noted: Callable[[Prediction], object] = lambda _prediction: None) -> None:
        self._uri = uri
        self._noted = noted
        self._files = prediction_files(uri)
        self._done: dict[Key, Done] = {}
        self._settled = True
        """Whether every line is in the final file, once."""
        self._files.open()
        try:
            for line in self._files.lines():
                self._note(_decoded(line, uri))
                self._settled &= line.final
        except BaseException:
            self._files.close()
            raise
        self.torn = self._files.torn
        """A message about half a line that a killed run left, or None."""
        self._settled &= self.torn is None

    def done(self) -> Mapping[Key, Done]:
        """The latest stored prediction for each key."""
        return self._done

    def append(self, batch: Iterable[Prediction]) -> None:
        """Store ``batch`` durably. Few large batches are better than many small ones."""
        batch = list(batch)
        if not batch:
            return
        lines = [encode(prediction) for prediction in batch]
        self._files.append(b"".join(lines))
        self._settled = False
        for line in lines:
            self._note(decode(line))

    def finish(self, order: Iterable[str], settings_hash: str) -> bool:
        """Write the final file: one line for each question, in the order of the qids ``order``.

        A prediction under ``settings_hash`` replaces those under other settings. Questions that are not in ``order``
        follow at the end; bad lines that are not in ``order`` are dropped. Returns False if the file was already final.
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

    def stored(self) -> Iterator[Prediction]:
        """Every stored prediction, oldest line first; in the order of ``finish`` after it."""
        for line in self._files.lines():
            yield _decoded(line, self._uri)

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
        if self._done.pop(key, None) is not None:  # popped to keep the order of the latest lines
            self._settled = False
        self._done[key] = Done(prediction.question, prediction.status, prediction.line)
        self._noted(prediction)

    def _final_keys(self, order: Iterable[str], settings_hash: str) -> list[Key]:
        latest = {key[0]: key for key in self._done}
        wanted = []
        for qid in order:
            other = latest.pop(qid, None)
            if (qid, settings_hash) in self._done:
                wanted.append((qid, settings_hash))
            elif other is not None:
                wanted.append(other)
        return wanted + [key for key in latest.values() if self._done[key].line is None]

    def _spool(self, spool: IO[bytes]) -> dict[Key, tuple[int, int]]:
        """Copy all lines to a scratch file, because they may not fit in memory. Returns (offset, length) of the latest
        line for each key.

        Includes lines that another run has stored meanwhile: S3 has no locks.
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
