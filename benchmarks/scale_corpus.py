"""A filings table of LOFin's size: 145,897 filings of 516 fictional companies over 24 years, cover facts only.

Names, calendars and renamings come from the sample generator, in batches, because its invented words suffice for about
300 companies. Forms follow those of large registrants: each year a 10-K, three 10-Qs, a few amendments, and otherwise
8-Ks. The first page of each filing is its cover in a few sentences, enough to exercise text search.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from finray.core.filing import Filing, FiscalPeriod
from finray.lab.sample.calendars import next_weekday
from finray.lab.sample.companies import Company, make_companies

FILINGS, COMPANIES, FIRST_YEAR, YEARS = 145_897, 516, 2001, 24
_BATCH = 230
_PREFIXES = ("", "Nor", "Sud", "Est")
_AMENDED_YEARLY, _AMENDED_QUARTERLY = 0.08, 0.01
_TOPICS = ("results of operations", "departure of a director", "a credit agreement", "a dividend", "an acquisition",
           "the annual meeting", "senior notes", "Regulation FD disclosure")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Corpus:
    """``owner`` maps filing ids to companies."""

    companies: tuple[Company, ...]
    filings: tuple[Filing, ...]
    owner: dict[str, Company]


def make_corpus(filings: int = FILINGS, companies: int = COMPANIES, seed: int = 0) -> Corpus:
    """``filings`` filings, determined by the arguments. Raises ValueError if they do not suffice for the periodic
    reports of every company and year, or if there are not enough names for ``companies``."""
    registrants = _companies(companies, seed)
    made: list[Filing] = []
    owner: dict[str, Company] = {}
    periodic = [(company, list(_periodic(company, seed))) for company in registrants]
    left = filings - sum(len(reports) for _, reports in periodic)
    if left < 0:
        raise ValueError(f"{filings} filings are too few for {companies} companies over {YEARS} years")
    for number, (company, reports) in enumerate(periodic):
        share = left // companies + (number < left % companies)
        for filing in (*reports, *_current(company, share, seed)):
            made.append(filing)
            owner[filing.filing_id] = company
    return Corpus(registrants, tuple(made), owner)


def cover_page(filing: Filing) -> str:
    topic = _TOPICS[int(filing.content_sha256[:4], 16) % len(_TOPICS)]
    day = filing.period_end or filing.filed_at
    return (
        f"UNITED STATES SECURITIES AND EXCHANGE COMMISSION. FORM {filing.form}. {filing.company}. Date of report or "
        f"period ended {day:%B %d, %Y}. Commission file number {filing.commission_file_number}. This report is about "
        f"{topic} of {filing.company}, trading symbol {filing.ticker}."
    )


def _companies(count: int, seed: int) -> tuple[Company, ...]:
    made: list[Company] = []
    for batch, prefix in enumerate(_PREFIXES):
        size = min(_BATCH, count - len(made))
        made += [_renamed(company, prefix, batch) for company in make_companies(size, FIRST_YEAR, YEARS, seed + batch)]
    if len(made) < count:
        raise ValueError(f"{count} companies: at most {_BATCH * len(_PREFIXES)} can be named")
    return tuple(made)


def _renamed(company: Company, prefix: str, batch: int) -> Company:
    """The company with names, ticker and numbers that no other batch uses."""
    if not prefix:
        return company

    def other(name: str) -> str:
        return prefix + name[0].lower() + name[1:]

    former = company.former_name and " ".join(
        other(word) if word == company.former_name.split()[1] else word for word in company.former_name.split()
    )
    return replace(
        company,
        name=other(company.name),
        short=other(company.short),
        ticker=f"{company.ticker[:4]}{batch}{company.ticker[4:]}"[:6].translate(str.maketrans("123", "JVW")),
        cik=f"{int(company.cik) + 10_000 * batch:010d}",
        file_number=f"{batch:03d}-{company.file_number.split('-')[1]}",
        former_name=former,
    )


def _periodic(company: Company, seed: int) -> Iterator[Filing]:
    rng = random.Random(f"{seed}:scale:{company.cik}")
    quarters: tuple[FiscalPeriod, ...] = ("Q1", "Q2", "Q3", "FY")
    for year in range(FIRST_YEAR, FIRST_YEAR + YEARS):
        for number, part in enumerate(quarters, start=1):
            end = company.calendar.quarter_end(year, number)
            annual = part == "FY"
            form, days = ("10-K", rng.randint(50, 75)) if annual else ("10-Q", rng.randint(28, 44))
            filed = next_weekday(end + dt.timedelta(days=days))
            yield _filing(company, form, filed, end, year, part)
            if rng.random() < (_AMENDED_YEARLY if annual else _AMENDED_QUARTERLY):
                later = next_weekday(filed + dt.timedelta(days=rng.randint(20, 90)))
                yield replace(
                    _filing(company, f"{form}/A", later, end, year, part), is_amendment=True, amends=f"{form} {end}"
                )


def _current(company: Company, count: int, seed: int) -> Iterator[Filing]:
    rng = random.Random(f"{seed}:current:{company.cik}")
    first = dt.date(FIRST_YEAR, 1, 1)
    days = sorted(rng.sample(range(365 * YEARS), count))
    for day in days:
        event = first + dt.timedelta(days=day)
        yield _filing(company, "8-K", next_weekday(event + dt.timedelta(days=rng.randint(0, 4))), event, None, None)


def _filing(
    company: Company, form: str, filed: dt.date, end: dt.date, year: int | None, part: FiscalPeriod | None
) -> Filing:
    digest = hashlib.sha256(f"{company.cik}:{form}:{filed}:{end}".encode()).hexdigest()
    accession = f"{company.cik}-{filed:%y}-{int(digest[:8], 16) % 1_000_000:06d}"
    name = company.name_on(filed)
    close = company.calendar.year_end(year) if year is not None else None
    return Filing(
        filing_id=f"{accession}{digest[:4]}",  # the suffix avoids duplicates
        doc_name=f"{company.slug}-{form.lower().replace('/', '')}-{end}",
        source_uri=f"s3://scale-raw/{company.cik}/{accession}.txt",
        content_sha256=digest,
        company=name,
        form=form,
        cik=company.cik,
        ticker=company.ticker,
        commission_file_number=company.file_number,
        filed_at=filed,
        period_end=end,
        fiscal_year=year,
        fiscal_period=part,
        fiscal_year_end=f"{close:%m-%d}" if close else None,
        aliases=(company.short,) if name == company.name else (),
        provenance=dict.fromkeys(("company", "form", "cik", "period_end", "filed_at"), "sgml"),
    )


@dataclass(frozen=True, slots=True)
class ScaleQuestion:
    """``gold`` is the filing that a person would open; ``kind`` is the form, or "no company"."""

    kind: str
    text: str
    gold: str | None


_ORDINALS = {"Q1": "first", "Q2": "second", "Q3": "third"}
_ANNUAL = ("What was {name}'s total revenue in fiscal year {year}?",
           "How much net income did {name} report in FY{year}?",
           "According to the {year} 10-K of {name}, what were total assets?")  # fmt: skip
_QUARTERLY = ("What was {name}'s net income in {quarter} FY{year}?",
              "How much revenue did {name} have in the {ordinal} quarter of fiscal {year}?",
              "What does the 10-Q of {name} for {quarter} of fiscal year {year} say about inventories?")  # fmt: skip
_CURRENT = (
    "What did {name} announce in the 8-K dated {day}?",
    "According to its 8-K of {day}, what did {name} agree to?",
)
NO_COMPANY = ("Which companies signed a credit agreement in fiscal year {year}?",
              "Which company lost a director in {year}?")  # fmt: skip


def make_questions(corpus: Corpus, count: int, seed: int = 0) -> tuple[ScaleQuestion, ...]:
    """``count`` questions about as many filings, a third each on 10-Ks, 10-Qs and 8-Ks. They name companies by short
    name, full name, ticker or former name, as in the sample."""
    rng = random.Random(f"{seed}:questions")
    by_form: dict[str, list[Filing]] = {"10-K": [], "10-Q": [], "8-K": []}
    for filing in corpus.filings:
        if filing.form in by_form:
            by_form[filing.form].append(filing)
    asked = []
    for number in range(count):
        form = ("10-K", "10-Q", "8-K")[number % 3]
        filing = rng.choice(by_form[form])
        asked.append(ScaleQuestion(form, _text(filing, corpus.owner[filing.filing_id], rng), filing.filing_id))
    return tuple(asked)


def _text(filing: Filing, company: Company, rng: random.Random) -> str:
    name = _mention(company, rng)
    assert filing.period_end is not None
    if filing.form == "10-K":
        return rng.choice(_ANNUAL).format(name=name, year=filing.fiscal_year)
    if filing.form == "10-Q":
        part = str(filing.fiscal_period)
        return rng.choice(_QUARTERLY).format(name=name, quarter=part, ordinal=_ORDINALS[part], year=filing.fiscal_year)
    day = filing.period_end
    return rng.choice(_CURRENT).format(name=name, day=f"{day:%B} {day.day}, {day.year}")


def _mention(company: Company, rng: random.Random) -> str:
    names: Sequence[str] = (company.short, company.name, company.ticker, company.former_name or company.short)
    return rng.choices(names, (60, 25, 8, 7))[0]
