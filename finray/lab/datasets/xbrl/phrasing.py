"""Words questions as people do: their names for a company, a measure and a period.

The templates are in ``phrasings.json``. Most name only company, measure and period; some also name the statement or the
scale of the answer, as analysts do.
"""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

from finray.core.data_files import shipped_data
from finray.core.filing import Filing, Statement
from finray.filings.cover.names import brand, tidy_name

_NAMED_STATEMENT = 0.12
_NAMED_SCALE = 0.12
_KEPT_CAPITAL = 3
_SMALL = frozenset(("of", "and", "the", "for"))
_SINGULAR_ENDS = ("ss", "us", "is", "goods sold")
_HEAD = re.compile(
    r"(?<!\s)\s++(?:of|per|from|for|on|to|in|by|under|due|that|at|before|after|including|excluding)\b|,|\("
)


@cache
def load_phrasings() -> dict[str, Any]:
    found: dict[str, Any] = shipped_data(__package__, "phrasings.json")
    return found


class Asker:
    """Words questions about one filing's company, with its own random stream."""

    def __init__(self, filing: Filing, rng: random.Random) -> None:
        self.rng = rng
        self._full = cased(tidy_name(filing.company))
        self._short = brand(self._full)
        self._ticker = filing.ticker
        self._texts = load_phrasings()

    def company(self) -> str:
        """The short name (half of the time), the full name or the ticker."""
        draw = self.rng.random()
        if draw < 0.5:
            return self._short
        return self._ticker if draw > 0.8 and self._ticker else self._full

    def ask(self, kind: str, name: str, **words: str) -> str:
        """A question from a template of ``kind`` about ``name``."""
        return self.fill(self.rng.choice(self._texts[kind]), name, **words)

    def fill(self, template: str, name: str, **words: str) -> str:
        company = self.company()
        was = "were" if is_plural(name) else "was"
        return template.format_map(
            {"company": company, "company's": possessive(company), "name": name, "was": was, **words}
        )

    def hints(self, statement: Statement | None, in_dollars: bool) -> str:
        """Sometimes the statement with the answer or the scale of the answer; usually nothing."""
        draw = self.rng.random()
        if statement is not None and draw < _NAMED_STATEMENT:
            name = self.rng.choice(self._texts["statements"][statement])
            return str(self.rng.choice(self._texts["named_statement"]).format(statement=name))
        if in_dollars and draw > 1 - _NAMED_SCALE:
            return str(self.rng.choice(self._texts["named_scale"]))
        return ""


def cased(name: str) -> str:
    """A name in capitals as people write it: "ADOBE INC." is "Adobe Inc.". Short words may be initials and are kept."""
    if name != name.upper():
        return name
    words = [word.lower() if word.lower() in _SMALL else _word(word) for word in name.split()]
    return " ".join(words)


def _word(word: str) -> str:
    letters = word.strip(".,&")
    ends = ("INC", "CO", "LTD", "CORP")
    return word if len(letters) <= _KEPT_CAPITAL and letters not in ends else word.capitalize()


def possessive(name: str) -> str:
    bare = name.rstrip(".")
    return f"{bare}'" if bare.endswith(("s", "S")) else f"{bare}'s"


def is_plural(name: str) -> bool:
    """Whether the head noun is plural: yes for "total assets" and "proceeds from debt issued", no for "loss" and "cost
    of sales"."""
    head = _HEAD.split(name, maxsplit=1)[0]
    return head.endswith("s") and not head.endswith(_SINGULAR_ENDS)
