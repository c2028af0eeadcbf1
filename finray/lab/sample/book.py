"""The input of every document builder for one filing: company, books as of the filing, story, columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finray.lab.sample.blocks import Block, Head, Para, Table, WordTable
from finray.lab.sample.calendars import column_date, long_date
from finray.lab.sample.companies import Company
from finray.lab.sample.cover import Draft
from finray.lab.sample.ledger import Ledger, Period, Vintage
from finray.lab.sample.story import Story
from finray.lab.sample.table_maker import Column, scale_note
from finray.lab.sample.texts import load_text


@dataclass(frozen=True, slots=True)
class Book:
    """One filing's view of the books. ``full`` prints the long form of every section."""

    draft: Draft
    ledger: Ledger
    vintage: Vintage
    story: Story
    full: bool

    @property
    def company(self) -> Company:
        return self.draft.company

    @property
    def year(self) -> int:
        return self.draft.fiscal_year

    def annual(self, year: int) -> Period:
        return self.ledger.annual(year, self.vintage)

    def restated(self, year: int) -> bool:
        """Whether this filing prints corrected figures of ``year`` after the original 10-K misstated it."""
        return year == self.company.restated_year and (self.vintage.amended or self.vintage.year > year)

    def ordered(self, columns: Sequence[Column]) -> list[Column]:
        return sorted(columns, key=lambda column: column.end, reverse=self.company.style.newest_first)

    def year_columns(self, count: int, *, instants: bool = False) -> list[Column]:
        """The last ``count`` fiscal years in the company's order, with dates as headings."""
        calendar = self.company.calendar
        columns = []
        for year in range(self.year, self.year - count, -1):
            end = calendar.year_end(year)
            dated = calendar.weekday is not None or instants
            heading = column_date(end) if dated else str(end.year)
            if self.restated(year):
                heading += "\n(As Restated)"
            columns.append(Column(self.annual(year), heading, None if instants else calendar.year_start(year), end))
        return self.ordered(columns)

    def year_head(self, columns: Sequence[Column]) -> Head:
        calendar = self.company.calendar
        month_day = long_date(calendar.year_end(self.year)).rsplit(" ", 1)[0]
        top = f"Year Ended {month_day}" if calendar.weekday is None else "Fiscal Year Ended"
        return ((top, len(columns)),), tuple((column.heading, 1) for column in columns)

    def statement(self, title: str, table: Table, *, per_share: bool = False, note: str = "") -> list[Block]:
        """A titled statement with its scale line and the usual closing reference to the notes."""
        title = title.upper() if self.company.style.upper_titles else title
        closing = note or "See accompanying notes to consolidated financial statements."
        name = self.draft.registrant.upper() if self.company.style.upper_titles else self.draft.registrant
        return [
            Para(name, "center_bold"),
            Para(title, "center_bold"),
            Para(scale_note(self.company, per_share=per_share), "center"),
            table,
            Para(closing, "italic"),
        ]

    def say(self, key: str) -> Para:
        """The paragraph of a story sentence, kept on one page so that its page is known."""
        return Para(self.story.sentences[key], key=key)

    def boilerplate(self, name: str) -> Para:
        return Para(self.fill(load_text("boilerplate")[name]))

    def fill(self, template: str) -> str:
        company = self.company
        return template.format(
            name=self.draft.registrant,
            short=company.short,
            products=company.profile["products"],
            customers=company.profile["customers"],
            ceo=company.ceo,
            state=company.state,
            exchange=company.exchange,
            ticker=company.ticker,
            bank=company.bank,
            auditor=company.auditor,
            segment=company.profile["segments"][0],
            end=long_date(self.draft.end),
            holders=f"{300 + int(company.cik) % 4000:,}",
            previous_end=long_date(company.calendar.year_end(self.year - 1)),
        )

    def signatures(self) -> list[Block]:
        company, day = self.company, long_date(self.draft.filed_at)
        return [
            Para("SIGNATURES", "center_bold"),
            self.boilerplate("certification"),
            Para(self.draft.registrant, "heading"),
            WordTable(
                (
                    ("Signature", "Title", "Date"),
                    (
                        f"/s/ {company.ceo}\n{company.ceo}",
                        "President and Chief Executive Officer\n(Principal Executive Officer)",
                        day,
                    ),
                    (
                        f"/s/ {company.cfo}\n{company.cfo}",
                        "Executive Vice President and Chief Financial Officer\n"
                        "(Principal Financial and Accounting Officer)",
                        day,
                    ),
                ),
                (0.32, 0.45, 0.23),
                bold_head=True,
            ),
        ]


def item(number: str, title: str) -> Para:
    return Para(f"Item {number}.  {title}", "heading")
