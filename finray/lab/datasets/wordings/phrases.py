"""Fills a pattern: a company, a period, a typing error."""

from __future__ import annotations

import random
import re
from collections.abc import Collection

from finray.core.filing import Filing
from finray.filings.cover.names import brand, tidy_name
from finray.lab.datasets.wordings.patterns import Wordings, exchanges
from finray.lab.datasets.xbrl.periods import Period
from finray.lab.datasets.xbrl.phrasing import cased, possessive

_ORDINALS = ("first", "second", "third", "fourth")
_MONTHS = {3: "three", 6: "six", 9: "nine", 12: "twelve"}
_BARE_TICKER = re.compile(r"\$?[A-Z.]{2,6}")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHORTEST_MISSPELLED = 6


def company_forms(filing: Filing, wordings: Wordings) -> tuple[str, ...]:
    """Names of the company in questions: short name, formal name, ticker with or without its exchange."""
    formal = cased(tidy_name(filing.company))
    short, ticker = brand(formal), filing.ticker
    if not ticker:
        return short, formal
    slots = {"company": short, "ticker": ticker, "exchange": exchanges().get(ticker, "")}
    known = [form for form in wordings.listed if slots["exchange"] or "{exchange}" not in form]
    listed = [form.format_map(slots) for form in known if len(ticker) > 1 or form != "{ticker}"]
    return (short, short, formal, *listed)


def owner(form: str) -> str | None:
    """The possessive of a company's name; None for a name with its ticker or exchange, which has none."""
    plain = _BARE_TICKER.fullmatch(form) or not re.search(r"[:($]|-listed|listed as|stock symbol", form)
    return possessive(form) if plain else None


def period_noun(period: Period, form: str, date: str) -> str:
    """``form`` of the wordings' periods, filled: "fiscal 2024", "the nine months ended 2024-06-30"."""
    end = period.end
    day = date.format(month=f"{end:%B}", mon=f"{end:%b}", day=end.day, m=end.month, cy=end.year)
    return form.format(
        y=period.fiscal_year,
        yy=f"{period.fiscal_year % 100:02}",
        q=period.quarter,
        ordinal=_ORDINALS[period.quarter - 1] if period.quarter else "",
        months=_MONTHS.get(period.months, ""),
        date=day,
    )


def when(period: Period, noun: str, rng: random.Random) -> str:
    """``noun`` with a preposition: "in fiscal 2024", "at June 30, 2024", "on the last day of FY24"."""
    if not period.kind.endswith("_end"):
        return f"{rng.choice(('in', 'in', 'for'))} {noun}"
    if "day" in noun:
        return f"on {noun}"
    return f"{rng.choice(('at', 'as of'))} {noun}"


def misspelled(text: str, rng: random.Random, taken: Collection[str] = ()) -> str:
    """``text`` with a typing error inside its longest word: two letters swapped, one dropped, doubled, or the next key.

    ``text`` itself if that word is short, or if the result is one of ``taken`` (names of other companies).
    """
    word = max(re.findall(r"[A-Za-z]+", text), key=len, default="")
    if len(word) < _SHORTEST_MISSPELLED:
        return text
    at = rng.randrange(1, len(word) - 2)
    edits = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + _beside(word[at]) + word[at + 1 :],
    )
    wrong = text.replace(word, rng.choice(edits), 1)
    return text if wrong.lower() in {name.lower() for name in taken} else wrong


def _beside(letter: str) -> str:
    """The key to the right of ``letter``, or to its left at the end of a row."""
    row = next(row for row in _KEYS if letter.lower() in row)
    at = row.index(letter.lower())
    return row[at + 1] if at + 1 < len(row) else row[at - 1]
