"""The line items that fit a question, as cells that programs and citations can name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from finray.core.filing import Filing, LineItem
from finray.core.plan import Coverage
from finray.core.query import Query
from finray.evidence.blocks import EvidenceCell
from finray.evidence.heads import counted_years
from finray.evidence.selection import Chosen, PartKey, ScoredPages
from finray.evidence.tables import Table, TableRow

NEAR = 0.6
"""Minimum relevance of a row, as a share of the best."""
MAX_OF_ROW = 4


def fitting_cells(
    query: Query,
    coverage: Coverage | None,
    scored: ScoredPages,
    chosen: Chosen,
    shown: Mapping[PartKey, str],
    most: int,
) -> list[EvidenceCell]:
    """The operands of the plan, then, if it lacks some or there is none, figures of the chosen rows nearest to the
    question: at most ``most``, each in a block that is ``shown``. ``shown`` has the ids of the blocks."""
    picked: dict[tuple[str, int, int, int], tuple[str, LineItem, Filing, str | None]] = {}
    rows = list(_shown_rows(scored, chosen, shown))
    blocks = {
        (scored.pages[key[0]].place, item.row): shown[key] for _, key, _, row in rows for item in row.items.values()
    }
    for name, found in coverage.found.items() if coverage is not None else ():
        item = found.line_item
        place = found.filing.filing_id, item.page
        # A figure in a sentence is in the first block of its page.
        block = blocks.get((place, item.row)) or next(
            (block for key, block in shown.items() if scored.pages[key[0]].place == place), None
        )
        if block is not None:
            picked.setdefault(_place(found.filing, item), (block, item, found.filing, name))
    if coverage is None or coverage.absent:
        least = NEAR * max((score for score, *_ in rows), default=0.0)
        near = [each for each in rows if each[0] >= least and each[0] > 0]
        for _, key, _, row in sorted(near, key=lambda each: (-each[0], *each[1:3])):
            filing = scored.pages[key[0]].filing
            for item in asked_items(query, filing, row)[:MAX_OF_ROW]:
                picked.setdefault(_place(filing, item), (shown[key], item, filing, None))
    return [EvidenceCell(f"c{count}", *values) for count, values in enumerate(list(picked.values())[:most], start=1)]


def _place(filing: Filing, item: LineItem) -> tuple[str, int, int, int]:
    return filing.filing_id, item.page, item.row, item.column


def _shown_rows(
    scored: ScoredPages, chosen: Chosen, shown: Iterable[PartKey]
) -> Iterator[tuple[float, PartKey, int, TableRow]]:
    """(relevance, table, number, row) of each chosen row in the tables ``shown``."""
    for key in shown:
        part = scored.part(key)
        if isinstance(part, Table):
            for number in chosen[key]:
                yield scored.parts[key].scores[number], key, number, part.rows[number]


def asked_items(query: Query, filing: Filing, row: TableRow) -> list[LineItem]:
    """The line items of ``row`` for the years asked for if there are any, else all."""
    items = list(row.items.values())
    asked = set(query.years)
    fitting = [item for item in items if item.period_end is not None and asked & counted_years(filing, item.period_end)]
    return fitting or items
