"""The line items that fit a question, as cells that programs and citations can name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from finray.core.filing import Filing, LineItem
from finray.core.plan import Coverage
from finray.core.query import Query
from finray.evidence.blocks import EvidenceCell
from finray.evidence.candidates import Candidate
from finray.evidence.heads import counted_years
from finray.evidence.selection import Scored
from finray.evidence.tables import Table

NEAR = 0.6
"""Share of the best relevance that a row needs."""
MAX_OF_ROW = 4


def fitting_cells(
    query: Query,
    coverage: Coverage | None,
    found: Sequence[Candidate],
    scored: Mapping[tuple[int, int], Scored],
    chosen: Mapping[tuple[int, int], set[int]],
    shown: Mapping[tuple[int, int], str],
    most: int,
) -> list[EvidenceCell]:
    """The operands of the plan, then, if it lacks some or there is none, figures of the shown rows nearest to the
    question: at most ``most``, each in a block that is ``shown``."""
    picked: dict[tuple[str, int, int, int], tuple[str, LineItem, Filing, str | None]] = {}
    blocks = {
        (found[key[0]].place, item.row): shown[key]
        for key in shown
        if isinstance(part := found[key[0]].parts[key[1]], Table)
        for piece in chosen[key]
        for item in part.rows[piece].items.values()
    }
    for name, each in coverage.found.items() if coverage is not None else ():
        item = each.line_item
        block = blocks.get(((each.filing.filing_id, item.page), item.row)) or _block_of_page(
            (each.filing.filing_id, item.page), found, shown
        )
        if block is not None:
            picked.setdefault(_place(each.filing, item), (block, item, each.filing, name))
    if coverage is None or coverage.absent:
        for key, piece in _nearest_rows(found, scored, chosen):
            part = found[key[0]].parts[key[1]]
            assert isinstance(part, Table)
            filing = found[key[0]].filing
            for item in asked_items(query, filing, list(part.rows[piece].items.values()))[:MAX_OF_ROW]:
                picked.setdefault(_place(filing, item), (shown[key], item, filing, None))
    return [EvidenceCell(f"c{count}", *values) for count, values in enumerate(list(picked.values())[:most], start=1)]


def _place(filing: Filing, item: LineItem) -> tuple[str, int, int, int]:
    return filing.filing_id, item.page, item.row, item.column


def _block_of_page(
    place: tuple[str, int], found: Sequence[Candidate], shown: Mapping[tuple[int, int], str]
) -> str | None:
    """The first block of a page: for a figure in a sentence."""
    return next((block for key, block in shown.items() if found[key[0]].place == place), None)


def _nearest_rows(
    found: Sequence[Candidate],
    scored: Mapping[tuple[int, int], Scored],
    chosen: Mapping[tuple[int, int], set[int]],
) -> list[tuple[tuple[int, int], int]]:
    rows = [
        (scored[key].scores[piece], key, piece)
        for key, pieces in chosen.items()
        if isinstance(found[key[0]].parts[key[1]], Table)
        for piece in pieces
    ]
    least = NEAR * max((score for score, *_ in rows), default=0.0)
    ranked = sorted((row for row in rows if row[0] >= least and row[0] > 0), key=lambda row: (-row[0], row[1:]))
    return [(key, piece) for _, key, piece in ranked]


def asked_items(query: Query, filing: Filing, items: Sequence[LineItem]) -> list[LineItem]:
    """The items of the years asked for if there are any, else all."""
    asked = set(query.years)
    fitting = [item for item in items if item.period_end is not None and asked & counted_years(filing, item.period_end)]
    return fitting or list(items)
