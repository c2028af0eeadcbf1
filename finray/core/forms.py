"""The SEC forms that finray knows, one row each.

A form without a row is stored under the name that its header or cover gives and found by its text, but no question can
name it and no period is read for it. ``docs/extend.md`` adds one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EARNINGS_RELEASE = "EX-99.1"
"""Form of an earnings release: the exhibit number under which an 8-K furnishes it (Regulation S-K, Item 601)."""
ANNUAL_REPORT_TO_HOLDERS = "ARS"
"""Form of a glossy annual report to security holders (Rule 14a-3)."""


@dataclass(frozen=True, slots=True)
class Form:
    """What finray has to know of a form. Variants with a suffix ("10-KT", "10-K405", "10-K/A") share its row."""

    name: str
    title: str = ""
    """In words, as they stand beside the name in summaries of covers and titles of chunks."""
    asked: str = ""
    """Pattern of the words by which a question names the form; case is ignored."""
    asked_with: tuple[str, ...] = ()
    """Forms that the same words ask for as well."""
    on_cover: bool = True
    """Whether covers print the name ("FORM 10-K")."""
    heading: str = ""
    """Words of a cover that leave the name out ("annual report pursuant to")."""
    period: Literal["year", "quarter"] | None = None
    """The fiscal period that it reports on; None if it has none."""
    ended: tuple[str, ...] = ()
    """How the words begin that are followed by "ended" and date a report whose cover has no date ("year", "week")."""
    current: bool = False
    """Whether it reports an event: its date is the event's, and an exhibit holds the results that it announces."""
    foreign: bool = False
    """Whether foreign private issuers file it, who report in any currency."""


FORMS = (
    Form(
        "10-K",
        "annual report",
        asked=r"\b10-?\s?K\b|\bannual (?:report|filing)\b",
        heading="annual report pursuant to",
        period="year",
        ended=("year", "week"),
    ),
    Form("10-KT", "transition report", on_cover=False, period="year"),
    Form(
        "10-Q",
        "quarterly report",
        asked=r"\b10-?\s?Q\b|\bquarterly (?:report|filing)\b",
        heading="quarterly report pursuant to",
        period="quarter",
        ended=("quarter", "month", "week", "period"),
    ),
    Form(
        "8-K",
        "current report",
        asked=r"\b8-?\s?K\b|\bcurrent report\b",
        heading="date of earliest event",
        current=True,
    ),
    Form(
        EARNINGS_RELEASE,
        "earnings release",
        asked=r"\bearnings (?:release|report|announcement|call|press release)\b|\bpress release\b",
        asked_with=("8-K",),
        on_cover=False,
    ),
    Form(ANNUAL_REPORT_TO_HOLDERS, "annual report to shareholders", on_cover=False),
    Form("20-F", "annual report of a foreign private issuer", asked=r"\b20-?F\b", period="year", foreign=True),
    Form("40-F", "annual report of a Canadian issuer", period="year", foreign=True),
    Form("6-K", "report of a foreign private issuer", current=True, foreign=True),
    Form("11-K"),
    Form("DEF 14A", asked=r"\bproxy statement\b|\bDEF ?14A\b", on_cover=False),
)

TITLES = {form.name: form.title for form in FORMS if form.title}
# Beginnings of the names of forms, for ``str.startswith``.
ANNUAL = tuple(form.name for form in FORMS if form.period == "year")
QUARTERLY = tuple(form.name for form in FORMS if form.period == "quarter")
PERIODIC = (*ANNUAL, *QUARTERLY)
CURRENT = tuple(form.name for form in FORMS if form.current)
FOREIGN = tuple(form.name for form in FORMS if form.foreign)
