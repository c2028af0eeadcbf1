"""The 10-Q: condensed statements for the quarter and the year to date, short notes and discussion."""

from __future__ import annotations

import random
from calendar import month_name

from finray.lab.sample.balance_sheet import balance_sheet
from finray.lab.sample.blocks import Block, Break, Head, Para
from finray.lab.sample.book import Book, item
from finray.lab.sample.calendars import column_date
from finray.lab.sample.cash_flow import cash_flow_statement
from finray.lab.sample.cover import periodic_cover
from finray.lab.sample.ledger import Vintage
from finray.lab.sample.statements import income_statement, segment_revenue
from finray.lab.sample.story import margin_sentence, revenue_sentence
from finray.lab.sample.table_maker import Column

_MONTHS = {1: "Three", 2: "Six", 3: "Nine"}
_WEEKS = {1: "Thirteen", 2: "Twenty-Six", 3: "Thirty-Nine"}


def quarterly_report(book: Book, quarter: int, sentences: dict[str, str]) -> list[Block]:
    company = book.company
    columns, head = _flow_columns(book, quarter)
    year_to_date = columns[-2:]
    unaudited = "See accompanying notes to condensed consolidated financial statements (unaudited)."
    closing = book.ledger.period(book.year, quarter, book.vintage).closing
    return [
        *periodic_cover(book.draft, closing),
        Para("PART I. FINANCIAL INFORMATION", "center_bold"),
        item("1", "Financial Statements (Unaudited)"),
        *book.statement(
            f"Condensed {company.style.income_title} (Unaudited)",
            income_statement(company, columns, head),
            per_share=True,
            note=unaudited,
        ),
        Break(),
        *book.statement(
            "Condensed Consolidated Balance Sheets (Unaudited)",
            balance_sheet(company, _instants(book, quarter)),
            per_share=True,
            note=unaudited,
        ),
        Break(),
        *book.statement(
            "Condensed Consolidated Statements of Cash Flows (Unaudited)",
            cash_flow_statement(company, year_to_date, _head(book, quarter, year_to_date, quarters=quarter)),
            note=unaudited,
        ),
        Break(),
        Para("NOTES TO CONDENSED CONSOLIDATED FINANCIAL STATEMENTS (Unaudited)", "center_bold"),
        Para("Note 1. Basis of Presentation", "heading"),
        book.boilerplate("interim_basis"),
        Para(f"Fiscal Year. {company.calendar.description()}"),
        Para("Note 2. Segment Information", "heading"),
        Para("Revenue by segment was as follows:"),
        segment_revenue(company, columns, head, "Total"),
        Para("Note 3. Debt", "heading"),
        book.say("facility"),
        Para("Note 4. Commitments and Contingencies", "heading"),
        book.boilerplate("ordinary_litigation"),
        item("2", "Management’s Discussion and Analysis of Financial Condition and Results of Operations"),
        Para(sentences["revenue_driver"], key="revenue_driver"),
        Para(sentences["margin_driver"], key="margin_driver"),
        Para("Liquidity and Capital Resources", "subheading"),
        book.boilerplate("liquidity"),
        item("3", "Quantitative and Qualitative Disclosures About Market Risk"),
        book.boilerplate("market_risk"),
        item("4", "Controls and Procedures"),
        book.boilerplate("controls"),
        Para("PART II. OTHER INFORMATION", "center_bold"),
        item("1", "Legal Proceedings"),
        book.boilerplate("ordinary_litigation"),
        item("1A", "Risk Factors"),
        Para("There have been no material changes to the risk factors disclosed in our Annual Report on Form 10-K."),
        item("6", "Exhibits"),
        Para("31.1  Certification of Chief Executive Officer"),
        Para("31.2  Certification of Chief Financial Officer"),
        Para("32.1  Section 906 Certifications"),
        *book.signatures(),
    ]


def quarter_sentences(book: Book, quarter: int, seed: int) -> dict[str, str]:
    """The reasons for the quarter's revenue and margin, in the wording of its discussion."""
    rng = random.Random(f"{seed}:quarter:{book.company.cik}:{book.year}:{quarter}")
    now = book.ledger.period(book.year, quarter, book.vintage, first=quarter)
    before = book.ledger.period(book.year - 1, quarter, book.vintage, first=quarter)
    ordinal = ("first", "second", "third")[quarter - 1]
    label, previous = f"the {ordinal} quarter of fiscal {book.year}", f"the same quarter of fiscal {book.year - 1}"
    return {
        "revenue_driver": revenue_sentence(book.company, now, before, label, previous, rng),
        "margin_driver": margin_sentence(book.company, now, before, previous, rng),
    }


def _flow_columns(book: Book, quarter: int) -> tuple[list[Column], Head]:
    """Quarter and year to date, each with its prior year; the first quarter has no year to date."""
    columns = _pair(book, quarter, first=quarter)
    head = _head(book, quarter, columns, quarters=1)
    if quarter == 1:
        return columns, head
    to_date = _pair(book, quarter, first=1)
    wide = _head(book, quarter, to_date, quarters=quarter)
    return [*columns, *to_date], ((*head[0], *wide[0]), (*head[1], *wide[1]))


def _head(book: Book, quarter: int, columns: list[Column], *, quarters: int) -> Head:
    """The heading of columns that span ``quarters`` quarters up to ``quarter``."""
    calendar = book.company.calendar
    end = calendar.quarter_end(book.year, quarter)
    if calendar.weekday is None:
        top = f"{_MONTHS[quarters]} Months Ended\n{month_name[end.month]} {end.day},"
    else:
        top = f"{_WEEKS[quarters]} Weeks Ended"
    return ((top, len(columns)),), tuple((column.heading, 1) for column in columns)


def _pair(book: Book, quarter: int, first: int) -> list[Column]:
    calendar = book.company.calendar
    made = []
    for year in (book.year, book.year - 1):
        end = calendar.quarter_end(year, quarter)
        heading = str(end.year) if calendar.weekday is None else column_date(end)
        period = book.ledger.period(year, quarter, book.vintage, first)
        made.append(Column(period, heading, calendar.quarter_start(year, first), end))
    return book.ordered(made)


def _instants(book: Book, quarter: int) -> list[Column]:
    calendar = book.company.calendar
    days = (
        (book.ledger.period(book.year, quarter, book.vintage), calendar.quarter_end(book.year, quarter)),
        (book.ledger.annual(book.year - 1, Vintage(book.year)), calendar.year_end(book.year - 1)),
    )
    return book.ordered([Column(period, column_date(end), None, end) for period, end in days])
