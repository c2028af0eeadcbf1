"""Names the company and the period that an answer is of, in its text.

A figure without them is taken for what the reader had in mind: another year, or another company.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace

from finray.core.filing import Filing
from finray.core.predictions import Answer, CitedCell
from finray.index.reading.facts import FilingFacts
from finray.question.companies.company_groups import core_name

_YEAR_MONTHS = (12, 13)
_DAYS = 365.25


def with_subject(answer: Answer, facts: FilingFacts) -> Answer:
    """``answer`` with the company and the periods of its cells, or of the filings that it quotes, behind its text;
    those that the text names already are left out. Refusals are unchanged."""
    if answer.status != "answered":
        return answer
    places: list[tuple[str, CitedCell | None]] = [(cell.filing_id, cell) for cell in answer.operands]
    places = places or [(passage.filing_id, None) for passage in answer.evidence]
    companies = dict.fromkeys(facts.company_of(filing_id) for filing_id, _ in places)
    periods = dict.fromkeys(period_of(cell, facts.filing(filing_id)) for filing_id, cell in places)
    others = dict.fromkeys(cell.registrant for cell in answer.operands if cell.registrant is not None)
    unnamed = list(others) or [facts.company_name(key) for key in companies]
    said = [name for name in unnamed if not _says(answer.text, name)]
    if len(unnamed) > 1 and len(said) < len(unnamed):  # a comparison, which names whom it compares
        said = []
    when = [period for period in periods if period and not _dates(answer.text, period)]
    subject = ", ".join((*said, *_spanned(when)))
    return replace(answer, text=f"{answer.text} ({subject})") if subject else answer


def period_of(cell: CitedCell | None, filing: Filing) -> str:
    """The period of ``cell`` as people write it: "FY2022", "December 31, 2022", "3 months to June 30, 2023"; that of
    the ``filing`` if there is no cell or no date; "" if that is unknown too."""
    if cell is None or cell.period_end is None:
        if filing.fiscal_year is None:
            return ""
        part = filing.fiscal_period
        return f"FY{filing.fiscal_year}" if part in (None, "FY", "Q4") else f"{part} FY{filing.fiscal_year}"
    day = f"{cell.period_end:%B} {cell.period_end.day}, {cell.period_end.year}"
    if not cell.months:
        return day
    if cell.months in _YEAR_MONTHS:
        year = _fiscal_year(cell.period_end, filing)
        return f"year to {day}" if year is None else f"FY{year}"
    return f"{cell.months} months to {day}"


def _fiscal_year(end: dt.date, filing: Filing) -> int | None:
    """The fiscal year that ends on ``end``, as the company of ``filing`` counts its own; None if that does not say."""
    if filing.fiscal_year is None or filing.period_end is None or filing.fiscal_period not in ("FY", "Q4"):
        return None
    if filing.transition_months:
        return None
    return filing.fiscal_year - round((filing.period_end - end).days / _DAYS)


def _says(text: str, name: str) -> bool:
    words = core_name(name)
    return bool(words) and set(words) <= set(core_name(text))


def _dates(text: str, period: str) -> bool:
    """Whether ``text`` has the year of ``period``."""
    return period[-4:] in text


def _spanned(periods: Iterable[str]) -> tuple[str, ...]:
    """``periods``, or the first and the last of more than two."""
    listed = sorted(periods, key=lambda period: (period[-4:], period))
    return (f"{listed[0]} to {listed[-1]}",) if len(listed) > 2 else tuple(listed)
