"""The primary financial statements as tables, from any set of periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from finray.lab.sample.blocks import Cell, Fact, Row, Table, Unit, cents, number
from finray.lab.sample.companies import MULTIPLIER, Company
from finray.lab.sample.ledger import Balances, Flows, Period

SCALE_POWER = {"dollars": 0, "thousands": 3, "millions": 6}
SEGMENT_AXIS = "us-gaap:StatementBusinessSegmentsAxis"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a statement: a period and its heading. ``start`` is None on a balance sheet."""

    period: Period
    heading: str
    start: dt.date | None
    end: dt.date


class TableMaker:
    """Collects rows for one table; ``columns`` are in print order."""

    def __init__(self, company: Company, columns: Sequence[Column]) -> None:
        self.company, self.columns = company, tuple(columns)
        self.rows: list[Row] = []

    def heading(self, label: str) -> None:
        self.rows.append(Row(label, (None,) * len(self.columns), bold=label.isupper()))

    def money(
        self,
        label: str,
        pick: Callable[[Period], int],
        *,
        concept: str = "",
        key: str | None = None,
        sign: int = 1,
        dollar: bool = False,
        indent: int = 1,
        member: tuple[str, str] | None = None,
        total: bool = False,
        grand: bool = False,
    ) -> None:
        """Add a row of amounts. ``sign`` -1 prints an outflow in parentheses; its XBRL fact stays positive."""
        cells = tuple(
            number(
                sign * pick(column.period),
                prefix="$" if dollar or grand else "",
                fact=self._fact(concept, pick(column.period), "USD", column, member),
            )
            for column in self.columns
        )
        self._add(label, cells, key, indent, total, grand)

    def per_share(self, label: str, pick: Callable[[Period], int], *, concept: str, key: str) -> None:
        cells = tuple(
            cents(
                pick(c.period),
                prefix="$",
                fact=self._fact(concept, pick(c.period) / 100, "USD/share", c, None, scale=0),
            )
            for c in self.columns
        )
        self._add(label, cells, key, 1, False, False)

    def shares(self, label: str, pick: Callable[[Period], int], *, concept: str) -> None:
        """Add a row of share counts; without a ``concept`` it is untagged."""
        cells = tuple(
            number(pick(c.period), fact=self._fact(concept, pick(c.period), "shares", c, None)) for c in self.columns
        )
        self._add(label, cells, None, 1, False, False)

    def table(self, key: str, head: tuple[tuple[tuple[str, int], ...], ...] | None = None) -> Table:
        head = head or (tuple((column.heading, 1) for column in self.columns),)
        return Table(
            tuple(self.rows),
            head,
            len(self.columns),
            key,
            leaders=self.company.style.leaders,
            column_width=74.0 if len(self.columns) < 4 else 68.0,
        )

    def _add(self, label: str, cells: tuple[Cell, ...], key: str | None, indent: int, total: bool, grand: bool) -> None:
        self.rows.append(
            Row(label, cells, key, 0 if grand else indent, False, "double" if grand else "single" if total else None)
        )

    def _fact(
        self,
        concept: str,
        value: float,
        unit: Unit,
        column: Column,
        member: tuple[str, str] | None,
        scale: int | None = None,
    ) -> Fact | None:
        if not concept:
            return None
        power = SCALE_POWER[self.company.scale] if scale is None else scale
        return Fact(f"us-gaap:{concept}", value, unit, power, column.start, column.end, member)


def scale_note(company: Company, *, per_share: bool) -> str:
    """The line under the title of a statement, such as ``(In thousands, except per share data)``."""
    unit = {
        "dollars": "In dollars" if per_share else "In U.S. dollars",
        "thousands": "In thousands",
        "millions": "In millions",
    }[company.scale]
    return f"({unit}, except per share data)" if per_share else f"({unit})"


def segment_member(company: Company, segment: str) -> tuple[str, str]:
    return SEGMENT_AXIS, f"{company.ticker.lower()}:{segment.replace(' ', '')}Member"


def segment_revenue(index: int) -> Callable[[Period], int]:
    return lambda period: period.flows.segment_revenue[index]


def income_statement(
    company: Company, columns: Sequence[Column], head: tuple[tuple[tuple[str, int], ...], ...] | None = None
) -> Table:
    style, profile = company.style, company.profile
    maker = TableMaker(company, columns)
    flow = _flow
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
    maker.money("Net income", _flow("net_income"), concept="NetIncomeLoss", dollar=True, indent=0)
    maker.heading("Other comprehensive income (loss), net of tax:")
    maker.money(
        "Foreign currency translation adjustments",
        _flow("currency_effect"),
        concept="OtherComprehensiveIncomeLossForeignCurrencyTransactionAndTranslationAdjustmentNetOfTax",
    )
    maker.money(
        "Comprehensive income", _flow("comprehensive_income"), concept="ComprehensiveIncomeNetOfTax", grand=True
    )
    return maker.table("comprehensive_income")


