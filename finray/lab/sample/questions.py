"""Questions about a sample, with exact answers and the pages that show them.

Types: the four multi-document templates of SEC-QA (arXiv 2406.14394): ``dividends_total``,
``percent_difference``, ``revenue_growth``, ``highest_of``; then ``numeric_table``, ``numeric_quarter``,
``numeric_text``, ``ratio``, ``textual``, ``event`` (current reports, releases, amendments), ``restated`` and
``unanswerable``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from finray.core.filing import FiscalPeriod
from finray.core.forms import EARNINGS_RELEASE
from finray.lab.sample.companies import Company, invented_name
from finray.lab.sample.ledger import Vintage
from finray.lab.sample.metrics import (
    ADJUSTED_EBITDA,
    AMOUNTS,
    COMPARED,
    DIVIDENDS,
    NET_INCOME,
    PER_SHARE,
    QUARTERLY,
    RATIOS,
    REVENUE,
    Metric,
    reported,
)
from finray.lab.sample.phrasing import Asker, amount, in_millions, rounded
from finray.lab.sample.printing import PrintedFiling, Spot
from finray.lab.sample.story import make_story
from finray.lab.sample.world import World

STATEMENTS = {"income": "statement of income", "balance": "balance sheet", "cash_flow": "cash flow statement"}
_TRIES = 60
_QUARTERS: tuple[FiscalPeriod, ...] = ("Q1", "Q2", "Q3")

Shown = tuple[PrintedFiling, Spot]
"""A printed item: its filing, and its place there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its gold answer. ``value`` is in ``unit``: dollars, dollars per share, percent, a ratio or a
    count."""

    question: str
    answer: str | None
    value: float | None
    unit: str | None
    evidence: tuple[Shown, ...]
    reason: str | None = None
    """The reason why an unanswerable question has no answer: "company", "year" or "metric"."""
    absent: str | None = None
    """The words of an unanswerable question that no filing contains."""


Maker = Callable[[World, random.Random, Asker], Asked | None]


def make_questions(world: World, count: int) -> list[dict[str, Any]]:
    """``count`` different questions, with types in turn; fewer if a small sample does not have enough."""
    rng = random.Random(f"{world.seed}:questions")
    asker = Asker(rng)
    makers = dict(MAKERS)
    lines: list[dict[str, Any]] = []
    seen: set[str] = set()
    while makers and len(lines) < count:
        for kind in list(makers):
            asked = _new(makers[kind], world, rng, asker, seen)
            if asked is None:
                del makers[kind]
            elif len(lines) < count:
                seen.add(asked.question)
                lines.append(_line(f"sample-{len(lines):05d}", kind, asked))
    return lines


def _new(maker: Maker, world: World, rng: random.Random, asker: Asker, seen: set[str]) -> Asked | None:
    for _ in range(_TRIES):
        asked = maker(world, rng, asker)
        if asked is not None and asked.question not in seen:
            return asked
    return None


def _line(qid: str, kind: str, asked: Asked) -> dict[str, Any]:
    pages: dict[tuple[str, int], list[str]] = {}
    for filing, spot in asked.evidence:
        pages.setdefault((filing.doc_name, spot.page), []).append(spot.text)
    line: dict[str, Any] = {
        "qid": qid,
        "question": asked.question,
        "answer": asked.answer,
        "question_type": kind,
        "evidence": [
            {"doc_name": name, "page": page, "text": "\n".join(dict.fromkeys(texts))}
            for (name, page), texts in pages.items()
        ],
        "value": asked.value,
        "unit": asked.unit,
    }
    if asked.reason:
        line |= {"reason": asked.reason, "absent": asked.absent}
    return line


def _dividends_total(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    n = rng.randint(2, 5)
    years = range(year - n + 1, year + 1)
    shown = _annual_lines(world, ((company, DIVIDENDS, each) for each in years))
    if shown is None:
        return None
    total = sum(_dollars(world, company, DIVIDENDS, each) for each in years)
    question = asker.ask("dividends_total", company=asker.mention(company), n=n, first=years[0], year=year)
    return Asked(question, in_millions(total), total, "USD", shown)


def _revenue_growth(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    n = rng.randint(1, 5)
    shown = _annual_lines(world, ((company, REVENUE, each) for each in (year - n, year)))
    if shown is None:
        return None
    growth = 100 * (world.annual(company, year).flows.revenue / world.annual(company, year - n).flows.revenue - 1)
    question = asker.ask("revenue_growth", company=asker.mention(company), n=n, first=year - n, year=year)
    return Asked(question, f"{growth:.1f}%", rounded(growth), "percent", shown)


def _percent_difference(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    if len(world.companies) < 2:
        return None
    first, second = rng.sample(world.companies, 2)
    metric, year = rng.choice(COMPARED), rng.randint(world.first_year, world.last_year)
    shown = _annual_lines(world, ((company, metric, year) for company in (first, second)))
    if shown is None:
        return None
    ratio = _dollars(world, first, metric, year) / _dollars(world, second, metric, year)
    if not 0.02 < ratio < 50:
        return None
    question = asker.ask(
        "percent_difference",
        company=asker.mention(first),
        other=asker.mention(second),
        metric=asker.pick(metric.names),
        fy=asker.fiscal_year(year),
    )
    return Asked(question, f"{100 * (ratio - 1):.1f}%", rounded(100 * (ratio - 1)), "percent", shown)


def _highest_of(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    size = rng.randint(3, 4)
    if len(world.companies) < size:
        return None
    companies = rng.sample(world.companies, size)
    ranked, metric = rng.sample(COMPARED, 2)
    year = rng.randint(world.first_year, world.last_year)
    best = max(companies, key=lambda company: _dollars(world, company, ranked, year))
    shown = _annual_lines(world, [*((company, ranked, year) for company in companies), (best, metric, year)])
    if shown is None:
        return None
    value = _dollars(world, best, metric, year)
    names = [asker.mention(company) for company in companies]
    question = asker.ask(
        "highest_of",
        companies=f"{', '.join(names[:-1])} and {names[-1]}",
        ranked=asker.pick(ranked.names),
        metric=asker.pick(metric.names),
        fy=asker.fiscal_year(year),
    )
    return Asked(question, f"{in_millions(value)} ({best.short})", value, "USD", shown)


def _numeric_table(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    metric = rng.choice(AMOUNTS if rng.random() < 0.85 else PER_SHARE)
    shown = _annual_lines(world, [(company, metric, year)])
    if shown is None:
        return None
    kind = "per_share" if metric.per_share else "numeric_table"
    question = asker.ask(
        kind,
        company=asker.mention(company),
        metric=asker.pick(metric.names),
        fy=asker.fiscal_year(year),
        statement=STATEMENTS[metric.row.split(":")[0]],
    )
    value, unit, text = amount(metric, company, world.annual(company, year))
    return Asked(question, text, value, unit, shown)


def _numeric_quarter(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    quarter, metric = rng.randint(1, 3), rng.choice(QUARTERLY)
    shown = _line_of(world.filing(company, "10-Q", year, _QUARTERS[quarter - 1]), metric)
    if shown is None or not world.settled(company, year):
        return None
    kind = "per_share_quarter" if metric.per_share else "numeric_quarter_end" if metric.instant else "numeric_quarter"
    question = asker.ask(
        kind, company=asker.mention(company), metric=asker.pick(metric.names), quarter=asker.quarter(year, quarter)
    )
    value, unit, text = amount(metric, company, world.quarter(company, year, quarter))
    return Asked(question, text, value, unit, (shown,))


def _numeric_text(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    filing = world.filing(company, "10-K", year)
    if filing is None or not world.settled(company, year):
        return None
    story = make_story(company, world.ledgers[company.cik], year, Vintage(year), world.seed)
    name = asker.pick(sorted(asker.texts["numeric_text"]))
    value: int = getattr(story, name)
    text, unit = {
        "employees": (f"approximately {value:,}", "employees"),
        "square_feet": (f"{value:,} square feet", "square feet"),
        "largest_customer": (f"{value}%", "percent"),
    }.get(name, (in_millions(value), "USD"))
    spot = filing.spots[{"square_feet": "headquarters", "planned_capex": "capex_plan"}.get(name, name)]
    question = asker.ask_of("numeric_text", name, company=asker.mention(company), fy=asker.fiscal_year(year))
    return Asked(question, text, value, unit, ((filing, spot),))


def _ratio(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    ratio = rng.choice(RATIOS)
    years = (year - 1, year) if ratio.previous else (year,)
    if not all(world.settled(company, each) for each in years):
        return None
    shown = _annual_lines(world, ((company, metric, year) for metric in ratio.parts))
    if shown is None:
        return None
    ledger = world.ledgers[company.cik]
    value = ratio.compute(ledger.annual(year), ledger.annual(year - 1, Vintage(year)))
    question = asker.ask(
        "ratio",
        company=asker.mention(company),
        fy=asker.fiscal_year(year),
        name=ratio.name,
        definition=ratio.definition,
        digits="one decimal" if ratio.percent else "two decimals",
    )
    text = f"{value:.1f}%" if ratio.percent else f"{value:.2f}"
    return Asked(question, text, rounded(value), "percent" if ratio.percent else "ratio", shown)


def _textual(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    filing = world.filing(company, "10-K", year)
    if filing is None or not world.settled(company, year):
        return None
    name = asker.pick(sorted(asker.texts["textual"]))
    question = asker.ask_of("textual", name, company=asker.mention(company), fy=asker.fiscal_year(year))
    return Asked(question, filing.spots[name].text, None, None, ((filing, filing.spots[name]),))


def _event(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    """A question about one current report, earnings release or amendment."""
    filings = [filing for filing in world.filings if filing.form in ("8-K", "10-K/A", EARNINGS_RELEASE)]
    if not filings:
        return None
    filing = rng.choice(filings)
    company = next(company for company in world.companies if company.cik == filing.cik)
    named = {
        "company": asker.mention(company),
        "fy": asker.fiscal_year(filing.fiscal_year),
        "date": asker.date(filing.end),
    }
    if filing.form == EARNINGS_RELEASE:
        if not world.settled(company, filing.fiscal_year):
            return None
        value, unit, text = amount(ADJUSTED_EBITDA, company, world.annual(company, filing.fiscal_year))
        spot = filing.spots[ADJUSTED_EBITDA.row]
        return Asked(asker.ask_of("event", "adjusted_ebitda", **named), text, value, unit, ((filing, spot),))
    if filing.form == "10-K/A" and "audit_fees" in filing.spots and rng.random() < 0.5:
        spot = filing.spots["audit_fees"]
        fees = spot.text.split("Audit fees ")[1].split()[0]
        return Asked(
            asker.ask_of("event", "audit_fees", **named),
            fees,
            float(fees.strip("$").replace(",", "")),
            "USD",
            ((filing, spot),),
        )
    if filing.form == "10-K/A":
        spot = filing.spots["amends"]
        return Asked(asker.ask_of("event", "amends", **named), spot.text, None, None, ((filing, spot),))
    key, spot = next((key, spot) for key, spot in filing.spots.items() if key.startswith("event:"))
    question = asker.ask_of("event", key.removeprefix("event:"), **named)
    if key == "event:dividend":
        mills = round(1000 * float(spot.text.split("$")[1].split()[0]))
        return Asked(question, f"${mills / 1000:.3f} per share", mills / 1000, "USD/share", ((filing, spot),))
    return Asked(question, spot.text, None, None, ((filing, spot),))


def _restated(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    """Questions on the same metric and year from the original 10-K and its 10-K/A: two answers, two documents."""
    companies = [company for company in world.companies if company.restated_year is not None]
    if not companies:
        return None
    company, metric, amended = rng.choice(companies), rng.choice((REVENUE, NET_INCOME)), rng.random() < 0.5
    assert company.restated_year is not None
    year = company.restated_year
    shown = _line_of(world.filing(company, "10-K/A" if amended else "10-K", year), metric)
    if shown is None:
        return None
    value, unit, text = amount(metric, company, world.ledgers[company.cik].annual(year, Vintage(year, amended)))
    question = asker.ask(
        "restated",
        company=asker.mention(company),
        metric=asker.pick(metric.names),
        fy=asker.fiscal_year(year),
        when="in its amended filing on Form 10-K/A" if amended else "in its original 10-K, before any restatement",
        how="restated in the 10-K/A" if amended else "originally reported in the 10-K, before it was amended",
    )
    return Asked(question, text, value, unit, (shown,))


def _unanswerable(world: World, rng: random.Random, asker: Asker) -> Asked | None:
    company, year = world.company_year(rng)
    metric, reason = asker.pick(rng.choice(AMOUNTS).names), rng.choice(("company", "year", "metric"))
    mention = asker.mention(company)
    if reason == "company":
        stems = {company.short.split()[0] for company in world.companies}
        nouns = {noun for each in world.companies for noun in each.profile["nouns"]}
        stem = company.short.split()[0] if rng.random() < 0.4 else invented_name(rng, stems)
        mention = f"{stem} {rng.choice(sorted(nouns))}"
        former = {each.former_name for each in world.companies}
        if any(mention == each.short for each in world.companies) or any(stem in name for name in former if name):
            return None
    elif reason == "year":
        # Filings print two earlier years and plan one ahead: these lie beyond both.
        year = rng.choice((world.first_year - 5, world.first_year - 4, world.last_year + 2, world.last_year + 3))
    else:
        metric = rng.choice(company.profile["absent"])
    question = asker.ask("unanswerable", company=mention, metric=metric, fy=asker.fiscal_year(year))
    absent = {"company": mention, "year": str(year), "metric": metric}[reason]
    return Asked(question, None, None, None, (), reason, absent)


def _dollars(world: World, company: Company, metric: Metric, year: int) -> int:
    return metric.pick(world.annual(company, year)) * company.multiplier


def _line_of(filing: PrintedFiling | None, metric: Metric) -> Shown | None:
    spot = metric.spot(filing) if filing else None
    return (filing, spot) if filing and spot else None


def _annual_lines(world: World, wanted: Iterable[tuple[Company, Metric, int]]) -> tuple[Shown, ...] | None:
    """The line of each company, metric and year in its 10-K; None if one is missing, blank or changed by a later
    filing."""
    lines = []
    for company, metric, year in wanted:
        line = _line_of(world.filing(company, "10-K", year), metric)
        if (
            line is None
            or not world.settled(company, year)
            or not reported(metric, company, world.annual(company, year))
        ):
            return None
        lines.append(line)
    return tuple(lines)


MAKERS: Mapping[str, Maker] = {
    "numeric_table": _numeric_table,
    "dividends_total": _dividends_total,
    "percent_difference": _percent_difference,
    "textual": _textual,
    "revenue_growth": _revenue_growth,
    "numeric_quarter": _numeric_quarter,
    "highest_of": _highest_of,
    "unanswerable": _unanswerable,
    "numeric_text": _numeric_text,
    "ratio": _ratio,
    "event": _event,
    "restated": _restated,
}
