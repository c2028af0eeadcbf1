"""A filing's cover as one sentence, which dense document retrieval compares with the question."""

from __future__ import annotations

from finray.core.types import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE, UNIDENTIFIED, Filing

_HEAD_CHARACTERS = 300

_FORM_NAMES = {
    "10-K": "annual report",
    "10-KT": "transition report",
    "10-Q": "quarterly report",
    "8-K": "current report",
    "20-F": "annual report of a foreign private issuer",
    "40-F": "annual report of a Canadian issuer",
    "6-K": "report of a foreign private issuer",
    EARNINGS_RELEASE: "earnings release",
    ANNUAL_REPORT_TO_HOLDERS: "annual report to shareholders",
}


def cover_summary(filing: Filing, text: str = "") -> str:
    """The known cover facts as text, in the words of a question. If the company is unknown, the first words of ``text``
    replace its name."""
    name = filing.company if filing.company != UNIDENTIFIED else " ".join(text[:_HEAD_CHARACTERS].split())
    names = ", ".join(dict.fromkeys((name, *filing.aliases)))
    ticker = f" ({filing.ticker})" if filing.ticker else ""
    form = filing.form.removesuffix("/A")
    kind = _FORM_NAMES.get(form)
    what = f"form {form}, {kind}" if kind else f"form {form}"
    if filing.is_amendment:
        what = f"amendment of {what}"
    parts = [f"{names}{ticker}: {what}"]
    if filing.fiscal_year is not None:
        quarter = filing.fiscal_period if filing.fiscal_period not in (None, "FY") else None
        parts.append(f"{f'{quarter} of ' if quarter else ''}fiscal year {filing.fiscal_year}")
    if filing.period_end is not None:
        parts.append(f"period ended {filing.period_end:%B} {filing.period_end.day}, {filing.period_end.year}")
    if filing.filed_at is not None:
        parts.append(f"filed {filing.filed_at:%B} {filing.filed_at.day}, {filing.filed_at.year}")
    return ", ".join(parts) + "."
