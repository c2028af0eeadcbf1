"""The prose facts of one fiscal year: headcount, reasons for changes, commitments, lawsuits, plans."""

from __future__ import annotations

import random
from dataclasses import dataclass

from finray.lab.sample.calendars import long_date
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Ledger, Period, Vintage


@dataclass(frozen=True, slots=True)
class Story:
    """Numbers and sentences of one fiscal year of a company. Money is in dollars. ``sentences`` maps a key to the
    sentence that answers a question about it and is printed in the filing."""

    employees: int
    lease_commitment: int
    purchase_commitment: int
    planned_capex: int
    facility: int
    square_feet: int
    largest_customer: int
    tax_benefits: int
    sentences: dict[str, str]


def year_label(company: Company, year: int) -> str:
    """The year as ``2022`` or, if it differs from the calendar year, ``fiscal 2022``."""
    plain = company.calendar.month == 12 and company.calendar.weekday is None
    return str(year) if plain else f"fiscal {year}"


def dollars(amount: int) -> str:
    """An amount in running text, such as ``$1.25 billion``, ``$234.5 million`` or ``$84,000``."""
    if amount >= 1_000_000_000:
        return f"${amount / 1e9:.2f} billion"
    if amount >= 1_000_000:
        return f"${amount / 1e6:.1f} million"
    return f"${amount:,}"


def stated(amount: int) -> int:
    """The value of ``dollars`` as printed, including rounding."""
    for unit, digits in ((1_000_000_000, 2), (1_000_000, 1)):
        if amount >= unit:
            return round(round(amount / unit, digits) * unit)
    return amount


def make_story(company: Company, ledger: Ledger, year: int, vintage: Vintage, seed: int) -> Story:
    """The story of a fiscal year in a filing of ``vintage``; figures follow the books."""
    rng = random.Random(f"{seed}:story:{company.cik}:{year}")
    steady = random.Random(f"{seed}:story:{company.cik}")
    multiplier = company.multiplier
    now, before = ledger.annual(year, vintage), ledger.annual(year - 1, vintage)
    revenue = now.flows.revenue * multiplier
    employees = max(120, round(revenue / steady.uniform(210_000, 380_000) / 10) * 10)
    facility = (
        steady.choice((50, 75, 150, 250, 400))
        * 1_000_000
        * {"dollars": 1, "thousands": 4, "millions": 10}[company.scale]
    )
    square_feet = steady.randrange(40_000, 420_000, 5_000)
    lease, purchase = round(revenue * rng.uniform(0.008, 0.02)), round(revenue * rng.uniform(0.02, 0.07))
    planned = round(now.flows.capex * multiplier * rng.uniform(0.9, 1.3))
    customer, benefits = rng.randint(8, 23), round(revenue * rng.uniform(0.001, 0.004))
    label = year_label(company, year)
    end = long_date(company.calendar.year_end(year))
    sentences = {
        "employees": f"As of {end}, we had approximately {employees:,} full-time employees.",
        "headquarters": (
            f"Our corporate headquarters is located in {company.city}, {company.city_state}, "
            f"where we {'own' if square_feet % 2 == 0 and steady.random() < 0.5 else 'lease'} "
            f"approximately {square_feet:,} square feet of office space."
        ),
        "legal": (
            f"In {label}, we were named as a defendant in {company.profile['lawsuit']}; we have "
            f"recorded an accrual of {dollars(round(revenue * 0.0013))} for this matter."
        ),
        "revenue_driver": revenue_sentence(company, now, before, label, year_label(company, year - 1), rng),
        "margin_driver": margin_sentence(company, now, before, year_label(company, year - 1), rng),
        "tax_driver": tax_sentence(now, before, label, year_label(company, year - 1), rng),
        "lease_commitment": (
            f"As of {end}, we had additional operating leases that had not yet commenced "
            f"with undiscounted future payments of {dollars(lease)}."
        ),
        "purchase_commitment": (
            f"As of {end}, our noncancelable purchase commitments with suppliers totaled {dollars(purchase)}."
        ),
        "capex_plan": (
            f"We expect capital expenditures of approximately {dollars(planned)} in {year_label(company, year + 1)}."
        ),
        "facility": (
            f"We have a {dollars(facility)} revolving credit facility with a syndicate of lenders "
            f"led by {company.bank}."
        ),
        "largest_customer": f"Our largest customer accounted for {customer}% of our consolidated revenue in {label}.",
        "tax_benefits": f"Unrecognized tax benefits were {dollars(benefits)} as of {end}.",
        "auditor": (
            f"{company.auditor} has served as our independent registered public accounting firm since "
            f"{steady.randint(1994, 2014)}."
        ),
        "business": f"{company.short} is {company.profile['what']}.",
    }
    return Story(
        employees,
        stated(lease),
        stated(purchase),
        stated(planned),
        stated(facility),
        square_feet,
        customer,
        stated(benefits),
        sentences,
    )


def revenue_sentence(
    company: Company, now: Period, before: Period, label: str, previous: str, rng: random.Random
) -> str:
    change = 100 * (now.flows.revenue / before.flows.revenue - 1)
    rose = change >= 0
    first, second = rng.sample(company.profile["revenue_up" if rose else "revenue_down"], 2)
    offset = rng.choice(company.profile["revenue_down" if rose else "revenue_up"])
    return (
        f"{_main_label(company.style.revenue)} {'increased' if rose else 'decreased'} {abs(change):.1f}% in "
        f"{label} compared with {previous}, primarily due to {first} and {second}, partially offset by "
        f"{offset}."
    )


def margin_sentence(company: Company, now: Period, before: Period, previous: str, rng: random.Random) -> str:
    """A sentence on whether gross margin, as printed to one decimal, rose, fell or was unchanged, and why."""
    margin = round(100 * now.flows.gross_profit / now.flows.revenue, 1)
    earlier = round(100 * before.flows.gross_profit / before.flows.revenue, 1)
    helped, hurt = rng.sample(company.profile["margin_up"], 2), rng.sample(company.profile["margin_down"], 2)
    if margin == earlier:
        return f"Gross margin was unchanged at {margin:.1f}%, as {helped[0]} offset {hurt[0]}."
    verb, first, other = ("increased", helped, hurt) if margin > earlier else ("decreased", hurt, helped)
    return (
        f"Gross margin {verb} to {margin:.1f}% from {earlier:.1f}% in {previous}, primarily driven by "
        f"{first[0]} and {first[1]}, partially offset by {other[0]}."
    )


def tax_sentence(now: Period, before: Period, label: str, previous: str, rng: random.Random) -> str:
    rates = [round(100 * p.flows.income_tax / p.flows.pretax_income, 1) for p in (now, before)]
    up = (
        "a less favorable geographic mix of earnings",
        "lower excess tax benefits from stock-based compensation",
        "the settlement of a state tax examination",
    )
    down = (
        "a more favorable geographic mix of earnings",
        "higher research and similar credits",
        "the release of a valuation allowance on state loss carryforwards",
    )
    reason = rng.choice(up if rates[0] >= rates[1] else down)
    return (
        f"Our effective tax rate was {rates[0]:.1f}% in {label} and {rates[1]:.1f}% in {previous}; the "
        f"change was primarily due to {reason}."
    )


def _main_label(label: str) -> str:
    """The label up to its first comma: ``Net sales, including …`` becomes ``Net sales``."""
    return label.split(",")[0]
