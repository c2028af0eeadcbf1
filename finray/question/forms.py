"""Which SEC form a question asks for or implies."""

from __future__ import annotations

import re
from typing import Literal

from finray.core.period import Period
from finray.core.types import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE

FormContext = Literal["plain", "quarter", "closing day", "day", "outlook", "event"]
"""What in a question makes a form likely or unlikely: the quarter or day it names, figures that only a release prints,
an event; or nothing ("plain")."""

_ASKED = (
    (re.compile(r"\b10-?\s?K\b|\bannual (?:report|filing)\b", re.I), ("10-K",)),
    (re.compile(r"\b10-?\s?Q\b|\bquarterly (?:report|filing)\b", re.I), ("10-Q",)),
    (re.compile(r"\b8-?\s?K\b|\bcurrent report\b", re.I), ("8-K",)),
    (
        re.compile(r"\bearnings (?:release|report|announcement|call|press release)\b|\bpress release\b", re.I),
        (EARNINGS_RELEASE, "8-K"),
    ),
    (re.compile(r"\b20-?F\b", re.I), ("20-F",)),
    (re.compile(r"\bproxy statement\b|\bDEF ?14A\b", re.I), ("DEF 14A",)),
)
_AMENDMENT = re.compile(r"\bamend(?:ed|ment)\b.{0,20}\b(?:10-?[KQ]|8-?K|report|filing)\b|\b(?:10-?[KQ]|8-?K)/A\b", re.I)
_OUTLOOK = re.compile(
    r"\bguidance\b|\boutlook\b|\bnon[- ]?GAAP\b|\badjusted\b|\borganic\b|\bconstant[- ]currency\b|"
    r"\bexclud(?:e|es|ed|ing)\b.{0,40}\b(?:impacts?|effects?|currency|FX|items?|charges?|acquisitions?)\b|\bunderlying\b",
    re.I,
)
_OF_A_PERIOD = re.compile(
    r"\b(?:months?|quarter|weeks?|year)\s+(?:period\s+)?end(?:ed|ing)\b|\bas (?:of|at)\b|"
    r"\bat (?:the )?(?:end|close) of\b|"
    r"\bbalance\b",
    re.I,
)
"""A date that closes a period, where other dates are those of an event."""
_EVENT = re.compile(
    r"\b(?:annual (?:general )?meeting|AGM|shareholder (?:vote|proposal)|resign|appoint(?:ed|ment)|step(?:ped)? down|"
    r"entered into|credit agreement|supplemental indenture|dated)\b",
    re.I,
)


_AHEAD = re.compile(
    r"\b(?:guidance|outlook|forecasts?|projections?|expectations?)\b|"
    r"\b(?:expect(?:s|ed)?|anticipat(?:es?|ed)|project(?:s|ed)|plan(?:s|ned)?|forecast(?:s|ed)?|intend(?:s|ed)?)\s+"
    r"(?:to|for|that|its?|the|their)\b",
    re.I,
)


def looks_ahead(question: str) -> bool:
    """Whether the question is about what was expected of a period: that is printed before the period is over."""
    return _AHEAD.search(question) is not None


def forms_asked(question: str) -> tuple[str, ...]:
    """Forms named in words, most specific first; ("10-K/A",) style where an amendment is asked for."""
    asked = dict.fromkeys(form for pattern, forms in _ASKED if pattern.search(question) for form in forms)
    if _AMENDMENT.search(question):
        return tuple(f"{form}/A" for form in asked) or ("10-K/A", "10-Q/A", "8-K/A")
    return tuple(asked)


def forms_implied(question: str, latest: Period | None) -> dict[str, FormContext]:
    """The forms that may answer if none is named, each with what makes it likely or unlikely."""
    of: dict[str, FormContext] = dict.fromkeys(
        ("10-K", "20-F", ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE, "10-Q", "8-K"), "plain"
    )
    dated = latest is not None and latest.date is not None
    if latest is not None and latest.part in ("Q1", "Q2", "Q3", "Q4"):
        of |= dict.fromkeys(("10-Q", EARNINGS_RELEASE, "10-K"), "quarter")
    if dated and _OF_A_PERIOD.search(question):
        of |= dict.fromkeys(("10-Q", EARNINGS_RELEASE), "closing day")
    elif dated:
        of |= dict.fromkeys(("8-K", EARNINGS_RELEASE), "day")
    if _OUTLOOK.search(question):
        of[EARNINGS_RELEASE] = "outlook"
        if of["10-K"] == "plain":
            of["10-K"] = "outlook"
    if dated and _EVENT.search(question):
        of |= dict.fromkeys(("8-K", "10-K", "10-Q"), "event")
    return of
