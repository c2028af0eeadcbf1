"""Reads the shares outstanding that the sentences of a cover count (Form 10-K, cover page: "the number of shares
outstanding of each of the registrant's classes of common stock")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from finray.core.filing import LineItem, Page
from finray.filings.dates import find_dates
from finray.filings.prose.line_items import FIRST_ROW

_COUNT: Final = r"(?P<count>\d{1,3}(?:,\d{3})+)"
_COUNTED: Final = re.compile(
    rf"(?<![$\d,.]){_COUNT} (?:shares|units|ADSs?)\b(?: of)?(?P<label>[^.;:\d]{{0,120}}?(?:\d{{1,2}}[^.;:\d]{{0,60}})?)"
    r"(?= ?,? ?(?:and )?(?<![\d,])\d{1,3},\d{3}|[.;:]|\boutstanding\b|\bissued\b|$)",
    re.I,
)
_OUTSTANDING: Final = re.compile(r"\boutstanding\b", re.I)
_AROUND: Final = 400
"""Characters around a count within which the cover says that it counts shares outstanding, and as of when."""


def shares_in_sentences(page: Page) -> Iterator[LineItem]:
    """Each number of shares outstanding that a sentence of a cover states, labeled with the class."""
    text = " ".join(page.text.split())
    for number, match in enumerate(_COUNTED.finditer(text), 1):
        around = text[max(0, match.start() - _AROUND) : match.end() + _AROUND]
        if not _OUTSTANDING.search(around):
            continue
        dates = [(abs(at + max(0, match.start() - _AROUND) - match.start()), day) for at, _, day in find_dates(around)]
        yield LineItem(
            page=page.page,
            statement=None,
            label=match["label"].strip(" ,") or "shares",
            value=float(match["count"].replace(",", "")),
            text=match["count"],
            unit="shares",
            scale=1,
            period_end=min(dates)[1] if dates else None,
            months=0,
            row=FIRST_ROW,
            column=number,
        )