def balance_sheet(company: Company, columns: Sequence[Column]) -> Table:
    maker = TableMaker(company, columns)
    held = _held
    maker.heading("ASSETS")
    maker.heading("Current assets:")
    maker.money(
        "Cash and cash equivalents",
        held("cash"),
        concept="CashAndCashEquivalentsAtCarryingValue",
        key="cash",
        dollar=True,
    )
    maker.money("Short-term investments", held("investments"), concept="ShortTermInvestments", key="investments")
    maker.money(
        company.style.receivables, held("receivables"), concept="AccountsReceivableNetCurrent", key="receivables"
    )
    if company.profile["inventory"]:
        maker.money("Inventories", held("inventories"), concept="InventoryNet", key="inventories")
    maker.money(
        "Prepaid expenses and other current assets",
        held("prepaid"),
        concept="PrepaidExpenseAndOtherAssetsCurrent",
        key="prepaid",
    )
    maker.money(
        "Total current assets",
        held("current_assets"),
        concept="AssetsCurrent",
        key="current_assets",
        indent=2,
        total=True,
    )
    maker.money(
        "Property, plant and equipment, net",
        held("property_net"),
        key="property_net",
        concept="PropertyPlantAndEquipmentNet",
        indent=0,
    )
    maker.money(
        "Operating lease right-of-use assets", held("lease_assets"), indent=0, concept="OperatingLeaseRightOfUseAsset"
    )
    maker.money("Goodwill", held("goodwill"), concept="Goodwill", key="goodwill", indent=0)
    maker.money(
        "Intangible assets, net",
        held("intangibles"),
        indent=0,
        key="intangibles",
        concept="IntangibleAssetsNetExcludingGoodwill",
    )
    maker.money("Other assets", held("other_assets"), concept="OtherAssetsNoncurrent", indent=0)
    maker.money("Total assets", held("total_assets"), concept="Assets", key="total_assets", grand=True)
    maker.heading("LIABILITIES AND STOCKHOLDERS’ EQUITY")
    maker.heading("Current liabilities:")
    maker.money("Accounts payable", held("payables"), concept="AccountsPayableCurrent", key="payables", dollar=True)
    maker.money("Accrued liabilities", held("accrued"), concept="AccruedLiabilitiesCurrent", key="accrued")
    maker.money(
        "Deferred revenue",
        held("deferred_revenue"),
        concept="ContractWithCustomerLiabilityCurrent",
        key="deferred_revenue",
    )
    maker.money("Current portion of long-term debt", held("current_debt"), concept="LongTermDebtCurrent")
    maker.money(
        "Total current liabilities",
        held("current_liabilities"),
        concept="LiabilitiesCurrent",
        key="current_liabilities",
        indent=2,
        total=True,
    )
    maker.money(
        "Long-term debt, less current portion",
        held("long_term_debt"),
        concept="LongTermDebtNoncurrent",
        key="long_term_debt",
        indent=0,
    )
    maker.money(
        "Operating lease liabilities", held("lease_liabilities"), concept="OperatingLeaseLiabilityNoncurrent", indent=0
    )
    maker.money("Deferred income taxes", held("deferred_tax"), concept="DeferredIncomeTaxLiabilitiesNet", indent=0)
    maker.money(
        "Total liabilities",
        held("total_liabilities"),
        concept="Liabilities",
        key="total_liabilities",
        indent=2,
        total=True,
    )
    maker.heading("Stockholders’ equity:")
    maker.money(
        "Common stock and additional paid-in capital",
        held("paid_in_capital"),
        concept="CommonStocksIncludingAdditionalPaidInCapital",
    )
    maker.money(
        "Retained earnings",
        held("retained_earnings"),
        concept="RetainedEarningsAccumulatedDeficit",
        key="retained_earnings",
    )
    maker.money(
        "Accumulated other comprehensive loss",
        lambda p: -p.closing.accumulated_loss,
        concept="AccumulatedOtherComprehensiveIncomeLossNetOfTax",
    )
    maker.money("Treasury stock, at cost", held("treasury"), concept="TreasuryStockCommonValue", sign=-1)
    maker.money(
        "Total stockholders’ equity", held("equity"), concept="StockholdersEquity", key="equity", indent=2, total=True
    )
    maker.money(
        "Total liabilities and stockholders’ equity",
        held("total_assets"),
        concept="LiabilitiesAndStockholdersEquity",
        grand=True,
    )
    return maker.table("balance")


