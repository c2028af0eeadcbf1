"""The 10-K: parts I to IV, statements and notes."""

from __future__ import annotations

from finray.lab.sample.balance_sheet import balance_sheet
from finray.lab.sample.blocks import Block, Break, Para, Row, Table, WordTable, number, percent
from finray.lab.sample.book import Book, item
from finray.lab.sample.calendars import long_date
from finray.lab.sample.cash_flow import cash_flow_statement
from finray.lab.sample.cover import periodic_cover
from finray.lab.sample.notes import notes
from finray.lab.sample.statements import comprehensive_income, equity_statement, income_statement
from finray.lab.sample.story import dollars, year_label
from finray.lab.sample.table_maker import TableMaker
from finray.lab.sample.texts import load_text

_CONTENTS = (
    ("PART I", ""),
    ("Item 1.", "Business"),
    ("Item 1A.", "Risk Factors"),
    ("Item 1B.", "Unresolved Staff Comments"),
    ("Item 2.", "Properties"),
    ("Item 3.", "Legal Proceedings"),
    ("Item 4.", "Mine Safety Disclosures"),
    ("PART II", ""),
    (
        "Item 5.",
        "Market for Registrant’s Common Equity, Related Stockholder Matters and Issuer Purchases of Equity Securities",
    ),
    ("Item 6.", "[Reserved]"),
    ("Item 7.", "Management’s Discussion and Analysis of Financial Condition and Results of Operations"),
    ("Item 7A.", "Quantitative and Qualitative Disclosures About Market Risk"),
    ("Item 8.", "Financial Statements and Supplementary Data"),
    ("Item 9.", "Changes in and Disagreements with Accountants on Accounting and Financial Disclosure"),
    ("Item 9A.", "Controls and Procedures"),
    ("Item 9B.", "Other Information"),
    ("PART III", ""),
    ("Item 10.", "Directors, Executive Officers and Corporate Governance"),
    ("Item 11.", "Executive Compensation"),
    ("Item 12.", "Security Ownership of Certain Beneficial Owners and Management"),
    ("Item 13.", "Certain Relationships and Related Transactions, and Director Independence"),
    ("Item 14.", "Principal Accountant Fees and Services"),
    ("PART IV", ""),
    ("Item 15.", "Exhibits and Financial Statement Schedules"),
    ("", "Signatures"),
)


def annual_report(book: Book) -> list[Block]:
    return [
        *periodic_cover(book.draft, book.annual(book.year).closing),
        *_contents(book),
        *_business(book),
        *_risks(book),
        *_rest_of_part_one(book),
        *_market(book),
        *discussion(book),
        *financial_statements(book),
        *controls(book, restated=False),
        *_part_three(book),
        *exhibits(book),
        *book.signatures(),
    ]


def _contents(book: Book) -> list[Block]:
    return [
        Para(book.draft.registrant, "center_bold"),
        Para("TABLE OF CONTENTS", "center_bold"),
        WordTable(tuple((*row, "") for row in _CONTENTS), (0.13, 0.8, 0.07), key="contents", paged=True),
        book.boilerplate("forward"),
        Break(),
    ]


def _business(book: Book) -> list[Block]:
    company = book.company
    segments = company.profile["segments"]
    blocks: list[Block] = [
        Para("PART I", "center_bold"),
        item("1", "Business"),
        Para("Overview", "subheading"),
        Para(
            f"{book.story.sentences['business']} We offer {company.profile['products']} to "
            f"{company.profile['customers']}.",
            key="business",
        ),
        Para(
            f"We were incorporated in {company.state}. Our principal executive offices are located at "
            f"{company.address}, and our telephone number is {company.phone}. Our common stock trades under "
            f"the symbol “{company.ticker}.”"
        ),
        Para("Segments", "subheading"),
        Para(
            f"We report our results in {len(segments)} segments: {', '.join(segments[:-1])} and "
            f"{segments[-1]}. Financial information about segments appears in the notes to our consolidated "
            "financial statements.",
            key="segment_list",
        ),
    ]
    blocks += [Para(segment, "bullet") for segment in segments]
    for title, name in (
        ("Competition", "competition"),
        ("Suppliers", "suppliers"),
        ("Seasonality", "seasonality"),
        ("Intellectual Property", "intellectual"),
        ("Government Regulation", "regulation"),
    ):
        if book.full or name in ("competition", "seasonality"):
            blocks += [Para(title, "subheading"), book.boilerplate(name)]
    if book.full:
        for part in load_text("long_form")["business"]:
            blocks += [Para(part["title"], "subheading"), *(Para(book.fill(body)) for body in part["body"])]
    return [
        *blocks,
        Para("Employees and Human Capital", "subheading"),
        book.say("employees"),
        book.boilerplate("human_capital"),
        Para("Available Information", "subheading"),
        book.boilerplate("website"),
    ]


