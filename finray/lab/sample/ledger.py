"""A company's books, quarter by quarter, in whole presentation units, so that every printed statement ties
exactly.

All money is an integer count of the company's scale (dollars, thousands or millions); shares are in the same
scale. Sums, subtotals and roll-forwards are integer arithmetic: assets equal liabilities plus equity, the
cash flow statement ends at the balance sheet's cash, and net income is one number wherever it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from finray.lab.sample.companies import Company


@dataclass(frozen=True, slots=True)
class Flows:
    """Flows of a period. ``change_*`` are signed cash effects; outflows are positive amounts."""

    segment_revenue: tuple[int, ...]
    cost_of_revenue: int
    research: int
    selling: int
    restructuring: int
    interest_expense: int
    interest_income: int
    income_tax: int
    depreciation: int
    stock_compensation: int
    deferred_tax: int
    change_receivables: int
    change_inventories: int
    change_prepaid: int
    change_payables: int
    change_accrued: int
    change_deferred_revenue: int
    capex: int
    investments_bought: int
    investments_matured: int
    acquisitions: int
    debt_issued: int
    debt_repaid: int
    repurchases: int
    dividends_paid: int
    stock_issued: int
    currency_effect: int
    dividend_mills: int
    """Dividends declared per share, in thousandths of a dollar."""

    def __add__(self, other: Flows) -> Flows:
        sums = {
            f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "segment_revenue"
        }
        segments = tuple(a + b for a, b in zip(self.segment_revenue, other.segment_revenue, strict=True))
        return Flows(segment_revenue=segments, **sums)

    @property
    def revenue(self) -> int:
        return sum(self.segment_revenue)

    @property
    def gross_profit(self) -> int:
        return self.revenue - self.cost_of_revenue

    @property
    def operating_expenses(self) -> int:
        return self.research + self.selling + self.restructuring

    @property
    def operating_income(self) -> int:
        return self.gross_profit - self.operating_expenses

    @property
    def pretax_income(self) -> int:
        return self.operating_income - self.interest_expense + self.interest_income

    @property
    def net_income(self) -> int:
        return self.pretax_income - self.income_tax

    @property
    def comprehensive_income(self) -> int:
        return self.net_income + self.currency_effect

    @property
    def operating_cash(self) -> int:
        return (
            self.net_income
            + self.depreciation
            + self.stock_compensation
            + self.deferred_tax
            + self.change_receivables
            + self.change_inventories
            + self.change_prepaid
            + self.change_payables
            + self.change_accrued
            + self.change_deferred_revenue
        )

    @property
    def investing_cash(self) -> int:
        return self.investments_matured - self.capex - self.investments_bought - self.acquisitions

    @property
    def financing_cash(self) -> int:
        return self.debt_issued + self.stock_issued - self.debt_repaid - self.repurchases - self.dividends_paid

    @property
    def net_change_in_cash(self) -> int:
        return self.operating_cash + self.investing_cash + self.financing_cash + self.currency_effect


@dataclass(frozen=True, slots=True)
class Balances:
    """Assets, liabilities and equity on one day. ``treasury`` and ``accumulated_loss`` reduce equity."""

    cash: int
    investments: int
    receivables: int
    inventories: int
    prepaid: int
    property_net: int
    lease_assets: int
    goodwill: int
    intangibles: int
    other_assets: int
    payables: int
    accrued: int
    deferred_revenue: int
    current_debt: int
    long_term_debt: int
    lease_liabilities: int
    deferred_tax: int
    paid_in_capital: int
    retained_earnings: int
    accumulated_loss: int
    treasury: int
    shares: int
    share_price: int

    @property
    def current_assets(self) -> int:
        return self.cash + self.investments + self.receivables + self.inventories + self.prepaid

    @property
    def total_assets(self) -> int:
        return (
            self.current_assets
            + self.property_net
            + self.lease_assets
            + self.goodwill
            + self.intangibles
            + self.other_assets
        )

    @property
    def current_liabilities(self) -> int:
        return self.payables + self.accrued + self.deferred_revenue + self.current_debt

    @property
    def total_liabilities(self) -> int:
        return self.current_liabilities + self.long_term_debt + self.lease_liabilities + self.deferred_tax

    @property
    def equity(self) -> int:
        return self.paid_in_capital + self.retained_earnings - self.accumulated_loss - self.treasury


@dataclass(frozen=True, slots=True)
class Period:
    """Flows between two balance sheets. ``shares`` is the weighted average; ``diluted`` adds options and units."""

    flows: Flows
    opening: Balances
    closing: Balances
    shares: int
    diluted: int

    @property
    def eps_cents(self) -> int:
        return round(100 * self.flows.net_income / self.shares)

    @property
    def diluted_eps_cents(self) -> int:
        return round(100 * self.flows.net_income / self.diluted)


@dataclass(frozen=True, slots=True)
class Vintage:
    """The filing whose view of the books is used: its fiscal year, and whether it is the restating amendment."""

    year: int
    amended: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """Quarters from four years before the first filing to the last one. ``misstatement`` is the revenue that the
    original 10-K of ``company.restated_year`` recognized too early, in its fourth quarter."""

    company: Company
    quarters: dict[tuple[int, int], Period]
    misstatement: int

    def period(self, year: int, through: int, vintage: Vintage, first: int = 1) -> Period:
        """Quarters ``first`` to ``through`` of a fiscal year, as a filing of ``vintage`` prints them."""
        return join([self._quarter(year, quarter, vintage) for quarter in range(first, through + 1)])

    def annual(self, year: int, vintage: Vintage | None = None) -> Period:
        """The whole fiscal year; by default as its own 10-K printed it."""
        return self.period(year, 4, vintage or Vintage(year))

    def _quarter(self, year: int, quarter: int, vintage: Vintage) -> Period:
        period = self.quarters[year, quarter]
        if self.company.recast_year is not None and vintage.year < self.company.recast_year:
            period = _before_recast(period)
        first_reported = vintage == Vintage(year) and year == self.company.restated_year
        return _misstate(period, self.misstatement) if first_reported and quarter == 4 else period


def flow(name: str) -> Callable[[Period], int]:
    """A function that returns the named field of a period's flows."""
    assert hasattr(Flows, name)
    return lambda period: int(getattr(period.flows, name))


