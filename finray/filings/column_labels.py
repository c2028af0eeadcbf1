"""What a column or a row says besides its period: "Three Months Ended June 30, 2024 | Americas" is "Americas"."""

from __future__ import annotations

import re

from finray.filings.periods import read_heading

MAX_COLUMN_LABEL = 200

_PERIOD_WORD = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|"
    r"jul|aug|sept?|oct|nov|dec|ended|ending|end|months?|weeks?|years?|quarters?|quarterly|fiscal|fy|as|at|of|for|the|in|"
    r"on|and|unaudited|audited|restated|first|second|third|fourth|three|six|nine|twelve|thirteen|twenty|fifty|thirty|"
    r"two|q[1-4]|thousands?|millions?|billions?|amounts?|dollars?|except|per share|data)\b|[\W\d_]+",
    re.IGNORECASE,
)


def column_label(heading: str) -> str | None:
    """``heading`` where it says more than a period and a scale, else None."""
    return heading[:MAX_COLUMN_LABEL] if _PERIOD_WORD.sub("", heading) else None


def is_period(label: str) -> bool:
    """Whether ``label`` names a year and nothing else: "2024", "Fiscal year ended June 30, 2024:"."""
    return read_heading(label).year is not None and not _PERIOD_WORD.sub("", label)
