"""Rows of a schedule of valuation and qualifying accounts (Regulation S-X, Rule 12-09; Schedule II of a 10-K).

Its rows are named after what the allowances are for ("Allowance for inventory losses", "Revenue based provisions").
Such a balance is not the inventory or the revenue, and often the only figure near these words in a 10-K whose
statements are in another document.
"""

import re
from collections.abc import Collection

from finray.core.filing import LineItem
from finray.question.synonyms import words_of

_TITLE = re.compile(r"\bvaluation (?:and|&) qualifying|\bqualifying accounts", re.IGNORECASE)
_ACCOUNT = re.compile(r"\b(?:allowances?|reserves?|provisions?|valuation|doubtful|accruals?)\b", re.IGNORECASE)
_MOVEMENT = re.compile(
    r"\b(?:beginning|end|opening|closing|charged|additions?|deductions?|write-?\s?offs?|recoveries|translation|currency"
    r"|other)\b",
    re.IGNORECASE,
)
_WORDS = frozenset(
    words_of(
        "allowance reserve provision valuation qualifying doubtful accrual write-off writeoffs charged deductions bad"
    )
)


def is_valuation_account(item: LineItem) -> bool:
    """Whether ``item`` is a figure of a schedule of valuation and qualifying accounts, or of a note's table that
    carries an allowance forward."""
    if item.statement is not None:
        return False
    if _TITLE.search(item.caption or ""):
        return True
    account = _ACCOUNT.search(item.section or "") or _ACCOUNT.search(item.label)
    return account is not None and _MOVEMENT.search(item.column_label or "") is not None


def asks_for_valuation(words: Collection[str]) -> bool:
    """Whether a question with these ``words`` may ask for an allowance."""
    return not _WORDS.isdisjoint(words)
