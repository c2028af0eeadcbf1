"""Sets aside filings whose rows an extension cannot make, so that the run goes on without them.

If a model raises an error for a filing or kills the process, the filing is tried again, as in an index job
(``finray.index.job.embedding``). A filing that was set aside is noted beside the extension, which then counts as
complete without it; the next run tries it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar

from finray.core.errors import FinrayError, IndexMismatchError, ModelUnavailableError
from finray.index.job.attempts import Attempts
from finray.index.job.embedding import ATTEMPTS, on_one_line
from finray.storage.locations import delete, exists, read_bytes, write_bytes

T = TypeVar("T")
Key = tuple[str, str]
"""(filing_id, revision)"""
_IN_A_ROW = 3
"""Consecutive filings of a process that fail before the model is to blame."""


@dataclass(frozen=True, slots=True)
class FailedFiling:
    """``reason`` is "crashed" or "model_error"; ``detail`` is for a person."""

    filing_id: str
    revision: str
    reason: str
    detail: str

    @property
    def key(self) -> Key:
        return self.filing_id, self.revision


class Attempted(Generic[T]):
    """``work`` on one filing after another, tried again after an error. ``attempts`` counts the tries."""

    def __init__(self, work: Callable[[Key], T], attempts: Attempts) -> None:
        self._work = work
        self._attempts = attempts
        self._failed_in_a_row = 0

    def __call__(self, key: Key) -> T | FailedFiling:
        """What the work makes of a filing, or why it was set aside.

        Raises FinrayErrors of the work, which are not the filing's fault, and ModelUnavailableError if one filing after
        another fails.
        """
        (begun,) = self._attempts.unfinished([key[0]])
        error: BaseException | None = None
        while begun < ATTEMPTS:
            self._attempts.begin([key[0]])
            begun += 1
            made = self._outcome(key)
            if not isinstance(made, BaseException):
                self._attempts.finish([key[0]])
                self._failed_in_a_row = 0
                return made
            error = made
        if error is None:
            detail = f"the process that worked on it died in {ATTEMPTS} attempts (out of memory?)"
            return FailedFiling(*key, "crashed", detail)
        self._failed_in_a_row += 1
        what = on_one_line(error)
        if self._failed_in_a_row >= _IN_A_ROW:
            raise ModelUnavailableError(f"the model fails on every filing, last on {key[0]}: {what}") from error
        return FailedFiling(*key, "model_error", f"{ATTEMPTS} attempts failed: {what}")

    def _outcome(self, key: Key) -> T | BaseException:
        try:
            return self._work(key)
        except (FinrayError, KeyboardInterrupt, SystemExit):
            self._attempts.finish([key[0]])
            raise
        except BaseException as error:  # noqa: BLE001 - a panic in a tokenizer's Rust code is no Exception
            return error


def note_failed(location: str, failed: Mapping[Key, FailedFiling]) -> None:
    """Write the note at ``location``; delete it if no filing failed."""
    if failed:
        write_bytes(location, json.dumps([asdict(one) for one in failed.values()], indent=1).encode())
    else:
        delete(location)


def noted_failed(location: str) -> dict[Key, FailedFiling]:
    """The filings in the note at ``location``, if there is one. Raises IndexMismatchError if it cannot be read."""
    if not exists(location):
        return {}
    try:
        found = [FailedFiling(**one) for one in json.loads(read_bytes(location))]
    except (ValueError, TypeError) as error:
        raise IndexMismatchError(f"{location!r} is not a list of failed filings: {error}; remove it") from error
    return {one.key: one for one in found}
