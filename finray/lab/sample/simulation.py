"""Makes up the ledger of a company: growth, margins, loans and taxes from a seed."""

from __future__ import annotations

import random
from dataclasses import replace

from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Balances, Flows, Ledger, Period


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
        self.base = rng.uniform(low, high) / company.multiplier
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
