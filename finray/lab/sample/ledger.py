"""A company's books, quarter by quarter, in whole presentation units, so that every printed statement ties
exactly.

All money is an integer count of the company's scale (dollars, thousands or millions); shares are in the same
scale. Sums, subtotals and roll-forwards are integer arithmetic: assets equal liabilities plus equity, the
cash flow statement ends at the balance sheet's cash, and net income is one number wherever it is printed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from finray.lab.sample.companies import MULTIPLIER, Company


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


def make_ledger(company: Company, first_year: int, years: int, seed: int) -> Ledger:
    """Simulated books for fiscal years ``first_year - 3`` to the last one filed."""
    rng = random.Random(f"{seed}:ledger:{company.cik}")
    simulation = _Simulation(company, rng)
    quarters: dict[tuple[int, int], Period] = {}
    for year in range(first_year - 3, first_year + years):
        simulation.start_year()
        for quarter in range(1, 5):
            quarters[year, quarter] = simulation.quarter(quarter)
    misstatement = 0
    if company.restated_year is not None:
        misstatement = max(4, quarters[company.restated_year, 4].flows.revenue // 18)
    return Ledger(company, quarters, misstatement)


_QUARTERLY_REVENUE = {"dollars": (9e6, 3e7), "thousands": (8e7, 6e8), "millions": (1.2e9, 6e9)}
_SEASONS = {"retail": (0.22, 0.23, 0.23, 0.32), "foods": (0.24, 0.24, 0.25, 0.27)}


class _Simulation:
    """The changing state of one company: rates drift from year to year, balances roll from quarter to quarter."""

    def __init__(self, company: Company, rng: random.Random) -> None:
        self.rng, self.company, profile = rng, company, company.profile
        low, high = _QUARTERLY_REVENUE[company.scale]
        self.base = rng.uniform(low, high) / MULTIPLIER[company.scale]
        weights = [rng.uniform(0.6, 1.6) for _ in profile["segments"]]
        self.mix = [weight / sum(weights) for weight in weights]
        self.margin, self.selling = profile["gross_margin"], profile["selling"]
        self.trend = rng.uniform(0.0, 0.11)
        self.growth = self.trend
        self.dividend = rng.randrange(60, 420, 5) if company.pays_dividends else 0
        year = 4 * self.base
        inventories = round(year * 0.11) if profile["inventory"] else 0
        shares = max(20, round(year / rng.uniform(12, 40)))
        open_ = Balances(
            cash=round(year * 0.12),
            investments=round(year * 0.05),
            receivables=round(year * 0.13),
            inventories=inventories,
            prepaid=round(year * 0.02),
            property_net=round(year * profile["capex"] * 6),
            lease_assets=round(year * 0.06),
            goodwill=round(year * 0.2),
            intangibles=round(year * 0.09),
            other_assets=round(year * 0.02),
            payables=round(year * 0.08),
            accrued=round(year * 0.07),
            deferred_revenue=round(year * 0.03),
            current_debt=round(year * 0.01),
            long_term_debt=round(year * 0.18),
            lease_liabilities=round(year * 0.055),
            deferred_tax=round(year * 0.02),
            paid_in_capital=round(year * 0.15),
            retained_earnings=0,
            accumulated_loss=round(year * 0.012),
            treasury=round(year * 0.05),
            shares=shares,
            share_price=rng.randint(18, 140),
        )
        self.balances = replace(open_, retained_earnings=open_.total_assets - open_.total_liabilities - open_.equity)

    def start_year(self) -> None:
        """Draw new trends: growth, margin and the dividend change once a year."""
        rng = self.rng
        self.growth = self.trend + rng.gauss(0, 0.06)
        self.margin = min(0.85, max(0.15, self.margin + rng.gauss(0, 0.012)))
        self.selling = max(0.05, self.selling + rng.gauss(0, 0.006))
        self.mix = [max(0.05, share + rng.gauss(0, 0.015)) for share in self.mix]
        if self.dividend and rng.random() < 0.8:
            self.dividend += max(5, 5 * round(self.dividend * rng.uniform(0.02, 0.1) / 5))
        self.base *= 1 + self.growth
        self.restructuring_quarter = rng.choice((0, 0, 2, 3, 4))
        self.acquisition_quarter = rng.choice((0, 0, 1, 2, 3))

    def quarter(self, number: int) -> Period:
        rng, old, profile = self.rng, self.balances, self.company.profile
        season = _SEASONS.get(self.company.industry, (0.24, 0.25, 0.25, 0.26))[number - 1]
        revenue = self.base * 4 * season * rng.uniform(0.985, 1.015)
        segments = tuple(round(revenue * share / sum(self.mix)) for share in self.mix)
        total = sum(segments)
        cost = round(total * (1 - self.margin + rng.gauss(0, 0.004)))
        research, selling = round(total * profile["research"]), round(total * self.selling)
        restructuring = round(total * rng.uniform(0.01, 0.03)) if number == self.restructuring_quarter else 0
        interest = round((old.long_term_debt + old.current_debt) * 0.046 / 4)
        earned = round((old.cash + old.investments) * 0.012 / 4)
        pretax = total - cost - research - selling - restructuring - interest + earned
        tax = round(pretax * rng.uniform(0.19, 0.26))
        acquired = round(total * rng.uniform(0.1, 0.4)) if number == self.acquisition_quarter else 0
        worn, amortized = round(old.property_net * 0.03), round(old.intangibles * 0.025)
        dividends = round(self.dividend * old.shares / 1000)
        repurchases = round(total * rng.uniform(0.0, 0.03))
        bought_back = repurchases // old.share_price
        year = total / season
        new = replace(
            old,
            investments=max(0, old.investments + round(year * rng.gauss(0.001, 0.006))),
            receivables=round(year * rng.uniform(0.12, 0.14)),
            inventories=round(year * rng.uniform(0.1, 0.125)) if profile["inventory"] else 0,
            prepaid=round(year * rng.uniform(0.018, 0.024)),
            property_net=old.property_net - worn + round(total * profile["capex"] * rng.uniform(0.8, 1.25)),
            lease_assets=round(year * rng.uniform(0.057, 0.063)),
            goodwill=old.goodwill + acquired * 2 // 3,
            intangibles=old.intangibles - amortized + acquired - acquired * 2 // 3,
            payables=round(year * rng.uniform(0.075, 0.09)),
            accrued=round(year * rng.uniform(0.065, 0.08)),
            deferred_revenue=round(year * rng.uniform(0.028, 0.034)),
            share_price=max(8, round(old.share_price * rng.uniform(0.93, 1.1))),
            shares=old.shares - bought_back,
        )
        new = replace(new, lease_liabilities=old.lease_liabilities + new.lease_assets - old.lease_assets)
        stock_compensation, issued = round(total * 0.011), round(total * 0.004)
        matured = round(old.investments * rng.uniform(0.1, 0.3))
        flows = Flows(
            segment_revenue=segments,
            cost_of_revenue=cost,
            research=research,
            selling=selling,
            restructuring=restructuring,
            interest_expense=interest,
            interest_income=earned,
            income_tax=tax,
            depreciation=worn + amortized,
            stock_compensation=stock_compensation,
            deferred_tax=round(tax * 0.08),
            change_receivables=old.receivables - new.receivables,
            change_inventories=old.inventories - new.inventories,
            change_prepaid=old.prepaid - new.prepaid,
            change_payables=new.payables - old.payables,
            change_accrued=new.accrued - old.accrued,
            change_deferred_revenue=new.deferred_revenue - old.deferred_revenue,
            capex=new.property_net - old.property_net + worn,
            investments_bought=new.investments - old.investments + matured,
            investments_matured=matured,
            acquisitions=acquired,
            debt_issued=0,
            debt_repaid=old.current_debt if number == 4 else 0,
            repurchases=repurchases,
            dividends_paid=dividends,
            stock_issued=issued,
            currency_effect=round(total * rng.gauss(0, 0.002)),
            dividend_mills=self.dividend,
        )
        flows, new = self._fund(flows, new, number, year)
        diluted = new.shares + max(1, new.shares // 60)
        self.balances = new
        return Period(flows, old, new, (old.shares + new.shares) // 2, diluted)

    def _fund(self, flows: Flows, new: Balances, number: int, year: float) -> tuple[Flows, Balances]:
        """Borrow if cash would run low, then close the books."""
        old = self.balances
        shortfall = round(year * 0.05) - (old.cash + flows.net_change_in_cash)
        if shortfall > 0:
            flows = replace(flows, debt_issued=shortfall + round(year * 0.02))
        due = round(old.long_term_debt * 0.06) if number == 4 else 0
        return flows, replace(
            new,
            cash=old.cash + flows.net_change_in_cash,
            current_debt=old.current_debt - flows.debt_repaid + due,
            long_term_debt=old.long_term_debt + flows.debt_issued - due,
            deferred_tax=old.deferred_tax + flows.deferred_tax,
            paid_in_capital=old.paid_in_capital + flows.stock_compensation + flows.stock_issued,
            retained_earnings=old.retained_earnings + flows.net_income - flows.dividends_paid,
            accumulated_loss=old.accumulated_loss - flows.currency_effect,
            treasury=old.treasury + flows.repurchases,
        )
