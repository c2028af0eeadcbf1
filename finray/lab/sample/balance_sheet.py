"""The balance sheet."""

from __future__ import annotations

from collections.abc import Sequence

from finray.lab.sample.blocks import Table
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import held
from finray.lab.sample.table_maker import Column, TableMaker


def balance_sheet(company: Company, columns: Sequence[Column]) -> Table:
    maker = TableMaker(company, columns)
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
