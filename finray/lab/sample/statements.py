"""Statements of income, comprehensive income and equity, and revenue by segment, for any set of periods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from finray.lab.sample.blocks import Head, Row, Table, number
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Balances, Period, flow
from finray.lab.sample.table_maker import Column, TableMaker


def income_statement(company: Company, columns: Sequence[Column], head: Head) -> Table:
    style, profile = company.style, company.profile
    maker = TableMaker(company, columns)
    maker.money(style.revenue, flow("revenue"), concept="Revenues", key="revenue", dollar=True, indent=0)
    maker.money(style.cost, flow("cost_of_revenue"), concept="CostOfRevenue", key="cost_of_revenue", indent=0)
    maker.money("Gross profit", flow("gross_profit"), concept="GrossProfit", key="gross_profit", total=True)
    maker.heading("Operating expenses:")
    if profile["research"]:
        maker.money(
            "Research and development", flow("research"), concept="ResearchAndDevelopmentExpense", key="research"
        )
    maker.money(
        "Selling, general and administrative",
        flow("selling"),
        concept="SellingGeneralAndAdministrativeExpense",
        key="selling",
    )
    if any(column.period.flows.restructuring for column in columns):
        maker.money("Restructuring charges", flow("restructuring"), concept="RestructuringCharges", key="restructuring")
    maker.money(
        "Total operating expenses",
        flow("operating_expenses"),
        concept="OperatingExpenses",
        indent=2,
        key="operating_expenses",
        total=True,
    )
    maker.money(
        "Operating income", flow("operating_income"), concept="OperatingIncomeLoss", key="operating_income", indent=0
    )
    maker.money(
        "Interest expense", flow("interest_expense"), concept="InterestExpense", key="interest_expense", sign=-1
    )
    maker.money("Interest income and other, net", flow("interest_income"), concept="InvestmentIncomeInterest")
    maker.money(
        "Income before income taxes",
        flow("pretax_income"),
        total=True,
        indent=0,
        key="pretax_income",
        concept="IncomeLossFromContinuingOperationsBeforeIncomeTaxes",
    )
    maker.money("Provision for income taxes", flow("income_tax"), concept="IncomeTaxExpenseBenefit", key="income_tax")
    maker.money("Net income", flow("net_income"), concept="NetIncomeLoss", key="net_income", grand=True)
    maker.heading("Earnings per share:")
    maker.per_share("Basic", lambda p: p.eps_cents, concept="EarningsPerShareBasic", key="eps_basic")
    maker.per_share("Diluted", lambda p: p.diluted_eps_cents, concept="EarningsPerShareDiluted", key="eps_diluted")
    maker.heading("Weighted average shares outstanding:")
    maker.shares("Basic", lambda p: p.shares, concept="WeightedAverageNumberOfSharesOutstandingBasic")
    maker.shares("Diluted", lambda p: p.diluted, concept="WeightedAverageNumberOfDilutedSharesOutstanding")
    return maker.table("income", head)


def comprehensive_income(company: Company, columns: Sequence[Column]) -> Table:
    maker = TableMaker(company, columns)
    maker.money("Net income", flow("net_income"), concept="NetIncomeLoss", dollar=True, indent=0)
    maker.heading("Other comprehensive income (loss), net of tax:")
    maker.money(
        "Foreign currency translation adjustments",
        flow("currency_effect"),
        concept="OtherComprehensiveIncomeLossForeignCurrencyTransactionAndTranslationAdjustmentNetOfTax",
    )
    maker.money("Comprehensive income", flow("comprehensive_income"), concept="ComprehensiveIncomeNetOfTax", grand=True)
    return maker.table("comprehensive_income")


def segment_revenue(company: Company, columns: Sequence[Column], head: Head, total: str) -> Table:
    """Revenue of each segment and, under the label ``total``, of the company."""
    maker = TableMaker(company, columns)
    for index, segment in enumerate(company.profile["segments"]):
        maker.money(
            segment,
            _of_segment(index),
            concept="Revenues",
            dollar=index == 0,
            key=f"segment:{segment}",
            member=(
                "us-gaap:StatementBusinessSegmentsAxis",
                f"{company.ticker.lower()}:{segment.replace(' ', '')}Member",
            ),
        )
    maker.money(total, flow("revenue"), concept="Revenues", grand=True)
    return maker.table("segments", head)


def equity_statement(company: Company, columns: Sequence[Column]) -> Table:
    """Roll-forward of equity, oldest year first; columns are components of equity, not periods."""
    rows: list[Row] = []

    def add(label: str, amounts: Sequence[int], *, balance: bool = False) -> None:
        cells = tuple(number(amount, prefix="$" if balance else "") for amount in (*amounts, sum(amounts)))
        rows.append(Row(label, cells, None, 0 if balance else 1, balance, "single" if balance else None))

    def components(b: Balances) -> tuple[int, int, int, int]:
        return b.paid_in_capital, b.retained_earnings, -b.accumulated_loss, -b.treasury

    ordered = sorted(columns, key=lambda column: column.end)
    first = ordered[0]
    add(f"Balance at beginning of {_one_line(first.heading)}", components(first.period.opening), balance=True)
    for column in ordered:
        flows, opening, closing = column.period.flows, column.period.opening, column.period.closing
        add("Net income", (0, flows.net_income, 0, 0))
        add("Other comprehensive income (loss)", (0, 0, flows.currency_effect, 0))
        if company.pays_dividends:
            add(
                f"Cash dividends declared (${flows.dividend_mills / 1000:.3f} per share)",
                (0, -flows.dividends_paid, 0, 0),
            )
        add("Stock-based compensation", (flows.stock_compensation, 0, 0, 0))
        add("Exercise of stock options", (flows.stock_issued, 0, 0, 0))
        add("Repurchases of common stock", (0, 0, 0, opening.treasury - closing.treasury))
        add(f"Balance at end of {_one_line(column.heading)}", components(closing), balance=True)
    head = (
        (
            ("Common stock\nand paid-in\ncapital", 1),
            ("Retained\nearnings", 1),
            ("Accumulated other\ncomprehensive loss", 1),
            ("Treasury\nstock", 1),
            ("Total", 1),
        ),
    )
    return Table(tuple(rows), head, 5, "equity_statement", column_width=66.0, size=8.0)


def _of_segment(index: int) -> Callable[[Period], int]:
    return lambda period: period.flows.segment_revenue[index]


def _one_line(heading: str) -> str:
    return heading.replace("\n", " ")
