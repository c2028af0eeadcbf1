"""Wording: how questions name a company, year or quarter, and how answers print an amount."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from typing import Any

from finray.lab.sample.calendars import long_date
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Period
from finray.lab.sample.metrics import Metric
from finray.lab.sample.texts import load_text


class Asker:
    """Picks wordings with one random stream."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.texts: dict[str, Any] = load_text("phrasings")

    def pick(self, options: Sequence[str]) -> str:
        return self.rng.choice(options)

    def ask(self, kind: str, **words: object) -> str:
        return _possessive(self.pick(self.texts[kind]).format(**words))

    def ask_of(self, kind: str, name: str, **words: object) -> str:
        return _possessive(self.pick(self.texts[kind][name]).format(**words))

    def mention(self, company: Company) -> str:
        """Usually the short name, sometimes the full name, the ticker or the former name."""
        draw = self.rng.random()
        if draw < 0.6:
            return company.short
        if draw < 0.85:
            return company.name
        if draw < 0.93 or company.former_name is None:
            return company.ticker
        return company.former_name

    def fiscal_year(self, year: int) -> str:
        return self.pick(self.texts["fiscal_years"]).format(year=year)

    def quarter(self, year: int, quarter: int) -> str:
        name = ("first", "second", "third")[quarter - 1]
        return self.pick(
            (f"Q{quarter} FY{year}", f"the {name} quarter of fiscal {year}", f"Q{quarter} of fiscal year {year}")
        )

    def date(self, day: dt.date) -> str:
        return self.pick((long_date(day), day.isoformat()))


def _possessive(text: str) -> str:
    """The text with ``Stores's`` as ``Stores'``."""
    return text.replace("s's ", "s' ")


def in_millions(amount_in_dollars: int) -> str:
    """An amount such as ``$1,234.5 million``; whole millions without decimals, below one million in dollars."""
    if abs(amount_in_dollars) < 1_000_000:
        return f"${amount_in_dollars:,}"
    if amount_in_dollars % 1_000_000 == 0:
        return f"${amount_in_dollars // 1_000_000:,} million"
    return f"${amount_in_dollars / 1e6:,.1f} million"


def amount(metric: Metric, company: Company, period: Period) -> tuple[float, str, str]:
    """Value, unit and text of a metric."""
    if metric.per_share:
        value = metric.pick(period) / 100
        return value, "USD/share", f"${value:.2f}"
    value = metric.pick(period) * company.multiplier
    return value, "USD", in_millions(value)


def rounded(value: float) -> float:
    return round(value, 6)
