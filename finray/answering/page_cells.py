"""The cells of all tables on the retrieved pages, whatever the question: label, heads, period, unit, scale and value.

A cell is a line item of the index with the rank of its page and the words around it. Cells of a page are read once and
kept, because many questions are about the same few filings.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from finray.answering.row_match import Words, words_around
from finray.core.plan import Measure
from finray.core.query import Query
from finray.core.types import Filing, LineItem, Passage
from finray.filings.cells import CURRENCIES
from finray.index.facts import FilingFacts
from finray.question.synonyms import words_of

MAX_PAGES = 10
MAX_CELLS_OF_PAGE = 600
"""More are a list of prices or an index, not a table that a question is about."""
KEPT_PAGES = 1024


@dataclass(frozen=True, slots=True)
class PageCell:
    """``rank`` is that of the cell's page among the retrieved ones, from 0; ``heading`` are the words of the page's
    headings."""

    filing: Filing
    item: LineItem
    rank: int
    words: Words
    heading: frozenset[str]

    @property
    def row(self) -> tuple[str, int, int]:
        """Identifies the printed row."""
        return self.filing.filing_id, self.item.page, self.item.row


@dataclass(frozen=True, slots=True)
class _OfPage:
    cells: tuple[tuple[LineItem, Words], ...]
    heading: frozenset[str]


class PageCells:
    """Reads cells of pages, and keeps those of the KEPT_PAGES most recently used ones."""

    def __init__(self, facts: FilingFacts) -> None:
        self._facts = facts
        self._pages: OrderedDict[tuple[str, int], _OfPage] = OrderedDict()

    def read(self, passages: Sequence[Passage]) -> list[PageCell]:
        """The cells on the pages of ``passages``, the best page first, each page in reading order."""
        places = list(dict.fromkeys((p.filing_id, p.page) for p in passages))[:MAX_PAGES]
        self._fill([place for place in places if place not in self._pages])
        found: list[PageCell] = []
        for rank, place in enumerate(places):
            self._pages.move_to_end(place)
            page, filing = self._pages[place], self._facts.filing(place[0])
            found += [PageCell(filing, item, rank, words, page.heading) for item, words in page.cells]
        while len(self._pages) > KEPT_PAGES:
            self._pages.popitem(last=False)
        return found

    def _fill(self, absent: Sequence[tuple[str, int]]) -> None:
        if not absent:
            return
        items = self._facts.line_items({filing_id for filing_id, _ in absent})
        pages = self._facts.pages(absent)
        for filing_id, number in absent:
            own = [item for item in items[filing_id] if item.page == number and item.row >= 0]
            page = pages.get((filing_id, number))
            cells = tuple((item, words_around(item)) for item in _each_once(own)[:MAX_CELLS_OF_PAGE])
            heading = frozenset(words_of(page.headings)) if page is not None else frozenset()
            self._pages[filing_id, number] = _OfPage(cells, heading)


def _each_once(items: Iterable[LineItem]) -> list[LineItem]:
    """``items`` without those that repeat a cell: a hidden tag may state the figure of a printed one again."""
    seen: dict[tuple[object, ...], LineItem] = {}
    for item in items:
        seen.setdefault((item.row, item.column, item.label, item.value, item.period_end), item)
    return list(seen.values())


def measure_of(item: LineItem) -> Measure | None:
    """What the figure measures by its own unit; None for plain numbers, which may count anything."""
    if item.unit.endswith("/share"):
        return "per share"
    if item.unit in ("shares", "percent"):
        return "shares" if item.unit == "shares" else "percent"
    return "money" if item.unit in CURRENCIES else None


def may_answer(query: Query, item: LineItem) -> bool:
    """Whether the question may mean a figure such as ``item``, by its unit.

    A price or a number of shares answers only a question about one: "net income" is never $3.12. A question that states
    its unit gets no other.
    """
    measure, asked = measure_of(item), query.shape.unit
    around = " ".join(filter(None, (item.label, item.column_label, item.section)))
    if asked is None and "share" in query.intents:
        asked = "percent"  # "what portion of its sites": their number is no portion
    if asked is None:
        wanted = {"per share": _PRICE, "shares": _COUNT}.get(measure or "")
        return wanted is None or wanted.search(query.text) is not None
    if asked == "money":
        return measure == "money"
    if asked == "per share":
        return measure == "per share"
    if asked == "percent":
        return measure == "percent"
    if asked == "ratio":
        return measure == "percent" or (measure is None and _RATIO.search(around) is not None)
    if asked == "shares":
        return measure == "shares"
    return measure in ("shares", None)  # a count, or days


_PRICE = re.compile(
    r"\bper (?:\w+ ){0,2}(?:share|unit|option|award)\b|\beps\b|\bprices?\b|\ba share\b|\bdividend (?:rate|declared)\b",
    re.I,
)
_COUNT = re.compile(
    r"\bshares\b|\b(?:stock|share) (?:units|count)\b|\b(?:options|awards|warrants|r?sus|psus)\b|\bhow many\b|"
    r"\bnumber of\b",
    re.I,
)
_RATIO = re.compile(r"\bratios?\b|\btimes\b|\bmultiples?\b|\bcoverage\b|\bleverage\b", re.I)
