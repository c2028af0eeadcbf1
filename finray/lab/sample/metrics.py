"""Line items for questions: their names in questions, where they are printed, and how they follow from the books."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Period
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


def _flow(names: tuple[str, ...], row: str, name: str) -> Metric:
    return Metric(names, row, lambda period: int(getattr(period.flows, name)))


def _held(names: tuple[str, ...], row: str, name: str) -> Metric:
    return Metric(names, row, lambda period: int(getattr(period.closing, name)), instant=True)


REVENUE = _flow(("total revenue", "revenue", "net sales"), "income:revenue", "revenue")
GROSS_PROFIT = _flow(("gross profit",), "income:gross_profit", "gross_profit")
OPERATING_INCOME = _flow(("operating income", "income from operations"), "income:operating_income", "operating_income")
NET_INCOME = _flow(("net income", "net earnings"), "income:net_income", "net_income")
RESEARCH = _flow(("research and development expense", "R&D expense"), "income:research", "research")
SELLING = _flow(("SG&A expense", "selling, general and administrative expenses"), "income:selling", "selling")
INTEREST = _flow(("interest expense",), "income:interest_expense", "interest_expense")
INCOME_TAX = _flow(("income tax provision", "income tax expense"), "income:income_tax", "income_tax")
CAPEX = _flow(("capital expenditures", "capex"), "cash_flow:capex", "capex")
OPERATING_CASH = _flow(
    ("net cash provided by operating activities", "operating cash flow"), "cash_flow:operating_cash", "operating_cash"
)
DEPRECIATION = _flow(("depreciation and amortization", "D&A"), "cash_flow:depreciation", "depreciation")
REPURCHASES = _flow(("share repurchases", "spending on stock buybacks"), "cash_flow:repurchases", "repurchases")
DIVIDENDS = _flow(("cash dividends paid", "dividends paid"), "cash_flow:dividends_paid", "dividends_paid")
TOTAL_ASSETS = _held(("total assets",), "balance:total_assets", "total_assets")
CURRENT_ASSETS = _held(("total current assets",), "balance:current_assets", "current_assets")
CURRENT_LIABILITIES = _held(("total current liabilities",), "balance:current_liabilities", "current_liabilities")
LIABILITIES = _held(("total liabilities",), "balance:total_liabilities", "total_liabilities")
CASH = _held(("cash and cash equivalents", "cash and equivalents"), "balance:cash", "cash")
RECEIVABLES = _held(("accounts receivable", "net receivables"), "balance:receivables", "receivables")
INVENTORIES = _held(("inventories", "inventory"), "balance:inventories", "inventories")
PROPERTY = _held(("net PP&E", "property, plant and equipment, net"), "balance:property_net", "property_net")
LONG_TERM_DEBT = _held(("long-term debt, excluding the current portion",), "balance:long_term_debt", "long_term_debt")
EQUITY = _held(("total stockholders’ equity", "shareholders' equity"), "balance:equity", "equity")
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
    """A figure computed from several lines. ``definition`` completes "… is defined as". If ``percent``, the answer is
    in percent."""

    name: str
    definition: str
    parts: tuple[Metric, ...]
    compute: Callable[[Period, Period], float]
    percent: bool
    previous: bool = False
    """Whether it also needs the previous year."""


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
