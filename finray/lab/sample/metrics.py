"""Line items for questions: their names in questions, where they are printed, and how they follow from the books."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Period, flow, held
from finray.lab.sample.printing import PrintedFiling, Spot


@dataclass(frozen=True, slots=True)
class Metric:
    """``pick`` returns the amount in the company's scale (cents if ``per_share``); ``row`` is its row in a
    statement."""

    names: tuple[str, ...]
    row: str
    pick: Callable[[Period], int]
    per_share: bool = False
    instant: bool = False

    def spot(self, filing: PrintedFiling) -> Spot | None:
        return filing.spots.get(self.row)


def _flow(statement: str, name: str, *names: str) -> Metric:
    return Metric(names, f"{statement}:{name}", flow(name))


def _held(name: str, *names: str) -> Metric:
    return Metric(names, f"balance:{name}", held(name), instant=True)


REVENUE = _flow("income", "revenue", "total revenue", "revenue", "net sales")
GROSS_PROFIT = _flow("income", "gross_profit", "gross profit")
OPERATING_INCOME = _flow("income", "operating_income", "operating income", "income from operations")
NET_INCOME = _flow("income", "net_income", "net income", "net earnings")
RESEARCH = _flow("income", "research", "research and development expense", "R&D expense")
SELLING = _flow("income", "selling", "SG&A expense", "selling, general and administrative expenses")
INTEREST = _flow("income", "interest_expense", "interest expense")
INCOME_TAX = _flow("income", "income_tax", "income tax provision", "income tax expense")
CAPEX = _flow("cash_flow", "capex", "capital expenditures", "capex")
OPERATING_CASH = _flow(
    "cash_flow", "operating_cash", "net cash provided by operating activities", "operating cash flow"
)
DEPRECIATION = _flow("cash_flow", "depreciation", "depreciation and amortization", "D&A")
REPURCHASES = _flow("cash_flow", "repurchases", "share repurchases", "spending on stock buybacks")
DIVIDENDS = _flow("cash_flow", "dividends_paid", "cash dividends paid", "dividends paid")
TOTAL_ASSETS = _held("total_assets", "total assets")
CURRENT_ASSETS = _held("current_assets", "total current assets")
CURRENT_LIABILITIES = _held("current_liabilities", "total current liabilities")
LIABILITIES = _held("total_liabilities", "total liabilities")
CASH = _held("cash", "cash and cash equivalents", "cash and equivalents")
RECEIVABLES = _held("receivables", "accounts receivable", "net receivables")
INVENTORIES = _held("inventories", "inventories", "inventory")
PROPERTY = _held("property_net", "net PP&E", "property, plant and equipment, net")
LONG_TERM_DEBT = _held("long_term_debt", "long-term debt, excluding the current portion")
EQUITY = _held("equity", "total stockholders’ equity", "shareholders' equity")
EPS_BASIC = Metric(("basic earnings per share", "basic EPS"), "income:eps_basic", lambda p: p.eps_cents, per_share=True)
EPS_DILUTED = Metric(
    ("diluted earnings per share", "diluted EPS"), "income:eps_diluted", lambda p: p.diluted_eps_cents, per_share=True
)

ADJUSTED_EBITDA = Metric(
    ("adjusted EBITDA",),
    "reconciliation:adjusted_ebitda",
    lambda p: p.flows.operating_income + p.flows.depreciation + p.flows.restructuring,
)

AMOUNTS = (
    REVENUE,
    GROSS_PROFIT,
    OPERATING_INCOME,
    NET_INCOME,
    RESEARCH,
    SELLING,
    INTEREST,
    INCOME_TAX,
    CAPEX,
    OPERATING_CASH,
    DEPRECIATION,
    REPURCHASES,
    DIVIDENDS,
    TOTAL_ASSETS,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LIABILITIES,
    CASH,
    RECEIVABLES,
    INVENTORIES,
    PROPERTY,
    LONG_TERM_DEBT,
    EQUITY,
)
PER_SHARE = (EPS_BASIC, EPS_DILUTED)
COMPARED = (REVENUE, GROSS_PROFIT, OPERATING_INCOME, NET_INCOME, CAPEX, OPERATING_CASH, TOTAL_ASSETS, EQUITY, CASH)
"""Metrics that every company reports, for comparisons of two companies."""
QUARTERLY = (REVENUE, GROSS_PROFIT, OPERATING_INCOME, NET_INCOME, SELLING, EPS_DILUTED, TOTAL_ASSETS, CASH, LIABILITIES)


def reported(metric: Metric, company: Company, period: Period) -> bool:
    """Whether the company prints this line with a number."""
    if metric is RESEARCH and not company.profile["research"]:
        return False
    return metric.pick(period) != 0


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure computed from several lines. ``definition`` completes "… is defined as"."""

    name: str
    definition: str
    parts: tuple[Metric, ...]
    compute: Callable[[Period, Period], float]
    percent: bool
    previous: bool = False
    """Whether ``compute`` also needs the previous year."""


RATIOS = (
    Ratio(
        "operating cash flow ratio",
        "cash from operations / total current liabilities",
        (OPERATING_CASH, CURRENT_LIABILITIES),
        lambda now, _: now.flows.operating_cash / now.closing.current_liabilities,
        percent=False,
    ),
    Ratio(
        "capex as a percentage of revenue",
        "capital expenditures / total revenue",
        (CAPEX, REVENUE),
        lambda now, _: 100 * now.flows.capex / now.flows.revenue,
        percent=True,
    ),
    Ratio(
        "return on assets",
        "net income / total assets at year end",
        (NET_INCOME, TOTAL_ASSETS),
        lambda now, _: 100 * now.flows.net_income / now.closing.total_assets,
        percent=True,
    ),
    Ratio(
        "fixed asset turnover ratio",
        "revenue / average net PP&E of this and the previous fiscal year end",
        (REVENUE, PROPERTY),
        lambda now, before: 2 * now.flows.revenue / (now.closing.property_net + before.closing.property_net),
        percent=False,
        previous=True,
    ),
    Ratio(
        "free cash flow margin",
        "(cash from operations - capital expenditures) / total revenue",
        (OPERATING_CASH, CAPEX, REVENUE),
        lambda now, _: 100 * (now.flows.operating_cash - now.flows.capex) / now.flows.revenue,
        percent=True,
    ),
    Ratio(
        "current ratio",
        "total current assets / total current liabilities",
        (CURRENT_ASSETS, CURRENT_LIABILITIES),
        lambda now, _: now.closing.current_assets / now.closing.current_liabilities,
        percent=False,
    ),
    Ratio(
        "effective tax rate",
        "income tax provision / income before income taxes",
        (INCOME_TAX,),
        lambda now, _: 100 * now.flows.income_tax / now.flows.pretax_income,
        percent=True,
    ),
)