def _risks(book: Book) -> list[Block]:
    risks = load_text("risks")["risk"]
    kept = (
        risks if book.full else [risk for index, risk in enumerate(risks) if (index + int(book.company.cik)) % 4 == 0]
    )
    blocks: list[Block] = [
        *_turn(book),
        item("1A", "Risk Factors"),
        Para(
            "You should carefully consider the following risks. Any of them could "
            "materially and adversely affect our business, financial condition, results "
            "of operations and cash flows."
        ),
    ]
    more = load_text("long_form")["risk"]["more"]
    for index, risk in enumerate(kept):
        blocks.append(Para(risk["title"], "subheading"))
        bodies = risk["body"] if book.full else risk["body"][:1]
        blocks += [Para(book.fill(body)) for body in bodies]
        if book.full:
            blocks.append(Para(more[index % len(more)]))
    return blocks


def _rest_of_part_one(book: Book) -> list[Block]:
    return [
        *_turn(book),
        item("1B", "Unresolved Staff Comments"),
        Para("None."),
        item("2", "Properties"),
        book.say("headquarters"),
        Para("We believe that our facilities are suitable and adequate for our present needs."),
        item("3", "Legal Proceedings"),
        book.say("legal"),
        book.boilerplate("ordinary_litigation"),
        item("4", "Mine Safety Disclosures"),
        Para("Not applicable."),
    ]


def _market(book: Book) -> list[Block]:
    flows = book.annual(book.year).flows
    policy = (
        f"We declared cash dividends of ${flows.dividend_mills / 1000:.3f} per share in "
        f"{year_label(book.company, book.year)}."
        if book.company.pays_dividends
        else "We have never declared or paid cash dividends on our common stock and do not anticipate doing so."
    )
    return [
        *_turn(book),
        Para("PART II", "center_bold"),
        item(
            "5",
            "Market for Registrant’s Common Equity, Related Stockholder Matters and Issuer "
            "Purchases of Equity Securities",
        ),
        book.boilerplate("market"),
        Para(policy, key="dividend_policy"),
        item("6", "[Reserved]"),
    ]


def discussion(book: Book) -> list[Block]:
    """Item 7 and 7A."""
    company, columns = book.company, book.year_columns(3 if book.full else 2)
    maker = TableMaker(company, columns)
    maker.money(company.style.revenue, lambda p: p.flows.revenue, dollar=True, indent=0)
    maker.money("Gross profit", lambda p: p.flows.gross_profit, indent=0)
    maker.money("Operating income", lambda p: p.flows.operating_income, indent=0)
    maker.money("Net income", lambda p: p.flows.net_income, indent=0)
    results = maker.table("results", book.year_head(columns))
    margins = Table(
        tuple(
            Row(label, tuple(percent(100 * getattr(c.period.flows, name) / c.period.flows.revenue) for c in columns))
            for label, name in (
                ("Gross margin", "gross_profit"),
                ("Operating margin", "operating_income"),
                ("Net margin", "net_income"),
            )
        ),
        book.year_head(columns),
        len(columns),
        "margins",
    )
    blocks: list[Block] = [
        *_turn(book),
        item("7", "Management’s Discussion and Analysis of Financial Condition and Results of Operations"),
        Para(
            "The following discussion should be read together with our consolidated financial statements "
            "and related notes."
        ),
        Para("Results of Operations", "subheading"),
        results,
        book.say("revenue_driver"),
        *_segment_discussion(book),
        margins,
        book.say("margin_driver"),
        Para(_expenses(book)),
        book.say("tax_driver"),
        Para("Liquidity and Capital Resources", "subheading"),
        book.boilerplate("liquidity"),
        Para(_cash(book)),
        book.say("capex_plan"),
    ]
    if book.full:
        blocks += [Para("Contractual Obligations", "subheading"), *_obligations(book)]
    blocks += [Para("Critical Accounting Estimates", "subheading"), book.boilerplate("critical")]
    if book.full:
        blocks.append(book.boilerplate("goodwill_estimate"))
    return [
        *blocks,
        item("7A", "Quantitative and Qualitative Disclosures About Market Risk"),
        book.boilerplate("market_risk"),
    ]


def _segment_discussion(book: Book) -> list[Block]:
    if not book.full:
        return []
    now, before = book.annual(book.year).flows, book.annual(book.year - 1).flows
    previous = year_label(book.company, book.year - 1)
    blocks: list[Block] = []
    pairs = zip(book.company.profile["segments"], now.segment_revenue, before.segment_revenue, strict=True)
    for index, (segment, amount, earlier) in enumerate(pairs):
        rose = amount >= earlier
        reasons = book.company.profile["revenue_up" if rose else "revenue_down"]
        blocks.append(
            Para(
                f"{segment} revenue {'increased' if rose else 'decreased'} "
                f"{abs(100 * (amount / earlier - 1)):.1f}% compared with {previous}, reflecting "
                f"{reasons[index % len(reasons)]}. Segment operating income moved broadly in line "
                "with revenue, after higher allocated corporate costs."
            )
        )
    return blocks


