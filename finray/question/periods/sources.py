"""Which of a question's periods name the filing to read, if it also asks for other periods inside that filing.

"According to the 2017 annual report, what amortization is expected for 2021?" is answered by the report on 2017; 2021
heads a column there. So is "at the end of 2017, what was due in 2021?".
"""

from __future__ import annotations

import re
from collections.abc import Collection

from finray.core.period import Period
from finray.question.periods.named import period_spans
from finray.question.words import word_list

_FORM = (
    r"(?:10-?\s?[KQ]\b|20-?F\b|(?:annual|quarterly|interim)\s+(?:report|filing)s?\b|filing\b|"
    r"(?:earnings|results|press)\s+release\b)"
)
_NAMES_FORM = re.compile(_FORM, re.I)
_FORM_AFTER = re.compile(rf"^['’]?s?\W{{0,2}}(?:(?:annual|quarterly|full[- ]year|results?|earnings)\s+)?{_FORM}", re.I)
_FORM_BEFORE = re.compile(
    rf"{_FORM}\W{{0,3}}(?:(?:for|of|on|covering|from)\s+)?(?:the\s+|its\s+)?(?:(?:fiscal\s+)?(?:year|quarter|period)\s+)?"
    r"(?:that\s+)?(?:ended\s+|ending\s+)?$",
    re.I,
)
_AT = re.compile(
    r"\b(?:as\s+(?:of|at)|at|from|by|since|before|looking\s+out\s+from)\s+(?:the\s+|its\s+)?(?:fiscal\s+)?"
    r"(?:(?:end|close)\s+of\s+)?(?:the\s+|its\s+)?(?:(?:fiscal\s+)?year[\s-]end\s+)?(?:of\s+)?(?:fiscal\s+)?$",
    re.I,
)
_YEAR_END = re.compile(r"\b(?:end|close|year[\s-]end)\b", re.I)
_END_OF = re.compile(r"\b(?:(?:end|close)\s+of|year[\s-]end)\s+(?:the\s+|its\s+)?(?:fiscal\s+)?(?:years?\s+)?$", re.I)
_CLOSES = re.compile(r"^\s+(?:fiscal\s+)?year[\s-]end\b", re.I)
_CLAUSE = re.compile(r"(?<=[^\W\d])[,:;]\s+|(?<=\d)[,:;]\s+(?!\d{4}\b)")
_EXPECTED = re.compile(
    r"\b(?:(?:was|were|is|are|be|does|did|do|must|will|would|had|has|have|then)\s+)*(?:expect\w*|project\w*|foresee\w*|"
    r"forecast\w*|anticipat\w*|estimat\w*|schedul(?:es|ed|e)|commit(?:s|ted)|budget\w*|guid(?:e|es|ed)|face[sd]?|owe[sd]?|show|"
    r"(?:comes?|falls?|fell|falling|coming)\s+due|due|mature[sd]?)\b"
    r"(?:\s+(?:to\s+)?(?:be\s+)?(?:make|book|pay|paid|record|receive|repay|mature|recognize)\b)?(?:\s+to\b)?|"
    r"\b(?:taken\s+together|together|combined)\b",
    re.I,
)
_LEAST_CONTENT = 2
"""Fewest words that may name a row for a clause to stand alone."""
_COMMON = word_list("common")
_NEAR = 45
"""Characters beside a period that are searched for what it names."""


def source_periods(text: str, intents: Collection[str]) -> tuple[Period, ...]:
    """The periods by which ``text`` names its filing; empty if it asks for no others.

    They stand beside the name of a form; a date only before it, since a report may have been filed on a date after it.
    If the question is about what lies ahead, they may also be a day or the end of a year before the other periods.
    """
    spans = period_spans(text)
    named = [period for start, end, period in spans if _names_filing(text, start, end, period)]
    if not named and "ahead" in intents:
        closes = [period for start, end, period in spans if _is_close(text, start, end, period)]
        last = max((period.year for period in closes), default=None)
        if last is not None and any(period.year > last for _, _, period in spans):
            named = [period for period in closes if period.year == last]
    others = [period for _, _, period in spans if period not in named]
    return tuple(dict.fromkeys(named)) if others else ()


def asked_again(text: str, source: Collection[Period]) -> tuple[Period, ...]:
    """The periods of ``source`` that ``text`` also names apart from a form: figures of them are asked for too.

    "2018 annual report: how did sales change from 2017 to 2018?" asks for both years.
    """
    plain = [p for start, end, p in period_spans(text) if p in source and not _names_filing(text, start, end, p)]
    return tuple(dict.fromkeys(plain))


def without_source(text: str, source: Collection[Period], intents: Collection[str]) -> str:
    """``text`` reduced to what is asked of the filing that ``source`` names.

    "What rent did Acme expect to pay in 2024, going by its schedule at the end of 2021?" becomes "What rent in 2024".
    """
    if not source:
        return text
    shown = _EXPECTED.sub(" ", text) if "ahead" in intents else text
    clauses = [(clause, {period for _, _, period in period_spans(clause)}) for clause in _CLAUSE.split(shown)]
    asking = [clause for clause, periods in clauses if periods - set(source)]
    if len(_content(" ".join(asking))) >= _LEAST_CONTENT:
        return ", ".join(asking)
    return ", ".join(clause for clause, periods in clauses if not periods or periods - set(source) or len(clauses) < 3)


def _content(text: str) -> list[str]:
    """The words of ``text`` that may name a row."""
    return [word for word in re.findall(r"[a-z][a-z'’-]+", text.lower()) if word not in _COMMON]


def _names_filing(text: str, start: int, end: int, period: Period) -> bool:
    """Whether ``period``, which stands at ``text[start:end]``, tells which filing is meant: "2017 annual report"."""
    if period.date is None:
        return _beside_form(text, start, end)
    return _FORM_AFTER.search(text[end : end + _NEAR]) is not None


def _beside_form(text: str, start: int, end: int) -> bool:
    last = text.rfind(" ", start, end) + 1  # "2017 annual" before "report"
    return (
        _NAMES_FORM.search(text[start:end]) is not None
        or _FORM_AFTER.search(text[end : end + _NEAR]) is not None
        or _FORM_BEFORE.search(text[max(0, start - _NEAR) : start]) is not None
        or (last > start and _NAMES_FORM.match(text, last) is not None)
    )


def _is_close(text: str, start: int, end: int, period: Period) -> bool:
    """Whether the period stands for its last day."""
    before = _AT.search(text[max(0, start - _NEAR) : start])
    if period.date is not None:
        return before is not None and period.months is None
    if _CLOSES.search(text[end : end + _NEAR]) is not None or _END_OF.search(text[max(0, start - _NEAR) : start]):
        return True
    return before is not None and _YEAR_END.search(before.group()) is not None
