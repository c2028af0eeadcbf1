"""Which SEC form a question asks for or implies."""

from __future__ import annotations

import re
from collections.abc import Collection

from finray.core.period import Period
from finray.core.types import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE

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


def forms_asked(question: str) -> tuple[str, ...]:
    """Forms named in words, most specific first; ("10-K/A",) style if an amendment is asked for."""
    asked = dict.fromkeys(form for _, _, forms in form_spans(question) for form in forms)
    if _AMENDMENT.search(question):
        return tuple(f"{form}/A" for form in asked) or ("10-K/A", "10-Q/A", "8-K/A")
    return tuple(asked)


def form_spans(text: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """(start, end, forms) of each phrase that names forms, the most specific first."""
    return tuple((*match.span(), forms) for pattern, forms in _ASKED for match in pattern.finditer(text))


def forms_implied(intents: Collection[str], latest: Period | None) -> dict[str, float]:
    """How well each form suits a question of these intents about ``latest``, 0 to 1, when none is named."""
    fit = {"10-K": 1.0, "20-F": 1.0, ANNUAL_REPORT_TO_HOLDERS: 0.8, EARNINGS_RELEASE: 0.6, "10-Q": 0.55, "8-K": 0.2}
    if latest is not None and latest.part in ("Q1", "Q2", "Q3", "Q4"):
        fit |= {"10-Q": 1.0, EARNINGS_RELEASE: 0.85, "10-K": 0.4}
    dated = latest is not None and latest.date is not None
    if dated and "closing" in intents:
        fit |= {"10-Q": 1.0, EARNINGS_RELEASE: 0.7}
    elif dated:
        fit |= {"8-K": 1.0, EARNINGS_RELEASE: 0.7}
    if "adjusted" in intents:
        fit |= {EARNINGS_RELEASE: 1.0, "10-K": min(fit["10-K"], 0.65)}
    if dated and "dated_event" in intents:
        fit |= {"8-K": 1.0, "10-K": 0.5, "10-Q": 0.5}
    return fit
