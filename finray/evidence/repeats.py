"""Finds rows that two filings of a company print: only the filing of the period asked for should show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from finray.core.filing import Filing, LineItem
from finray.core.query import Query
from finray.core.tables import Row
from finray.evidence.candidates import Candidate
from finray.evidence.heads import counted_years
from finray.evidence.selection import Chosen, Piece
from finray.evidence.tables import ShownTable
from finray.index.reading.facts import FilingFacts
from finray.retrieval.filing_match import period_fit

_KEY = re.compile(r"[^a-z0-9]+")

_Figure = tuple[str, str, str, int | None, float]
"""Company, label, month in which the period ends, months, value."""


def repeated(
    query: Query,
    found: Sequence[Candidate],
    chosen: Chosen,
    covered: Mapping[tuple[str, int], Collection[int]],
    facts: FilingFacts,
) -> set[Piece]:
    """The chosen rows whose figures, of the periods asked for, are all in chosen rows of another filing, too. Without
    ``covered`` rows: those of line items that a plan uses, by (filing_id, page)."""
    order = sorted(range(len(found)), key=lambda number: (-period_fit(found[number].filing, query.periods)[0], number))
    printed: dict[_Figure, str] = {}
    dropped: set[Piece] = set()
    for number in order:
        candidate = found[number]
        filing_id = candidate.filing.filing_id
        company = facts.company_of(filing_id)
        used = covered.get(candidate.place, ())
        for at, part in enumerate(candidate.parts):
            if not isinstance(part, ShownTable):
                continue
            for piece in sorted(chosen.get((number, at), ())):
                row = part.rows[piece]
                items = _asked_items(query, candidate.filing, list(part.items_of(row).values()))
                figures = [_figure(company, row, item) for item in items if item.period_end is not None]
                if not figures or any(item.row in used for item in items):
                    continue
                if filing_id not in {printed.setdefault(figure, filing_id) for figure in figures}:
                    dropped.add((number, at, piece))
    return dropped


def _figure(company: str, row: Row, item: LineItem) -> _Figure:
    label = _KEY.sub("", f"{item.column_label or ''}{row.label}".lower())
    return company, label, f"{item.period_end:%Y-%m}", item.months, item.value


def _asked_items(query: Query, filing: Filing, items: list[LineItem]) -> list[LineItem]:
    """``items`` of the years asked for if there are any, else all."""
    asked = set(query.years)
    fitting = [item for item in items if item.period_end is not None and asked & counted_years(filing, item.period_end)]
    return fitting or items
