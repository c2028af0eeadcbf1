"""What a report's text tells of it where its cover does not: the page is a picture, or laid out as no other.

A report is signed by its registrant, heads its statements with its name, calls itself by its form ("this Annual Report
on Form 10-K"), and says over and over which period it covers.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from finray.filings.captions import plain
from finray.filings.dates import first_date
from finray.filings.facts import Facts
from finray.filings.fiscal_text import with_period
from finray.filings.names import aliases_of
from finray.filings.registrant import signing_registrant
from finray.filings.release import statement_heading

_STORY_PAGES = 40
_ALIAS_CHARACTERS = 60_000
_ITSELF = re.compile(
    r"\bthis\s{1,3}(?:(?:annual|quarterly|transition)\s{1,3}report\s{1,3}on\s{1,3})?form\s{1,3}(10-[KQ])\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(r"\b(?P<unit>years?|quarters?|months|weeks|periods?)\s{1,3}ended\b", re.IGNORECASE)
_UNITS = {"10-K": ("year", "week"), "10-Q": ("quarter", "month", "week", "period")}
"""Beginnings of the words for the length of a form's periods."""
_LEAST = 3
"""Times that a report says what form it is, or which period, before it is believed."""


def read_body(texts: Sequence[str], told: Facts) -> Facts:
    """Of company, form and period what ``told`` lacks and the text of the report surely tells."""
    whole = "\n".join(texts)
    story = "\n".join(texts[:_STORY_PAGES])
    form, found = told.form, Facts()
    if form is None:
        named = Counter(match[1].upper() for match in _ITSELF.finditer(whole)).most_common(1)
        form = named[0][0] if named and named[0][1] >= _LEAST else None
        found = replace(found, form=form)
    if told.company is None:
        company = body_company(texts)
        aliases = aliases_of(company, story[:_ALIAS_CHARACTERS]) if company else ()
        found = replace(found, company=company, aliases=aliases)
    units = ("",) if form is None else _UNITS.get(form.removesuffix("/A"))
    if told.period_end is None and units:
        found = with_period(found, form, _last_period(whole, units), story)
    return found


def body_company(texts: Sequence[str]) -> str | None:
    """Who signed the report, else whose name heads its statements."""
    signed = signing_registrant([plain(text) for text in texts if "(registrant)" in text.lower()])
    return signed or statement_heading("\n".join(texts))


def _last_period(text: str, units: Sequence[str]) -> dt.date | None:
    """The latest of the days that the report often says its periods end on."""
    ends: Counter[dt.date] = Counter()
    for match in _PERIOD.finditer(text):
        end = first_date(text, match.end(), match.end() + 40)
        if end is not None and match["unit"].lower().startswith(tuple(units)):
            ends[end] += 1
    return max((day for day, count in ends.items() if count >= _LEAST), default=None)
