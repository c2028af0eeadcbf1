"""The cash flow statement."""

from __future__ import annotations

from collections.abc import Sequence

from finray.lab.sample.blocks import Head, Table
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import flow, held
from finray.lab.sample.table_maker import Column, TableMaker


def cash_flow_statement(company: Company, columns: Sequence[Column], head: Head) -> Table:
    maker = TableMaker(company, columns)
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
    maker.money("Cash and cash equivalents at end of period", held("cash"), grand=True)
    return maker.table("cash_flow", head)


def _net_cash(activity: str, columns: Sequence[Column]) -> str:
    """The label of a subtotal, which names both directions if the signs of the columns differ."""
    amounts = [getattr(column.period.flows, f"{activity}_cash") for column in columns]
    verb = "provided by" if min(amounts) >= 0 else "used in" if max(amounts) <= 0 else "provided by (used in)"
    return f"Net cash {verb} {activity} activities"
