"""Fictional companies: invented names (some confusingly alike), tickers, addresses, calendars and styles of
statements."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from typing import Any, Literal

from finray.lab.sample.calendars import OTHERS, RETAIL, Calendar
from finray.lab.sample.texts import load_text

Scale = Literal["dollars", "thousands", "millions"]
_MULTIPLIER: dict[Scale, int] = {"dollars": 1, "thousands": 1_000, "millions": 1_000_000}
FIRST_CIK = 9_000_001
"""Far above all CIKs of the SEC, so that no sample company can be confused with a real one."""

_ONSETS = (
    "Vel",
    "Bran",
    "Quor",
    "Tarn",
    "Ostr",
    "Fenn",
    "Kest",
    "Morv",
    "Zeph",
    "Dral",
    "Hax",
    "Wyn",
    "Corv",
    "Lum",
    "Grev",
    "Sild",
    "Aldr",
    "Pell",
    "Ruth",
    "Esk",
    "Jorv",
    "Thal",
    "Nym",
    "Bex",
    "Cald",
)
_CODAS = ("andor", "imoor", "avale", "ethorpe", "iwick", "umont", "eridge", "olme", "astead", "indale", "urra", "ique")
_STREET_NUMBERS = range(100, 9900, 25)


@dataclass(frozen=True, slots=True)
class Style:
    """How a company prints its statements, the same every year."""

    revenue: str
    cost: str
    capex: str
    income_title: str
    receivables: str
    newest_first: bool
    leaders: bool
    checkbox: tuple[str, str]
    upper_titles: bool


@dataclass(frozen=True, slots=True)
class Company:
    """One registrant. ``former_name`` was its name until ``renamed_on``. It restated the 10-K of ``restated_year`` in a
    10-K/A. ``recast_year`` is the first year under a changed cost classification."""

    name: str
    short: str
    ticker: str
    cik: str
    irs: str
    file_number: str
    industry: str
    state: str
    state_code: str
    city: str
    city_state: str
    city_code: str
    zip: str
    street: str
    phone: str
    exchange: str
    calendar: Calendar
    scale: Scale
    style: Style
    auditor: str
    bank: str
    ceo: str
    cfo: str
    pays_dividends: bool
    former_name: str | None
    renamed_on: dt.date | None
    restated_year: int | None
    recast_year: int | None

    @property
    def multiplier(self) -> int:
        """Dollars or shares in one unit of the company's scale."""
        return _MULTIPLIER[self.scale]

    @property
    def profile(self) -> dict[str, Any]:
        profile: dict[str, Any] = load_text("industries")[self.industry]
        return profile

    @property
    def slug(self) -> str:
        return self.short.lower().replace(" ", "-")

    @property
    def address(self) -> str:
        return f"{self.street}, {self.city}, {self.city_state} {self.zip}"

    def name_on(self, day: dt.date) -> str:
        """The registrant's name as of ``day``."""
        if self.former_name and self.renamed_on and day < self.renamed_on:
            return self.former_name
        return self.name


def make_companies(count: int, first_year: int, years: int, seed: int) -> tuple[Company, ...]:
    """``count`` companies that file for ``years`` fiscal years from ``first_year``. Every fourth resembles the previous
    one. The first ``n`` do not depend on ``count``."""
    made: list[Company] = []
    taken: set[str] = set()
    for number in range(count):
        rng = random.Random(f"{seed}:company:{number}")
        alike = made[-1] if number % 4 == 1 else None
        company = _make_company(rng, number, first_year, years, alike, taken)
        taken |= {company.short, company.ticker, company.name.split()[0]}
        made.append(company)
    return tuple(made)


def invented_name(rng: random.Random, taken: set[str]) -> str:
    """An invented first name for a company, not yet in ``taken``."""
    while True:
        stem = rng.choice(_ONSETS) + rng.choice(_CODAS)
        if stem not in taken:
            return stem


def person(rng: random.Random) -> str:
    people = load_text("people")
    return f"{rng.choice(people['first'])} {rng.choice('ABCDEFGHJKLMNPRSTW')}. {rng.choice(people['last'])}"


