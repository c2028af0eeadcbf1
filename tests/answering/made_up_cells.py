"""A filing with the tables of two pages, in place of an index."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from finray.core.filing import Filing, LineItem, Page
from finray.core.passages import Passage
from finray.index.reading.facts import FilingFacts, FilingItems

END = dt.date(2022, 12, 31)
BEFORE = dt.date(2021, 12, 31)
FILING = Filing(
    "a", "ACME_2022", "a.htm", "0" * 64, "Acme", "10-K", period_end=END, fiscal_year=2022, fiscal_period="FY"
)
_CAPITAL = "Capital spending by segment was as follows:"


def item(page: int, row: int, label: str, value: float, **changes: object) -> LineItem:
    plain = LineItem(page, None, label, value, f"{value:,.0f}", "USD", 1, END, 12, row=row, column=1)
    return replace(plain, **changes)  # type: ignore[arg-type]


ITEMS = (
    item(3, 1, "North America Beverages", 904e6, caption=_CAPITAL, text="904", scale=10**6),
    item(
        3, 1, "North America Beverages", 769e6, caption=_CAPITAL, text="769", scale=10**6, period_end=BEFORE, column=2
    ),
    item(3, 2, "Frito Snacks", 665e6, caption=_CAPITAL, text="665", scale=10**6),
    item(3, 2, "Frito Snacks", 801e6, caption=_CAPITAL, text="801", scale=10**6, period_end=BEFORE, column=2),
    item(5, 1, "Granted", 1_371_000.0, unit="shares", column_label="Number of RSUs", caption="Stock units"),
    item(5, 1, "Granted", 41.5, unit="USD/share", column_label="Fair value per unit", caption="Stock units", column=2),
    item(5, 2, "Impairment losses", -787e6, text="(787)", scale=10**6, column_label="Rest of World"),
    item(5, 3, "Leverage ratio", 2.5, text="2.5", unit="pure"),
    item(5, 4, "Share of units in hotels", 12.5, text="12.5%", unit="percent"),
)
LISTED = "Rental expense of our warehouses was $17 million and $15 million in 2022 and 2021, respectively."
TEXTS = {
    3: f"{_CAPITAL}\nNorth America Beverages 904 769\nFrito Snacks 665 801",
    5: "Granted 1,371,000 41.5\n(787)",
    7: LISTED,
}


class MadeUpFacts:
    """Counts how often pages are read."""

    def __init__(self, items: Sequence[LineItem] = ITEMS) -> None:
        self._items = {"a": FilingItems(items)}
        self.reads = 0

    def filing(self, filing_id: str) -> Filing:
        return FILING

    def company_of(self, filing_id: str) -> str:
        return "acme"

    def has_company(self, company: str) -> bool:
        return company == "acme"

    def company_name(self, company: str) -> str:
        return "Acme"

    def line_items(self, filing_ids: Collection[str]) -> dict[str, Sequence[LineItem]]:
        return {filing_id: self._items[filing_id] for filing_id in filing_ids}

    def pages(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        self.reads += len(places)
        return {place: Page(place[1], TEXTS.get(place[1], ""), headings="Note 7") for place in places}

    def passages_of(self, filing_id: str, page: int) -> list[Passage]:
        return [passage(page)]


def passage(page: int) -> Passage:
    text = TEXTS.get(page, "")
    return Passage("ACME_2022", "a", page, 0, len(text), text, 1 / (1 + page))


def facts(items: Sequence[LineItem] = ITEMS) -> FilingFacts:
    return cast(FilingFacts, MadeUpFacts(items))
