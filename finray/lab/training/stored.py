"""Reads files of training data, so that weights can be fitted again without the filings."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from finray.core.errors import UsageError


@contextmanager
def stored_arrays(path: Path, model: str) -> Iterator[np.lib.npyio.NpzFile]:
    """The arrays of a file of training data of ``model``. Raises UsageError for any other file, also if the ``with``
    block cannot make sense of the arrays."""
    try:
        # numpy does not close a file that it opened itself if it is not an archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (ValueError, LookupError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"{path} is not training data of the {model} in this version: {error}; "
            "create it again with --questions and --index"
        ) from error