def _make_company(
    rng: random.Random, number: int, first_year: int, years: int, alike: Company | None, taken: set[str]
) -> Company:
    people, industries = load_text("people"), load_text("industries")
    stem = alike.short.split()[0] if alike else invented_name(rng, taken)
    pool = list(industries)
    if alike:
        pool.remove(alike.industry)
    industry = pool[(number + rng.randrange(2)) % len(pool)]
    nouns = [noun for noun in industries[industry]["nouns"] if f"{stem} {noun}" not in taken]
    short = f"{stem} {rng.choice(nouns)}"
    last_year = first_year + years - 1
    renamed = number % 6 == 3
    renamed_on = dt.date(rng.randint(first_year, last_year), rng.randint(2, 11), rng.randint(1, 28))
    place = rng.choice(people["cities"])
    charter = rng.choice(people["cities"] + [{"state": "Delaware", "code": "DE"}] * 15)
    scales: tuple[Scale, ...] = ("thousands", "millions", "thousands", "dollars", "millions")
    # With one year on file nothing later could restate or recast it.
    restates, recasts = years > 1 and number % 5 == 2, years > 1 and number % 5 == 4
    return Company(
        name=f"{short}, Inc." if number % 3 else f"{short} Corporation",
        short=short,
        ticker=_ticker(short, taken),
        cik=f"{FIRST_CIK + 7 * number:010d}",
        irs=f"{rng.randint(10, 98)}-{rng.randint(1_000_000, 9_999_999)}",
        file_number=f"001-{rng.randint(90_000, 99_999)}",
        industry=industry,
        state=charter["state"],
        state_code=charter["code"],
        city=place["city"],
        city_state=place["state"],
        city_code=place["code"],
        zip=place["zip"],
        street=f"{rng.choice(_STREET_NUMBERS)} {rng.choice(people['streets'])}",
        phone=f"({place['area']}) 555-{rng.randint(100, 199):04d}",
        exchange=rng.choice(("New York Stock Exchange", "The Nasdaq Stock Market LLC")),
        calendar=RETAIL if industry == "retail" else OTHERS[number % len(OTHERS)],
        scale=scales[number % 5],
        style=_make_style(rng, industries[industry]),
        auditor=rng.choice(people["auditors"]),
        bank=rng.choice(people["banks"]),
        ceo=person(rng),
        cfo=person(rng),
        pays_dividends=number % 4 != 3,
        former_name=f"{rng.choice(people['predecessors'])} {invented_name(rng, taken)} Company" if renamed else None,
        renamed_on=renamed_on if renamed else None,
        restated_year=rng.randint(first_year, last_year - 1) if restates else None,
        recast_year=rng.randint(first_year + 1, last_year) if recasts else None,
    )


def _make_style(rng: random.Random, profile: dict[str, Any]) -> Style:
    return Style(
        revenue=rng.choice(profile["revenue_labels"]),
        cost=profile["cost_label"],
        capex=rng.choice(
            (
                "Purchases of property, plant and equipment",
                "Capital expenditures",
                "Additions to property and equipment",
                "Payments for property, plant and equipment",
            )
        ),
        income_title=rng.choice(
            (
                "Consolidated Statements of Income",
                "Consolidated Statements of Operations",
                "Consolidated Statements of Earnings",
            )
        ),
        receivables=rng.choice(("Accounts receivable, net", "Trade receivables, net", "Receivables, net")),
        newest_first=rng.random() < 0.8,
        leaders=rng.random() < 0.2,
        checkbox=rng.choice((("þ", "¨"), ("[X]", "[ ]"), ("x", "o"))),
        upper_titles=rng.random() < 0.75,
    )


def _ticker(short: str, taken: set[str]) -> str:
    """Five letters from the name: real five-letter symbols of common stock are rare."""
    first, noun = short.split()[0], short.split()[1]
    consonants = [letter for letter in first.upper() if letter not in "AEIOU"]
    base = (first[0].upper() + "".join(consonants[1:4]) + noun[0].upper() + noun[-2].upper() + "XQ")[:5]
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        if base not in taken:
            break
        base = base[:4] + letter
    return base
