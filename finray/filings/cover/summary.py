"""Cover facts as text: a sentence that dense document retrieval compares with the question, and a title for chunks."""

import re

from finray.core.filing import PLAIN_DOCUMENT, UNIDENTIFIED, Filing
from finray.core.forms import TITLES

_HEAD_CHARACTERS = 300
_WORDS = re.compile(r"[^\W_]+")


def cover_summary(filing: Filing, text: str = "") -> str:
    """The known cover facts as text, in the words of a question. If the company is unknown, the first words of ``text``
    replace its name. For a document that is not a filing, its name and first words."""
    if filing.form == PLAIN_DOCUMENT:
        return f"{' '.join(_WORDS.findall(filing.doc_name))}: {' '.join(text[:_HEAD_CHARACTERS].split())}"
    name = filing.company if filing.company != UNIDENTIFIED else " ".join(text[:_HEAD_CHARACTERS].split())
    names = ", ".join(dict.fromkeys((name, *filing.aliases)))
    ticker = f" ({filing.ticker})" if filing.ticker else ""
    form = filing.form.removesuffix("/A")
    kind = TITLES.get(form)
    what = f"form {form}, {kind}" if kind else f"form {form}"
    if filing.is_amendment:
        what = f"amendment of {what}"
    parts = [f"{names}{ticker}: {what}", *_period(filing)]
    if filing.filed_at is not None:
        parts.append(f"filed {filing.filed_at:%B} {filing.filed_at.day}, {filing.filed_at.year}")
    return ", ".join(parts) + "."


def filing_title(filing: Filing) -> str:
    """Company, form and period before a chunk of the filing, on a line of its own; unknown ones are left out.

    "Acme Inc, form 10-K, annual report, fiscal year 2022, period ended December 31, 2022."
    """
    known = filing.company if filing.company != UNIDENTIFIED else ""
    form = filing.form if filing.form != UNIDENTIFIED else ""
    kind = TITLES.get(filing.form.removesuffix("/A"), "")
    parts = [known, form and f"form {form}", kind, *_period(filing)]
    return title + ".\n" if (title := ", ".join(filter(None, parts))) else ""


def _period(filing: Filing) -> list[str]:
    parts = []
    if filing.fiscal_year is not None:
        quarter = f"{filing.fiscal_period} of " if filing.fiscal_period not in (None, "FY") else ""
        parts.append(f"{quarter}fiscal year {filing.fiscal_year}")
    if filing.period_end is not None:
        parts.append(f"period ended {filing.period_end:%B} {filing.period_end.day}, {filing.period_end.year}")
    return parts