def cash_flow_statement(
    company: Company, columns: Sequence[Column], head: tuple[tuple[tuple[str, int], ...], ...] | None = None
) -> Table:
    maker = TableMaker(company, columns)
    flow = _flow
    maker.heading("Cash flows from operating activities:")
    maker.money("Net income", flow("net_income"), concept="NetIncomeLoss", dollar=True)
    maker.heading("Adjustments to reconcile net income to net cash provided by operating activities:")
    maker.money(
        "Depreciation and amortization",
        flow("depreciation"),
        indent=2,
        key="depreciation",
        concept="DepreciationDepletionAndAmortization",
    )
    maker.money(
        "Stock-based compensation",
        flow("stock_compensation"),
        concept="ShareBasedCompensation",
        indent=2,
        key="stock_compensation",
    )
    maker.money("Deferred income taxes", flow("deferred_tax"), concept="DeferredIncomeTaxExpenseBenefit", indent=2)
    maker.heading("Changes in operating assets and liabilities:")
    maker.money("Accounts receivable", flow("change_receivables"), indent=2)
    if company.profile["inventory"]:
        maker.money("Inventories", flow("change_inventories"), indent=2)
    maker.money("Prepaid expenses and other assets", flow("change_prepaid"), indent=2)
    maker.money("Accounts payable", flow("change_payables"), indent=2)
    maker.money("Accrued liabilities", flow("change_accrued"), indent=2)
    maker.money("Deferred revenue", flow("change_deferred_revenue"), indent=2)
    maker.money(
        _net_cash("operating", columns),
        flow("operating_cash"),
        key="operating_cash",
        concept="NetCashProvidedByUsedInOperatingActivities",
        total=True,
    )
    maker.heading("Cash flows from investing activities:")
    maker.money(
        company.style.capex, flow("capex"), concept="PaymentsToAcquirePropertyPlantAndEquipment", key="capex", sign=-1
    )
    maker.money(
        "Purchases of short-term investments",
        flow("investments_bought"),
        sign=-1,
        concept="PaymentsToAcquireShortTermInvestments",
    )
    maker.money(
        "Maturities of short-term investments",
        flow("investments_matured"),
        concept="ProceedsFromSaleMaturityAndCollectionsOfShorttermInvestments",
    )
    if any(column.period.flows.acquisitions for column in columns):
        maker.money(
            "Acquisitions of businesses, net of cash acquired",
            flow("acquisitions"),
            sign=-1,
            concept="PaymentsToAcquireBusinessesNetOfCashAcquired",
            key="acquisitions",
        )
    maker.money(
        _net_cash("investing", columns),
        flow("investing_cash"),
        key="investing_cash",
        concept="NetCashProvidedByUsedInInvestingActivities",
        total=True,
    )
    maker.heading("Cash flows from financing activities:")
    maker.money(
        "Proceeds from issuance of long-term debt", flow("debt_issued"), concept="ProceedsFromIssuanceOfLongTermDebt"
    )
    maker.money("Repayments of long-term debt", flow("debt_repaid"), concept="RepaymentsOfLongTermDebt", sign=-1)
    maker.money(
        "Proceeds from exercise of stock options", flow("stock_issued"), concept="ProceedsFromStockOptionsExercised"
    )
    maker.money(
        "Repurchases of common stock",
        flow("repurchases"),
        concept="PaymentsForRepurchaseOfCommonStock",
        key="repurchases",
        sign=-1,
    )
    if company.pays_dividends:
        maker.money(
            "Cash dividends paid",
            flow("dividends_paid"),
            concept="PaymentsOfDividendsCommonStock",
            key="dividends_paid",
            sign=-1,
        )
    maker.money(
        _net_cash("financing", columns),
        flow("financing_cash"),
        key="financing_cash",
        concept="NetCashProvidedByUsedInFinancingActivities",
        total=True,
    )
    maker.money(
        "Effect of exchange rate changes on cash",
        flow("currency_effect"),
        indent=0,
        concept="EffectOfExchangeRateOnCashAndCashEquivalents",
    )
    maker.money(
        "Net increase (decrease) in cash and cash equivalents",
        flow("net_change_in_cash"),
        indent=0,
        concept="CashAndCashEquivalentsPeriodIncreaseDecrease",
    )
    maker.money("Cash and cash equivalents at beginning of period", lambda p: p.opening.cash, indent=0)
    maker.money("Cash and cash equivalents at end of period", held_cash, grand=True)
    return maker.table("cash_flow", head)


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


def _one_line(heading: str) -> str:
    return heading.replace("\n", " ")


def _net_cash(activity: str, columns: Sequence[Column]) -> str:
    """The label of a subtotal, which names both directions if the signs of the columns differ."""
    amounts = [getattr(column.period.flows, f"{activity}_cash") for column in columns]
    verb = "provided by" if min(amounts) >= 0 else "used in" if max(amounts) <= 0 else "provided by (used in)"
    return f"Net cash {verb} {activity} activities"


def held_cash(period: Period) -> int:
    return period.closing.cash


def base_units(company: Company, amount: int) -> int:
    """An amount in the company's scale as dollars (or shares)."""
    return amount * MULTIPLIER[company.scale]


def _flow(name: str) -> Callable[[Period], int]:
    assert name in Flows.__slots__ or hasattr(Flows, name)
    return lambda period: int(getattr(period.flows, name))


def _held(name: str) -> Callable[[Period], int]:
    assert name in Balances.__slots__ or hasattr(Balances, name)
    return lambda period: int(getattr(period.closing, name))
