"""Plans the filings of a company, with their dates and contents: one draft for each."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from finray.core.filing import FiscalPeriod
from finray.core.forms import EARNINGS_RELEASE
from finray.lab.sample.amendments import part_three_amendment, restating_amendment
from finray.lab.sample.annual import annual_report
from finray.lab.sample.blocks import Block
from finray.lab.sample.book import Book
from finray.lab.sample.calendars import next_weekday
from finray.lab.sample.companies import Company, make_companies
from finray.lab.sample.cover import Draft
from finray.lab.sample.current import current_report, earnings_release, make_event
from finray.lab.sample.ledger import Ledger, Vintage
from finray.lab.sample.quarterly import quarter_sentences, quarterly_report
from finray.lab.sample.simulation import make_ledger
from finray.lab.sample.story import Story, make_story

LAST_YEAR = 2023
"""Last fiscal year of every sample."""
_QUARTERS: tuple[FiscalPeriod, ...] = ("Q1", "Q2", "Q3")


@dataclass(frozen=True, slots=True)
class Plan:
    """One company's share of a sample; small enough to send to a worker process."""

    company: Company
    ledger: Ledger
    first_year: int
    years: int
    seed: int
    full: bool


def make_plans(companies: int, years: int, seed: int, *, full: bool) -> list[Plan]:
    """Plans of ``companies`` companies for the ``years`` fiscal years up to ``LAST_YEAR``."""
    first = LAST_YEAR - years + 1
    return [
        Plan(company, make_ledger(company, first, years, seed), first, years, seed, full)
        for company in make_companies(companies, first, years, seed)
    ]


def drafts(plan: Plan) -> Iterator[Draft]:
    """Every filing of the company, in fiscal order, with its blocks."""
    number = 0
    for year in range(plan.first_year, plan.first_year + plan.years):
        for draft in _year(plan, year):
            number += 1
            accession = f"{draft.company.cik}-{draft.filed_at:%y}-{number:06d}"
            yield replace(draft, accession=accession)


def _year(plan: Plan, year: int) -> Iterator[Draft]:
    company, rng = plan.company, random.Random(f"{plan.seed}:filings:{plan.company.cik}:{year}")
    calendar, end = company.calendar, company.calendar.year_end(year)
    story = make_story(company, plan.ledger, year, Vintage(year), plan.seed)
    for quarter, name in enumerate(_QUARTERS, start=1):
        yield _quarterly(plan, year, quarter, name, story, rng)
    yield from _events(plan, year, story, rng)
    filed = next_weekday(end + dt.timedelta(days=rng.randint(50, 59)))
    annual = Draft(company, f"{company.slug}-{year}-10k", "10-K", year, "FY", calendar.year_start(year), end, filed, "")
    book = Book(annual, plan.ledger, Vintage(year), story, plan.full)
    if rng.random() < 0.5:
        release = replace(
            annual,
            doc_name=f"{company.slug}-{year}-q4-release",
            form=EARNINGS_RELEASE,
            fiscal_period="Q4",
            filed_at=next_weekday(end + dt.timedelta(days=rng.randint(30, 44))),
        )
        yield _written(release, earnings_release(replace(book, draft=release)), story.sentences)
    yield _written(annual, annual_report(book), story.sentences)
    amendment = replace(annual, doc_name=f"{company.slug}-{year}-10ka", form="10-K/A", amends=f"10-K {end}")
    if company.restated_year == year:
        amendment = replace(amendment, filed_at=next_weekday(end + dt.timedelta(days=rng.randint(95, 108))))
        corrected = make_story(company, plan.ledger, year, Vintage(year, amended=True), plan.seed)
        restating = Book(amendment, plan.ledger, Vintage(year, amended=True), corrected, plan.full)
        yield _written(amendment, restating_amendment(restating, filed), corrected.sentences)
    elif rng.random() < 0.12:
        amendment = replace(amendment, filed_at=next_weekday(end + dt.timedelta(days=rng.randint(110, 119))))
        yield _written(amendment, part_three_amendment(replace(book, draft=amendment), filed, plan.seed), {})


def _quarterly(plan: Plan, year: int, quarter: int, name: FiscalPeriod, story: Story, rng: random.Random) -> Draft:
    company, calendar = plan.company, plan.company.calendar
    end = calendar.quarter_end(year, quarter)
    draft = Draft(
        company,
        f"{company.slug}-{year}-q{quarter}-10q",
        "10-Q",
        year,
        name,
        calendar.year_start(year),
        end,
        next_weekday(end + dt.timedelta(days=rng.randint(30, 39))),
        "",
    )
    book = Book(draft, plan.ledger, Vintage(year), story, plan.full)
    sentences = quarter_sentences(book, quarter, plan.seed)
    return _written(draft, quarterly_report(book, quarter, sentences), sentences)


def _events(plan: Plan, year: int, story: Story, rng: random.Random) -> Iterator[Draft]:
    """One to three current reports: a dividend, an officer, a credit agreement."""
    company, calendar = plan.company, plan.company.calendar
    kinds = (["dividend"] if company.pays_dividends else []) + [rng.choice(("officer", "credit"))]
    for quarter, kind in enumerate(kinds, start=rng.randint(1, 3)):
        day = next_weekday(calendar.quarter_start(year, quarter) + dt.timedelta(days=rng.randint(8, 50)))
        mills = plan.ledger.quarters[year, quarter].flows.dividend_mills
        event = make_event(company, story, kind, day, mills, rng)
        draft = Draft(
            company,
            f"{company.slug}-8k-{day}",
            "8-K",
            year,
            None,
            None,
            day,
            next_weekday(day + dt.timedelta(days=rng.randint(0, 3))),
            "",
            items=(event.title,),
        )
        book = Book(draft, plan.ledger, Vintage(year), story, plan.full)
        yield _written(draft, current_report(book, event), {f"event:{kind}": event.sentence})


def _written(draft: Draft, blocks: list[Block], texts: dict[str, str]) -> Draft:
    return replace(draft, blocks=tuple(blocks), texts=dict(texts))
