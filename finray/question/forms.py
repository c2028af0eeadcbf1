"""Which SEC forms a question asks for or implies."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE, FORMS
from finray.core.period import Period

FormContext = Literal["plain", "quarter", "closing day", "day", "outlook", "event"]
"""What in a question makes a form more or less likely: a quarter, a day, figures that only releases print, an event;
"plain" if nothing does."""

_ASKED = tuple((re.compile(form.asked, re.I), (form.name, *form.asked_with)) for form in FORMS if form.asked)
_AMENDMENT = re.compile(r"\bamend(?:ed|ment)\b.{0,20}\b(?:10-?[KQ]|8-?K|report|filing)\b|\b(?:10-?[KQ]|8-?K)/A\b", re.I)


def forms_asked(question: str) -> tuple[str, ...]:
    """The forms that ``question`` names, the most specific first; as "10-K/A" if it asks for an amendment."""
    asked = dict.fromkeys(form for _, _, forms in form_spans(question) for form in forms)
    if _AMENDMENT.search(question):
        return tuple(f"{form}/A" for form in asked) or ("10-K/A", "10-Q/A", "8-K/A")
    return tuple(asked)


def form_spans(text: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """(start, end, forms) of each phrase that names forms, the most specific first."""
    return tuple((*match.span(), forms) for pattern, forms in _ASKED for match in pattern.finditer(text))


def forms_implied(intents: Collection[str], latest: Period | None) -> dict[str, FormContext]:
    """The forms that may answer a question that names none, each with what makes it more or less likely.

    ``intents`` are the question's, ``latest`` is its latest period.
    """
    contexts: dict[str, FormContext] = dict.fromkeys(
        ("10-K", "20-F", ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE, "10-Q", "8-K"), "plain"
    )
    dated = latest is not None and latest.date is not None
    if latest is not None and latest.part in ("Q1", "Q2", "Q3", "Q4"):
        contexts |= dict.fromkeys(("10-Q", EARNINGS_RELEASE, "10-K"), "quarter")
    if dated and "closing" in intents:
        contexts |= dict.fromkeys(("10-Q", EARNINGS_RELEASE), "closing day")
    elif dated:
        contexts |= dict.fromkeys(("8-K", EARNINGS_RELEASE), "day")
    if "adjusted" in intents:
        contexts[EARNINGS_RELEASE] = "outlook"
        if contexts["10-K"] == "plain":
            contexts["10-K"] = "outlook"
    if dated and "dated_event" in intents:
        contexts |= dict.fromkeys(("8-K", "10-K", "10-Q"), "event")
    return contexts
