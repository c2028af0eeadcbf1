"""In-memory lookup of the filings of one index version by id, company, form and fiscal year."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter, asked_as, known_as

_Positions = npt.NDArray[np.int32]


class Catalog:
    """Filings in order of id, with an inverted index by company, form and fiscal year.

    For 100,000 filings, building it takes half a second and 15 MB; a page of the list then takes a millisecond with any
    filter.
    """

    def __init__(self, filings: Mapping[str, Filing], pages: Mapping[str, int]) -> None:
        """``pages`` maps filing ids to page counts."""
        self._ids = sorted(filings)
        self._filings = filings
        self._pages = pages
        ordered = filings.values() if list(filings) == self._ids else [filings[filing_id] for filing_id in self._ids]
        self._companies = _positions(known_as(filing) for filing in ordered)
        self._forms = _positions((filing.form.casefold(),) for filing in ordered)
        self._years = _positions((filing.fiscal_year,) for filing in ordered)

    def page(self, narrowed: FilingFilter, after: str, limit: int) -> tuple[list[Filing], bool]:
        """The first ``limit`` filings that match and whose ids follow ``after``, and whether there are more."""
        passing: npt.NDArray[np.bool_] = np.ones(len(self._ids), dtype=np.bool_)
        if narrowed.companies:
            passing &= self._any_of(self._companies, (key for name in narrowed.companies for key in asked_as(name)))
        if narrowed.forms:
            passing &= self._any_of(self._forms, (form.casefold() for form in narrowed.forms))
        if narrowed.fiscal_years:
            passing &= self._any_of(self._years, narrowed.fiscal_years)
        start = bisect_right(self._ids, after)
        found = np.flatnonzero(passing[start:])[: limit + 1] + start
        return [self._filings[self._ids[position]] for position in found[:limit]], len(found) > limit

    def n_pages(self, filing_id: str) -> int:
        return self._pages[filing_id]

    def _any_of(self, positions: Mapping[Hashable, _Positions], wanted: Iterable[Hashable]) -> npt.NDArray[np.bool_]:
        passing = np.zeros(len(self._ids), dtype=np.bool_)
        for key in positions.keys() & set(wanted):
            passing[positions[key]] = True
        return passing


def _positions(keys: Iterator[Sequence[Hashable] | frozenset[str]]) -> dict[Hashable, _Positions]:
    positions: dict[Hashable, list[int]] = {}
    for position, filing_keys in enumerate(keys):
        for key in filing_keys:
            positions.setdefault(key, []).append(position)
    return {key: np.asarray(found, dtype=np.int32) for key, found in positions.items()}
