"""Notes to the annual financial statements."""

from __future__ import annotations

from finray.lab.sample.blocks import Block, Para, Row, Table, number
from finray.lab.sample.book import Book
from finray.lab.sample.calendars import long_date
from finray.lab.sample.ledger import Vintage, flow, held
from finray.lab.sample.notes_long import Section, long_notes
from finray.lab.sample.statements import segment_revenue
from finray.lab.sample.story import dollars, year_label
from finray.lab.sample.table_maker import TableMaker
from finray.lab.sample.texts import load_text


def notes(book: Book) -> list[Block]:
    blocks: list[Block] = [
        Para(book.draft.registrant.upper(), "center_bold"),
        Para("NOTES TO CONSOLIDATED FINANCIAL STATEMENTS", "center_bold"),
        *_policies(book),
    ]
    makers = (
        _restatement,
        _segments,
        _property,
        _goodwill,
        _debt,
        _leases,
        _taxes,
        _equity,
        _stock_plans,
        _commitments,
    )
    sections = [section for make in makers if (section := make(book)) is not None]
    if book.full:
        sections += long_notes(book)
    for position, (title, body) in enumerate(sections, start=2):
        blocks += [Para(f"Note {position}. {title}", "heading"), *body]
    return blocks


def _policies(book: Book) -> list[Block]:
    company = book.company
    start: list[Block] = [Para("Note 1. Summary of Significant Accounting Policies", "heading")]
    text = (
        f"Description of Business. {book.draft.registrant} (together with its subsidiaries, "
        f"“{company.short},” the “Company,” “we,” “us” or “our”) is {company.profile['what']}."
    )
    if company.former_name and company.renamed_on and company.renamed_on <= book.draft.filed_at:
        text += (
            f" The Company was formerly known as {company.former_name} and changed its name to "
            f"{company.name} on {long_date(company.renamed_on)}."
        )
    start.append(Para(text, key="description"))
    weeks = company.calendar.weeks(book.year)
    year = year_label(company, book.year)
    tail = f" Fiscal {book.year} consisted of {weeks} weeks." if company.calendar.weekday is not None else ""
    start.append(
        Para(
            f"Fiscal Year. {company.calendar.description()}{tail} References to {year} are to the "
            f"fiscal year ended {long_date(book.draft.end)}."
        )
    )
    if company.recast_year == book.year:
        start.append(
            Para(
                f"Reclassification. Beginning in {year}, outbound distribution costs previously "
                "reported in selling, general and administrative expenses are reported in cost of "
                "revenue. Prior-year amounts have been recast to conform to the current "
                "presentation; operating income was not affected.",
                key="recast",
            )
        )
    policies = load_text("policies")["policy"]
    kept = policies if book.full else policies[:5]
    return [*start, *(Para(f"{policy['title']} {book.fill(policy['body'])}") for policy in kept)]


def _restatement(book: Book) -> Section | None:
    year = book.company.restated_year
    if not book.vintage.amended or year is None:
        return None
    original, corrected = book.ledger.annual(year, Vintage(year)), book.annual(year)
    rows = []
    for label, key, pick in (
        (book.company.style.revenue, "revenue", flow),
        ("Provision for income taxes", "income_tax", flow),
        ("Net income", "net_income", flow),
        ("Receivables", "receivables", held),
        ("Total assets", "total_assets", held),
        ("Retained earnings", "retained_earnings", held),
    ):
        before, after = pick(key)(original), pick(key)(corrected)
        rows.append(Row(label, (number(before, prefix="$"), number(after - before), number(after, prefix="$")), key))
    head = ((("As Previously\nReported", 1), ("Adjustment", 1), ("As Restated", 1)),)
    return "Restatement of Previously Issued Financial Statements", [
        Para(
            "The Company has restated its consolidated financial statements as of and for the year ended "
            f"{long_date(book.draft.end)} to correct the premature recognition of revenue on arrangements "
            "with extended acceptance terms in the fourth quarter. The effect of the restatement is as "
            "follows:"
        ),
        Table(tuple(rows), head, 3, "restatement", column_width=82),
    ]


def _segments(book: Book) -> Section:
    company = book.company
    columns = book.year_columns(3)
    total = f"Total {company.style.revenue.lower().removeprefix('total ')}"
    return "Segment Information", [
        Para(
            f"We report {len(company.profile['segments'])} segments. Our Chief Executive Officer, who is "
            "the chief operating decision maker, evaluates performance on the basis of segment revenue and "
            "operating income. Revenue by segment was as follows:"
        ),
        segment_revenue(company, columns, book.year_head(columns), total),
        book.say("largest_customer"),
    ]


