"""Opening and writing Lance tables: tried again where S3 failed, and one clear error where it cannot be done.

Lance writes the next version of a table only where it is not there yet, on S3 by a conditional put. When the connection
breaks just then, Lance reads back what stands there: its own version means success. Where there is none, it gives up;
its client tries no conditional put twice. So the whole step is done again here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import lance

from finray.core.errors import CommitConflictError, SourceError
from finray.storage import s3
from finray.storage.locations import is_s3, lance_storage_options, room_hint

T = TypeVar("T")
_PATIENCE_SECONDS: Final = 120.0
"""After this long no new try begins: each may have been minutes of Lance's own tries."""
_S3_SAYS: Final = "Generic S3 error"
_NOT_FOUND: Final = "was not found"
_CONFLICT: Final = re.compile(r"incompatible transaction|commit conflict", re.I)
_LONGEST_REASON: Final = 300


def commit(where: str, step: Callable[[], T], *, undo: Callable[[], object] | None = None) -> T:
    """Do ``step``, which opens the table at ``where`` at its latest version and writes it.

    On S3 it is done again after an error, so done twice it must leave what it leaves when done once, or ``undo`` must
    take back what a first try may have left. Raises SourceError, CommitConflictError if another writer was first.
    """
    begun = False

    def attempt() -> T:
        nonlocal begun
        if begun and undo is not None:
            undo()
        begun = True
        return step()

    try:
        return s3.retried(attempt, lambda error: isinstance(error, (OSError, SourceError)), *_patience(where))
    except OSError as error:
        kind = CommitConflictError if _CONFLICT.search(str(error)) else SourceError
        raise kind(f"cannot write {where!r}: {reason(error)}{_remedy(where, error)}") from error


def open_latest(where: str) -> Any:
    """The table at ``where`` as a ``lance.LanceDataset`` that stays at its latest version.

    Raises SourceError if S3 does not answer, ValueError or OSError for what Lance has to say otherwise.
    """

    def passes(error: Exception) -> bool:
        # The caller knows that the table is there: an S3 that lists late does not list it yet.
        return isinstance(error, (ValueError, OSError)) and any(say in str(error) for say in (_S3_SAYS, _NOT_FOUND))

    def open_table() -> Any:
        return lance.dataset(where, storage_options=lance_storage_options(where) or None)

    try:
        return s3.retried(open_table, passes, *_patience(where))
    except (ValueError, OSError) as error:
        if _S3_SAYS not in str(error):
            raise
        raise SourceError(f"cannot read {where!r}: {reason(error)}{_remedy(where, error)}") from error


def _patience(where: str) -> tuple[int, float]:
    """(tries, seconds after which none begins): local files are tried once."""
    return (s3.attempts() if is_s3(where) else 1), _PATIENCE_SECONDS


def reason(error: Exception) -> str:
    """What Lance says, on one line, without the place in its source."""
    line = " ".join(str(error).split()).removeprefix("LanceError(IO): ").partition(", /")[0]
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]} ..."


def _remedy(where: str, error: Exception) -> str:
    if hint := room_hint(error):
        return hint
    if is_s3(where):
        return f". S3 ({s3.endpoint() or 'AWS'}) failed several times; once it works, run the same command again"
    return ". Once that is mended, run the same command again"
