"""Storage of predictions: a final JSON-lines or Parquet file, and beside it the lines that a run has appended.

========================  =======================================  ==================================
target                    during a run                             at its end
========================  =======================================  ==================================
``out.jsonl``             the file itself                          a sorted copy replaces it
``out.parquet``           ``out.parquet.partial.jsonl``            the file; the partial one is deleted
``s3://…``                objects ``<out>.parts/part-*.jsonl``     one object; the parts are deleted
``out.xlsx``, ``.csv``    ``out.xlsx.predictions.jsonl``           the file, and the store beside it
========================  =======================================  ==================================

Object stores cannot append, hence the parts. A run killed at any moment leaves the final file, appended lines, or both.
Reading takes both; a later line for a question supersedes an earlier one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from finray.batch.local_files import LocalFiles
from finray.batch.object_files import ObjectFiles
from finray.batch.stored_lines import PredictionFiles
from finray.core.errors import SourceError
from finray.core.predictions import Prediction
from finray.storage.locations import is_s3, normalize

SPREADSHEETS = (".xlsx", ".csv")


def is_spreadsheet(uri: str) -> bool:
    return uri.lower().endswith(SPREADSHEETS)


def store_of(uri: str) -> str:
    """Where a run with the target ``uri`` stores its predictions: in the target itself, or beside a spreadsheet, which
    cannot be appended to."""
    return f"{uri}.predictions.jsonl" if is_spreadsheet(uri) else uri


def prediction_files(uri: str, kind: type[Any] = Prediction) -> PredictionFiles:
    """The files of ``uri``, whose lines are JSON objects of ``kind``.

    Raises SourceError for a name that ends in neither .jsonl nor .parquet.
    """
    if not uri.lower().endswith((".jsonl", ".parquet")):
        raise SourceError(f"{uri!r}: a predictions file ends in .jsonl, .parquet, .xlsx or .csv")
    location = normalize(uri)
    return ObjectFiles(location) if is_s3(location) else LocalFiles(Path(location), kind)