def _property(book: Book) -> Section:
    columns = book.year_columns(2, instants=True)
    maker = TableMaker(book.company, columns)
    maker.money("Land", lambda p: p.closing.property_net // 12, dollar=True)
    maker.money("Buildings and improvements", lambda p: p.closing.property_net // 2)
    maker.money("Machinery and equipment", lambda p: p.closing.property_net)
    maker.money(
        "Less accumulated depreciation", lambda p: -(p.closing.property_net // 12 + p.closing.property_net // 2)
    )
    maker.money("Property, plant and equipment, net", lambda p: p.closing.property_net, grand=True)
    return "Property, Plant and Equipment", [
        Para("Property, plant and equipment consisted of the following:"),
        maker.table("property_note"),
    ]


def _goodwill(book: Book) -> Section | None:
    if not book.full:
        return None
    columns = book.year_columns(2)
    maker = TableMaker(book.company, columns)
    maker.money("Balance at beginning of year", lambda p: p.opening.goodwill, dollar=True)
    maker.money("Acquisitions", lambda p: p.closing.goodwill - p.opening.goodwill)
    maker.money("Balance at end of year", lambda p: p.closing.goodwill, grand=True)
    return "Goodwill and Intangible Assets", [
        Para("Changes in the carrying amount of goodwill were as follows:"),
        maker.table("goodwill_note"),
        Para(
            "No impairment of goodwill was recorded in any of the periods presented. Intangible assets "
            "consist of customer relationships, developed technology and trade names, which are amortized "
            "on a straight-line basis."
        ),
    ]


def _debt(book: Book) -> Section:
    columns = book.year_columns(2, instants=True)
    maker = TableMaker(book.company, columns)
    maker.money("Senior notes and term loans", lambda p: p.closing.long_term_debt + p.closing.current_debt, dollar=True)
    maker.money("Less current portion", lambda p: -p.closing.current_debt)
    maker.money("Long-term debt, less current portion", lambda p: p.closing.long_term_debt, grand=True)
    return "Debt", [
        Para("Long-term debt consisted of the following:"),
        maker.table("debt_note"),
        book.say("facility"),
        Para(
            "The credit agreement requires us to maintain a ratio of consolidated indebtedness "
            "to EBITDA of not more than 3.75 to 1.00. We were in compliance with all covenants "
            "at the end of each period presented."
        ),
    ]


def _leases(book: Book) -> Section:
    due = book.annual(book.year).closing.lease_liabilities
    payments = round(due * 1.14)
    yearly = [round(due * share) for share in (0.26, 0.22, 0.18, 0.13, 0.09)]
    rows = [
        Row(str(year), (number(amount, prefix="$" if year == book.year + 1 else ""),))
        for year, amount in enumerate(yearly, start=book.year + 1)
    ]
    rows += [
        Row("Thereafter", (number(payments - sum(yearly)),)),
        Row("Total lease payments", (number(payments),), rule="single"),
        Row("Less imputed interest", (number(due - payments),)),
        Row("Operating lease liabilities", (number(due, prefix="$"),), rule="double"),
    ]
    return "Leases", [
        Para(
            "We lease offices, warehouses, vehicles and equipment under operating leases. Maturities of "
            "operating lease liabilities were as follows:"
        ),
        Table(tuple(rows), ((("Operating\nLeases", 1),),), 1, "leases_note", column_width=90),
        book.say("lease_commitment"),
    ]


def _taxes(book: Book) -> Section:
    columns = book.year_columns(3)
    maker = TableMaker(book.company, columns)
    maker.money("Current", lambda p: p.flows.income_tax - p.flows.deferred_tax, dollar=True)
    maker.money("Deferred", lambda p: p.flows.deferred_tax)
    maker.money("Provision for income taxes", lambda p: p.flows.income_tax, grand=True)
    return "Income Taxes", [
        Para("The provision for income taxes consisted of the following:"),
        maker.table("taxes_note", book.year_head(columns)),
        book.say("tax_benefits"),
    ]


def _equity(book: Book) -> Section:
    company, flows = book.company, book.annual(book.year).flows
    year = year_label(company, book.year)
    blocks: list[Block] = [
        Para(
            f"During {year}, we repurchased shares of our common stock at an aggregate "
            f"cost of {dollars(flows.repurchases * company.multiplier)}. Repurchased shares are "
            "held in treasury."
        )
    ]
    if company.pays_dividends:
        blocks.append(
            Para(
                "Our Board of Directors declared cash dividends of "
                f"${flows.dividend_mills / 1000:.3f} per share in "
                f"{year}.",
                key="dividends_declared",
            )
        )
    return "Stockholders’ Equity", blocks


def _stock_plans(book: Book) -> Section | None:
    if not book.full:
        return None
    columns = book.year_columns(3)
    maker = TableMaker(book.company, columns)
    maker.money("Cost of revenue", lambda p: p.flows.stock_compensation // 5, dollar=True)
    maker.money("Operating expenses", lambda p: p.flows.stock_compensation - p.flows.stock_compensation // 5)
    maker.money("Total stock-based compensation", lambda p: p.flows.stock_compensation, grand=True)
    return "Stock-Based Compensation", [
        Para(
            "We grant stock options, restricted stock units and performance share units under our Omnibus "
            "Incentive Plan. Stock-based compensation expense was recorded as follows:"
        ),
        maker.table("stock_note", book.year_head(columns)),
        Para(
            "Unrecognized compensation cost is expected to be recognized over a weighted average period of 1.9 years."
        ),
    ]


def _commitments(book: Book) -> Section:
    said: list[Block] = [book.say("purchase_commitment"), book.boilerplate("ordinary_litigation")]
    return "Commitments and Contingencies", said
