"""Notes of the long form only: details of amounts that the primary statements show in one line."""

from __future__ import annotations

from finray.lab.sample.blocks import Block, Para, Row, Table, cents, number
from finray.lab.sample.book import Book
from finray.lab.sample.calendars import long_date
from finray.lab.sample.ledger import flow
from finray.lab.sample.story import dollars, year_label
from finray.lab.sample.table_maker import TableMaker
from finray.lab.sample.texts import load_text

Section = tuple[str, list[Block]]


def long_notes(book: Book) -> list[Section]:
    made = [
        _geography(book),
        _per_share(book),
        _accrued(book),
        _acquisitions(book),
        _restructuring(book),
        _fair_value(book),
        _retirement(book),
        _quarters(book),
        _subsequent(book),
    ]
    return [section for section in made if section is not None]


def _geography(book: Book) -> Section:
    columns = book.year_columns(3)
    maker = TableMaker(book.company, columns)
    maker.money("United States", lambda p: p.flows.revenue - p.flows.revenue // 4 - p.flows.revenue // 9, dollar=True)
    maker.money("Europe", lambda p: p.flows.revenue // 4)
    maker.money("Rest of world", lambda p: p.flows.revenue // 9)
    maker.money("Total", lambda p: p.flows.revenue, grand=True)
    return "Geographic Information", [
        Para("Revenue by geographic area, based on the location of the customer, was as follows:"),
        maker.table("geography_note", book.year_head(columns)),
        _text(book, "geography"),
    ]


def _per_share(book: Book) -> Section:
    columns = book.year_columns(3)
    maker = TableMaker(book.company, columns)
    maker.money("Net income", lambda p: p.flows.net_income, dollar=True)
    maker.shares("Weighted average shares, basic", lambda p: p.shares, concept="")
    maker.shares("Effect of dilutive awards", lambda p: p.diluted - p.shares, concept="")
    maker.shares("Weighted average shares, diluted", lambda p: p.diluted, concept="")
    return "Earnings per Share", [
        Para("The computation of basic and diluted earnings per share was as follows:"),
        maker.table("eps_note", book.year_head(columns)),
        _text(book, "dilution"),
    ]


def _accrued(book: Book) -> Section:
    maker = TableMaker(book.company, book.year_columns(2, instants=True))
    maker.money("Compensation and benefits", lambda p: p.closing.accrued * 2 // 5, dollar=True)
    maker.money("Customer rebates and allowances", lambda p: p.closing.accrued // 4)
    maker.money("Taxes other than income taxes", lambda p: p.closing.accrued // 10)
    maker.money(
        "Other",
        lambda p: p.closing.accrued - p.closing.accrued * 2 // 5 - p.closing.accrued // 4 - p.closing.accrued // 10,
    )
    maker.money("Accrued liabilities", lambda p: p.closing.accrued, grand=True)
    return "Accrued Liabilities", [
        Para("Accrued liabilities consisted of the following:"),
        maker.table("accrued_note"),
        _text(book, "accrued"),
    ]


def _acquisitions(book: Book) -> Section | None:
    spent = book.annual(book.year).flows.acquisitions * book.company.multiplier
    if not spent:
        return None
    return "Acquisitions", [
        Para(
            f"In {year_label(book.company, book.year)}, we acquired a business for cash consideration of "
            f"{dollars(spent)}, net of cash acquired. Approximately two thirds of the consideration was "
            "allocated to goodwill and the remainder to identifiable intangible assets."
        ),
        _text(book, "acquisitions"),
    ]


def _restructuring(book: Book) -> Section | None:
    columns = book.year_columns(3)
    if not any(column.period.flows.restructuring for column in columns):
        return None
    maker = TableMaker(book.company, columns)
    maker.money("Severance", lambda p: p.flows.restructuring * 3 // 4, dollar=True)
    maker.money("Facility closures and other", lambda p: p.flows.restructuring - p.flows.restructuring * 3 // 4)
    maker.money("Total restructuring charges", lambda p: p.flows.restructuring, grand=True)
    return "Restructuring", [_text(book, "restructuring"), maker.table("restructuring_note", book.year_head(columns))]


def _fair_value(book: Book) -> Section:
    maker = TableMaker(book.company, book.year_columns(2, instants=True))
    maker.money("Money market funds (Level 1)", lambda p: p.closing.cash // 3, dollar=True)
    maker.money("Short-term investments (Level 2)", lambda p: p.closing.investments)
    maker.money(
        "Total assets measured at fair value", lambda p: p.closing.cash // 3 + p.closing.investments, grand=True
    )
    return "Fair Value Measurements", [
        _text(book, "fair_value"),
        maker.table("fair_value_note"),
        _text(book, "fair_value_debt"),
    ]


def _retirement(book: Book) -> Section:
    return "Retirement Plans", [_text(book, "retirement"), _text(book, "retirement_multiemployer")]


def _quarters(book: Book) -> Section:
    """Quarterly data as formerly required by Item 302 of Regulation S-K: many similar numbers."""
    company = book.company
    periods = [book.ledger.period(book.year, quarter, book.vintage, quarter) for quarter in range(1, 5)]
    rows = [
        Row(label, tuple(number(flow(name)(p), prefix="$" if name == "revenue" else "") for p in periods))
        for label, name in (
            (company.style.revenue, "revenue"),
            ("Gross profit", "gross_profit"),
            ("Operating income", "operating_income"),
            ("Net income", "net_income"),
        )
    ]
    rows.append(Row("Diluted earnings per share", tuple(cents(p.diluted_eps_cents, prefix="$") for p in periods)))
    head = (
        ((f"Fiscal {book.year}", 4),),
        tuple((f"{name}\nQuarter", 1) for name in ("First", "Second", "Third", "Fourth")),
    )
    return "Quarterly Financial Data (Unaudited)", [
        Para(
            "Summarized unaudited quarterly data is as follows. The sum of quarterly per share amounts may not "
            "equal the annual amount."
        ),
        Table(tuple(rows), head, 4, "quarters_note", column_width=68),
    ]


def _subsequent(book: Book) -> Section:
    return "Subsequent Events", [
        Para(
            f"We evaluated events through {long_date(book.draft.filed_at)}, the date on which these financial "
            "statements were issued, and identified none that requires recognition or disclosure."
        )
    ]


def _text(book: Book, name: str) -> Para:
    return Para(book.fill(load_text("long_form")["notes"][name]))
