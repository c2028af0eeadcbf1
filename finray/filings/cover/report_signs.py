"""Tells whether pages without a readable cover are those of a company's report."""

from collections.abc import Sequence

from finray.core.filing import Statement
from finray.filings.pages.items import label_items
from finray.filings.tables.statements import MAIN_KINDS

_STATEMENT_SHARE = 0.01
"""Minimum share of pages with statements; a textbook prints a set of statements among many more pages."""
_WORDS = (
    "registrant", "securities exchange act", "securities and exchange commission", "annual report", "quarterly report",
    "current report", "form 10-k", "form 10-q", "form 8-k", "form 20-f", "form 6-k", "forward-looking statements",
    "per diluted share", "diluted earnings per share", "shareholders", "stockholders", "fiscal year",
)  # fmt: skip
_MIN_WORDS = 5
_WORDS_PER_PAGE = 0.5


def is_report(texts: Sequence[str], statements: Sequence[Statement | None]) -> bool:
    """Whether the pages print primary statements or the Items of an SEC form, or use the words of reports to investors.

    ``statements`` are the labels of the pages (``finray.filings.tables.statements``).
    """
    printed = [kind for kind in statements if kind is not None]
    if len(set(printed) & set(MAIN_KINDS)) >= 2 and len(printed) >= _STATEMENT_SHARE * len(texts):
        return True
    items = set(filter(None, label_items(texts)))
    if len(items) >= 2 or any("." in item for item in items):
        return True
    whole = "\n".join(texts).lower()
    counts = [whole.count(word) for word in _WORDS]
    return sum(count > 0 for count in counts) >= _MIN_WORDS and sum(counts) >= _WORDS_PER_PAGE * len(texts)