def held(name: str) -> Callable[[Period], int]:
    """A function that returns the named field of a period's closing balances."""
    assert hasattr(Balances, name)
    return lambda period: int(getattr(period.closing, name))


def join(periods: Sequence[Period]) -> Period:
    """Merge consecutive periods."""
    flows = periods[0].flows
    for later in periods[1:]:
        flows = flows + later.flows
    return Period(
        flows,
        periods[0].opening,
        periods[-1].closing,
        shares=round(sum(p.shares for p in periods) / len(periods)),
        diluted=round(sum(p.diluted for p in periods) / len(periods)),
    )


def _before_recast(period: Period) -> Period:
    """Move distribution costs back to selling expenses, as before the recast to cost of revenue."""
    moved = period.flows.cost_of_revenue // 14
    flows = replace(
        period.flows, cost_of_revenue=period.flows.cost_of_revenue - moved, selling=period.flows.selling + moved
    )
    return replace(period, flows=flows)


def _misstate(period: Period, amount: int) -> Period:
    """The quarter with ``amount`` of revenue recognized too early, unpaid at its end and taxed at 25%."""
    tax = amount // 4
    flows, closing = period.flows, period.closing
    segments = (flows.segment_revenue[0] + amount, *flows.segment_revenue[1:])
    return replace(
        period,
        flows=replace(
            flows,
            segment_revenue=segments,
            income_tax=flows.income_tax + tax,
            change_receivables=flows.change_receivables - amount,
            change_accrued=flows.change_accrued + tax,
        ),
        closing=replace(
            closing,
            receivables=closing.receivables + amount,
            accrued=closing.accrued + tax,
            retained_earnings=closing.retained_earnings + amount - tax,
        ),
    )
