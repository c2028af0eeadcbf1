"""The cells of all tables on the retrieved pages: line items of the index with the rank of their page and the words
around them. Figures that a sentence lists by period are cells of a row too.

Cells of a page are read once and kept, because many questions are about the same few filings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from finray.answering.cells.cell_words import Around, Words
from finray.answering.cells.filing_cells import FilingCells
from finray.core.currencies import CURRENCIES
from finray.core.filing import Filing, LineItem, Page
from finray.core.passages import Passage
from finray.core.plan import Measure
from finray.filings.prose.line_items import prose_items
from finray.index.reading.facts import FilingFacts, kept_with
from finray.question.synonyms import words_of

_MAX_PAGES = 10
_MAX_CELLS_OF_PAGE = 600
"""A page with more holds a price list or an index, not a table that a question is about."""


@dataclass(frozen=True, slots=True)
class PageCell:
    """``rank`` is that of the cell's page among the retrieved ones, from 0. ``headings`` are the page's as printed,
    ``heading`` their words."""

    filing: Filing
    item: LineItem
    rank: int
    around: Around
    heading: frozenset[str]
    headings: str = ""

    @property
    def words(self) -> Words:
        return self.around.words

    @property
    def row(self) -> tuple[str, int, int]:
        """The key of the printed row: filing_id, page, row."""
        return self.filing.filing_id, self.item.page, self.item.row


@dataclass(frozen=True, slots=True)
class _ReadPage:
    cells: tuple[tuple[LineItem, Around], ...]
    heading: frozenset[str]
    headings: str


class PageCells:
    """Reads the cells of pages, and keeps them while the index keeps their filing in memory."""

    def __init__(self, facts: FilingFacts) -> None:
        self._facts = facts

    def read(self, passages: Sequence[Passage], further: Iterable[tuple[str, int]] = ()) -> list[PageCell]:
        """The cells on the pages of ``passages``, best page first, then on the ``further`` pages (filing_id, number).
        Each page is in reading order."""
        retrieved = list(dict.fromkeys((p.filing_id, p.page) for p in passages))[:_MAX_PAGES]
        places = list(dict.fromkeys((*retrieved, *further)))
        items = self._facts.line_items(dict.fromkeys(filing_id for filing_id, _ in places))
        kept = {filing_id: kept_with(own, _Pages) for filing_id, own in items.items()}
        absent = [place for place in places if place[1] not in kept[place[0]].pages]
        pages = self._facts.pages(absent) if absent else {}
        for filing_id, number in absent:
            kept[filing_id].fill(number, pages.get((filing_id, number)), self._facts.filing(filing_id))
        found: list[PageCell] = []
        for rank, (filing_id, number) in enumerate(places):
            page, filing = kept[filing_id].pages[number], self._facts.filing(filing_id)
            found += [PageCell(filing, item, rank, around, page.heading, page.headings) for item, around in page.cells]
        return found


class _Pages:
    """The pages of one filing that were read so far."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        self._around = kept_with(items, FilingCells).rarity.around
        self._items: dict[int, list[LineItem]] = {}
        for item in items:
            if item.row >= 0:
                self._items.setdefault(item.page, []).append(item)
        self.pages: dict[int, _ReadPage] = {}

    def fill(self, number: int, page: Page | None, filing: Filing) -> None:
        """Adds page ``number``; ``page`` is None if the index lacks its text."""
        own = _without_repeats(self._items.get(number, ()))[:_MAX_CELLS_OF_PAGE]
        headings = ""
        if page is not None:
            own += prose_items(page, filing, own)
            headings = page.headings
        cells = tuple((item, self._around(item)) for item in own)
        self.pages[number] = _ReadPage(cells, frozenset(words_of(headings)), headings)


def _without_repeats(items: Iterable[LineItem]) -> list[LineItem]:
    """``items`` without repeated cells: a hidden tag may state a printed figure again."""
    seen: dict[tuple[object, ...], LineItem] = {}
    for item in items:
        seen.setdefault((item.row, item.column, item.label, item.value, item.period_end), item)
    return list(seen.values())


def is_dash(item: LineItem) -> bool:
    """Whether the cell prints no figure."""
    return item.value == 0 and is_printed_dash(item.text)


def is_printed_dash(text: str) -> bool:
    """Whether a numeric cell that prints ``text`` prints no figure: "—", "$ -"."""
    return not any(map(str.isdigit, text))


def measure_of(item: LineItem) -> Measure | None:
    """What the figure measures by its own unit; None for plain numbers, which may count anything."""
    if item.unit.endswith("/share"):
        return "per share"
    if item.unit == "shares":
        return "shares"
    if item.unit == "percent":
        return "percent"
    return "money" if item.unit in CURRENCIES else None


def period_name(cell: PageCell) -> str:
    """The period of ``cell`` as people name it; "" if the table does not date it."""
    item = cell.item
    if item.period_end is None:
        return ""
    day = f"{item.period_end:%B} {item.period_end.day}, {item.period_end.year}"
    if item.months == 12:
        return f"the year ended {day}"
    if item.months == 1:
        return f"the month ended {day}"
    if item.months:
        return f"the {item.months} months ended {day}"
    return day
