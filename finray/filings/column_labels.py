"""Whether the heading of a column or row holds more than a period: "Three Months Ended June 30, 2024 | Americas"."""

from __future__ import annotations

import re

from finray.core.vocabulary import MONTH, NUMBER, ORDINAL, SCALE
from finray.filings.periods import read_heading

MAX_COLUMN_LABEL = 200

_PERIOD_WORD = re.compile(
    rf"\b(?:{MONTH}|ended|ending|end|months?|weeks?|years?|quarters?|quarterly|fiscal|fy|as|at|of|for|the|in|"
    rf"on|and|unaudited|audited|restated|{ORDINAL}|{NUMBER}|"
    rf"q[1-4]|{SCALE}s?|amounts?|dollars?|except|per share|data)\b|[\W\d_]+",
    re.IGNORECASE,
)


def column_label(heading: str) -> str | None:
    """``heading`` if it holds more than a period and a scale, else None."""
    return heading[:MAX_COLUMN_LABEL] if _PERIOD_WORD.sub("", heading) else None


def is_period(label: str) -> bool:
    """Whether ``label`` names a year and nothing else: "2024", "Fiscal year ended June 30, 2024:"."""
    return read_heading(label).year is not None and not _PERIOD_WORD.sub("", label)
