"""Company, form and period from the text of a report whose cover cannot be read.

A report is signed by its registrant, prints the registrant's name above its statements, refers to itself by its form
("this Annual Report on Form 10-K") and often repeats the period that it covers.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from finray.core.forms import FORMS
from finray.filings.cover.facts import Facts
from finray.filings.cover.fiscal_text import with_period
from finray.filings.cover.names import aliases_of
from finray.filings.cover.registrant import signing_registrant
from finray.filings.cover.release import statement_heading
from finray.filings.dates import first_date
from finray.filings.phrases import phrase
from finray.filings.tables.captions import plain

_TEXT_PAGES = 40
_ALIAS_CHARACTERS = 60_000
_UNITS = {form.name: form.ended for form in FORMS if form.ended}
_ITSELF = phrase(rf"\bthis (?:(?:annual|quarterly|transition) report on )?form ({'|'.join(_UNITS)})\b")
_PERIOD = phrase(r"\b(?P<unit>years?|quarters?|months|weeks|periods?) ended\b")
_MIN_MENTIONS = 3
"""A form or a period end counts only if the report mentions it this often."""


def read_body(texts: Sequence[str], known: Facts) -> Facts:
    """Company, form and period, each only if ``known`` lacks it and the text states it clearly."""
    whole = "\n".join(texts)
    beginning = "\n".join(texts[:_TEXT_PAGES])
    form, found = known.form, Facts()
    if form is None:
        named = Counter(match[1].upper() for match in _ITSELF.finditer(whole)).most_common(1)
        form = named[0][0] if named and named[0][1] >= _MIN_MENTIONS else None
        found = replace(found, form=form)
    if known.company is None:
        company = body_company(texts)
        aliases = aliases_of(company, beginning[:_ALIAS_CHARACTERS]) if company else ()
        found = replace(found, company=company, aliases=aliases)
    units = ("",) if form is None else _UNITS.get(form.removesuffix("/A"))
    if known.period_end is None and units:
        found = with_period(found, form, _last_period(whole, units), beginning)
    return found


def body_company(texts: Sequence[str]) -> str | None:
    """The company that signed the report, else the one named above its statements."""
    signed = signing_registrant([plain(text) for text in texts if "(registrant)" in text.lower()])
    return signed or statement_heading("\n".join(texts))


def _last_period(text: str, units: Sequence[str]) -> dt.date | None:
    """The latest period end that the report mentions often enough."""
    ends: Counter[dt.date] = Counter()
    for match in _PERIOD.finditer(text):
        end = first_date(text, match.end(), match.end() + 40)
        if end is not None and match["unit"].lower().startswith(tuple(units)):
            ends[end] += 1
    return max((day for day, count in ends.items() if count >= _MIN_MENTIONS), default=None)
