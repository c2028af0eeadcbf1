"""The 8-K with one event, and the earnings release that is its Exhibit 99.1."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass

from finray.lab.sample.balance_sheet import balance_sheet
from finray.lab.sample.blocks import Block, Para, WordTable
from finray.lab.sample.book import Book
from finray.lab.sample.calendars import long_date
from finray.lab.sample.cash_flow import cash_flow_statement
from finray.lab.sample.companies import Company, person
from finray.lab.sample.cover import current_cover
from finray.lab.sample.statements import income_statement
from finray.lab.sample.story import Story, dollars, year_label
from finray.lab.sample.table_maker import TableMaker, scale_note


@dataclass(frozen=True, slots=True)
class Event:
    """The event of an 8-K. ``number`` and ``title`` are its Item's, ``sentence`` answers a question about it, ``more``
    are further paragraphs."""

    kind: str
    number: str
    title: str
    day: dt.date
    sentence: str
    more: tuple[str, ...]


def make_event(company: Company, story: Story, kind: str, day: dt.date, mills: int, rng: random.Random) -> Event:
    """An event of ``kind`` "dividend" (of ``mills`` thousandths of a dollar per share), "officer" or "credit"."""
    if kind == "dividend":
        record, paid = day + dt.timedelta(days=18), day + dt.timedelta(days=34)
        return Event(
            kind,
            "8.01",
            "Other Events",
            day,
            f"On {long_date(day)}, the Board of Directors of {company.name_on(day)} declared a "
            f"quarterly cash dividend of ${mills / 1000:.3f} per share of common stock.",
            (
                f"The dividend is payable on {long_date(paid)} to stockholders of record at the close "
                f"of business on {long_date(record)}.",
                "Future dividends remain subject to declaration by the Board of Directors.",
            ),
        )
    if kind == "officer":
        leaving, arriving = person(rng), person(rng)
        post = rng.choice(("Chief Operating Officer", "General Counsel and Secretary", "Chief Human Resources Officer"))
        start = day + dt.timedelta(days=21)
        salary = rng.randrange(380_000, 720_000, 5_000)
        return Event(
            kind,
            "5.02",
            "Departure of Directors or Certain Officers; Election of Directors; Appointment of Certain Officers; "
            "Compensatory Arrangements of Certain Officers",
            day,
            f"On {long_date(day)}, {company.name_on(day)} appointed {arriving} as {post}, effective "
            f"{long_date(start)}, succeeding {leaving}, who is retiring.",
            (
                f"{arriving.split()[-1]} will receive an annual base salary of ${salary:,} and will "
                "participate in the annual incentive plan and the Omnibus Incentive Plan.",
                f"There are no family relationships between {arriving} and any director or executive "
                "officer, and no transactions that require disclosure under Item 404(a) of Regulation S-K.",
            ),
        )
    return Event(
        kind,
        "1.01",
        "Entry into a Material Definitive Agreement",
        day,
        f"On {long_date(day)}, {company.name_on(day)} entered into an amended and restated credit "
        f"agreement with {company.bank}, as administrative agent, providing for a "
        f"{dollars(story.facility)} revolving credit facility that matures on "
        f"{long_date(day.replace(year=day.year + 5, day=min(day.day, 28)))}.",
        (
            "Borrowings bear interest at Term SOFR plus a margin of 1.125% to 1.750%, depending on "
            "the Company’s leverage ratio.",
            "The credit agreement contains customary representations, covenants and events of default.",
        ),
    )


def current_report(book: Book, event: Event) -> list[Block]:
    company = book.company
    extra: list[Block] = []
    if event.kind == "credit":
        extra = [
            Para(
                "Item 2.03  Creation of a Direct Financial Obligation or an Obligation under an "
                "Off-Balance Sheet Arrangement of a Registrant",
                "heading",
            ),
            Para("The information set forth in Item 1.01 is incorporated herein by reference."),
        ]
    return [
        *current_cover(book.draft, event.day),
        Para(f"Item {event.number}  {event.title}", "heading"),
        Para(event.sentence, key=f"event:{event.kind}"),
        *(Para(text) for text in event.more),
        *extra,
        Para("Item 9.01  Financial Statements and Exhibits", "heading"),
        WordTable(
            (
                ("Exhibit No.", "Description"),
                ("104", "Cover Page Interactive Data File (embedded within the Inline XBRL document)"),
            ),
            (0.2, 0.8),
            bold_head=True,
        ),
        Para("SIGNATURES", "center_bold"),
        Para(
            "Pursuant to the requirements of the Securities Exchange Act of 1934, the registrant has "
            "duly caused this report to be signed on its behalf by the undersigned hereunto duly "
            "authorized."
        ),
        Para(
            f"{book.draft.registrant}\nDate: {long_date(book.draft.filed_at)}\nBy: /s/ "
            f"{company.cfo}\n{company.cfo}\nExecutive Vice President and Chief Financial Officer"
        ),
    ]


def earnings_release(book: Book) -> list[Block]:
    """Full-year results as announced, weeks before the 10-K."""
    company, period = book.company, book.annual(book.year)
    label = year_label(company, book.year)
    flows, multiplier = period.flows, company.multiplier
    columns, instants = book.year_columns(2), book.year_columns(2, instants=True)
    head = book.year_head(columns)
    maker = TableMaker(company, columns)
    maker.money("Net income", lambda p: p.flows.net_income, dollar=True)
    maker.money("Interest expense, net", lambda p: p.flows.interest_expense - p.flows.interest_income)
    maker.money("Provision for income taxes", lambda p: p.flows.income_tax)
    maker.money("Depreciation and amortization", lambda p: p.flows.depreciation)
    maker.money("EBITDA", lambda p: p.flows.operating_income + p.flows.depreciation, total=True, indent=0, key="ebitda")
    maker.money("Restructuring charges", lambda p: p.flows.restructuring)
    maker.money(
        "Adjusted EBITDA",
        lambda p: p.flows.operating_income + p.flows.depreciation + p.flows.restructuring,
        grand=True,
        key="adjusted_ebitda",
    )
    start = "Condensed " if book.full else ""
    return [
        Para("Exhibit 99.1", "heading"),
        Para("FOR IMMEDIATE RELEASE", "center_bold"),
        Para(f"{book.draft.registrant} Reports Fourth Quarter and Full Year {label.title()} Results", "title"),
        Para(
            f"{company.city.upper()}, {company.city_state}, {long_date(book.draft.filed_at)} - "
            f"{book.draft.registrant} ({_venue(company)}: {company.ticker}) today announced results for its "
            f"fourth quarter and fiscal year ended {long_date(book.draft.end)}."
        ),
        Para(f"Revenue of {dollars(flows.revenue * multiplier)}", "bullet"),
        Para(
            f"Net income of {dollars(flows.net_income * multiplier)}, or "
            f"${period.diluted_eps_cents / 100:.2f} per diluted share",
            "bullet",
        ),
        Para(f"Operating cash flow of {dollars(flows.operating_cash * multiplier)}", "bullet"),
        Para(
            f"“{label.capitalize()} was a year of disciplined execution,” said {company.ceo}, President and "
            "Chief Executive Officer. "
            f"“{book.story.sentences['capex_plan'].replace('We expect', 'We plan')}”"
        ),
        book.say("revenue_driver"),
        book.say("margin_driver"),
        *book.statement(
            f"{start}{company.style.income_title} (Unaudited)",
            income_statement(company, columns, head),
            per_share=True,
            note="Unaudited.",
        ),
        *book.statement(
            "Condensed Consolidated Balance Sheets (Unaudited)", balance_sheet(company, instants), note="Unaudited."
        ),
        *book.statement(
            "Condensed Consolidated Statements of Cash Flows (Unaudited)",
            cash_flow_statement(company, columns, head),
            note="Unaudited.",
        ),
        Para("Reconciliation of Net Income to Adjusted EBITDA", "center_bold"),
        Para(scale_note(company, per_share=False), "center"),
        maker.table("reconciliation", head),
        Para(f"About {company.short}", "heading"),
        Para(book.story.sentences["business"]),
        Para(f"Investor contact: {company.cfo}, {company.phone}"),
    ]


def _venue(company: Company) -> str:
    return "NYSE" if company.exchange.startswith("New York") else "Nasdaq"
