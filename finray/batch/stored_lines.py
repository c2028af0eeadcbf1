"""Stored lines of predictions: the protocol of their stores, and what these share."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from finray.batch.predictions import encode
from finray.core.errors import SourceError
from finray.core.predictions import Prediction
from finray.core.records import from_row
from finray.storage.columns import arrow_schema
from finray.storage.locations import STORAGE_ERRORS, room_hint

_ROWS_PER_GROUP = 512
PREDICTION_SCHEMA = arrow_schema(Prediction)
"""Columns of a Parquet predictions file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its line feed. ``where`` names its place in messages; ``final`` lines are in the final file."""

    content: bytes
    where: str
    final: bool


class PredictionFiles(Protocol):
    """The stored lines of a predictions target. Every method raises SourceError."""

    torn: str | None
    """A message about half a line that a killed writer left, set by ``lines``."""

    def lines(self) -> Iterator[Line]:
        """Stored lines, oldest first."""

    def append(self, lines: bytes) -> None:
        """Store whole lines durably."""

    def replace(self, lines: Iterable[bytes]) -> None:
        """Replace everything by ``lines`` in one step."""

    def open(self) -> None:
        """Prepare to write."""

    def close(self) -> None: ...


def parquet_lines(file: IO[bytes], name: str) -> Iterator[Line]:
    """The rows of a Parquet file as JSON lines. Raises SourceError if it is something else."""
    try:
        table = pq.ParquetFile(file)
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS_PER_GROUP):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                yield Line(encode(from_row(Prediction, row)), f"{name}, row {number}", final=True)
    except (pa.ArrowException, ValueError) as error:
        raise SourceError(f"{name!r} is not a Parquet file of predictions: {error}") from error


def write_lines(file: IO[bytes], lines: Iterable[bytes], *, parquet: bool) -> None:
    """Write JSON lines as they are, or as rows of a Parquet file."""
    if not parquet:
        file.writelines(lines)
        return
    remaining = iter(lines)
    with pq.ParquetWriter(file, PREDICTION_SCHEMA) as writer:
        while group := [json.loads(line) for line in islice(remaining, _ROWS_PER_GROUP)]:
            writer.write_table(pa.Table.from_pylist(group, schema=PREDICTION_SCHEMA))


@contextmanager
def scratch_file() -> Iterator[IO[bytes]]:
    """A named temporary file for the block. Raises SourceError."""
    with named("write", tempfile.gettempdir()):
        scratch = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed below
    with scratch:
        yield scratch


@contextmanager
def named(verb: str, uri: str) -> Iterator[None]:
    """Turn errors of the file system or S3 into a SourceError that names ``uri``."""
    try:
        yield
    except STORAGE_ERRORS as error:
        raise SourceError(f"cannot {verb} {uri!r}: {error}{room_hint(error)}") from error