def _expenses(book: Book) -> str:
    now, before = book.annual(book.year).flows, book.annual(book.year - 1).flows
    change = 100 * (now.selling / before.selling - 1)
    text = (
        f"Selling, general and administrative expenses {'increased' if change >= 0 else 'decreased'} "
        f"{abs(change):.1f}% and represented {100 * now.selling / now.revenue:.1f}% of revenue, compared "
        f"with {100 * before.selling / before.revenue:.1f}% in "
        f"{year_label(book.company, book.year - 1)}."
    )
    if now.restructuring:
        text += " We also recorded restructuring charges, consisting mainly of severance and facility closure costs."
    return text


def _cash(book: Book) -> str:
    period, multiplier = book.annual(book.year), book.company.multiplier
    return (
        f"Cash provided by operating activities was {dollars(period.flows.operating_cash * multiplier)} "
        f"in {year_label(book.company, book.year)}. Capital expenditures were "
        f"{dollars(period.flows.capex * multiplier)}. At {long_date(book.draft.end)} we held cash and "
        f"cash equivalents of {dollars(period.closing.cash * multiplier)}."
    )


def _obligations(book: Book) -> list[Block]:
    closing = book.annual(book.year).closing
    rows = []
    for label, amount in (
        ("Long-term debt, including current portion", closing.long_term_debt + closing.current_debt),
        ("Operating leases", closing.lease_liabilities),
    ):
        soon = amount // 5
        rows.append(Row(label, (number(soon), number(amount - soon), number(amount))))
    head = ((("Less than\n1 year", 1), ("More than\n1 year", 1), ("Total", 1)),)
    return [
        Para("Our principal contractual obligations at year end were as follows:"),
        Table(tuple(rows), head, 3, "obligations"),
    ]


def financial_statements(book: Book) -> list[Block]:
    """Item 8: index, auditor's report, the five statements, notes."""
    company, style = book.company, book.company.style
    years, instants = book.year_columns(3), book.year_columns(2, instants=True)
    head = book.year_head(years)
    titles = [
        style.income_title,
        "Consolidated Statements of Comprehensive Income",
        "Consolidated Balance Sheets",
        "Consolidated Statements of Cash Flows",
        "Consolidated Statements of Stockholders’ Equity",
    ]
    income = book.statement(titles[0], income_statement(company, years, head), per_share=True)
    comprehensive = book.statement(titles[1], comprehensive_income(company, years))
    return [
        Break(),
        item("8", "Financial Statements and Supplementary Data"),
        Para("INDEX TO CONSOLIDATED FINANCIAL STATEMENTS", "center_bold"),
        WordTable(
            tuple(
                (title, "")
                for title in (
                    "Report of Independent Registered Public Accounting Firm",
                    *titles,
                    "Notes to Consolidated Financial Statements",
                )
            ),
            (0.9, 0.1),
            paged=True,
        ),
        *_turn(book),
        *_audit_report(book),
        Break(),
        *income,
        *_turn(book),
        *comprehensive,
        Break(),
        *book.statement(titles[2], balance_sheet(company, instants), per_share=True),
        Break(),
        *book.statement(titles[3], cash_flow_statement(company, years, head)),
        Break(),
        *book.statement(titles[4], equity_statement(company, years)),
        Break(),
        *notes(book),
    ]


def _audit_report(book: Book) -> list[Block]:
    company, texts = book.company, load_text("boilerplate")["audit"]
    kept = texts if book.full else texts[:2]
    return [
        Para("REPORT OF INDEPENDENT REGISTERED PUBLIC ACCOUNTING FIRM", "center_bold"),
        Para(f"To the Stockholders and the Board of Directors of {book.draft.registrant}"),
        Para("Opinion on the Financial Statements", "subheading"),
        *(Para(book.fill(text)) for text in kept),
        Para(f"/s/ {company.auditor}\n{company.city}, {company.city_state}\n{long_date(book.draft.filed_at)}"),
        book.say("auditor"),
    ]


def controls(book: Book, *, restated: bool) -> list[Block]:
    return [
        Break(),
        item("9", "Changes in and Disagreements with Accountants on Accounting and Financial Disclosure"),
        Para("None."),
        item("9A", "Controls and Procedures"),
        book.boilerplate("weakness" if restated else "controls"),
        book.boilerplate("internal_control"),
        item("9B", "Other Information"),
        Para("None."),
    ]


def _part_three(book: Book) -> list[Block]:
    blocks: list[Block] = [*_turn(book), Para("PART III", "center_bold")]
    titles = dict(_CONTENTS)
    for item_number in range(10, 15):
        blocks += [item(str(item_number), titles[f"Item {item_number}."]), book.boilerplate("part_three")]
    return blocks


def exhibits(book: Book) -> list[Block]:
    rows = tuple((exhibit, book.fill(text)) for exhibit, text in load_text("boilerplate")["exhibits"])
    return [
        *_turn(book),
        Para("PART IV", "center_bold"),
        item("15", "Exhibits and Financial Statement Schedules"),
        Para("The following documents are filed as part of this report or incorporated by reference:"),
        WordTable((("Exhibit", "Description"), *rows), (0.15, 0.85), bold_head=True),
        Break(),
    ]


def _turn(book: Book) -> list[Block]:
    """Start a new page in the long form."""
    return [Break()] if book.full else []
