"""Looks up line items of companies over fiscal years, in every filing that prints them.

The figure as first reported is that of the periodic report on the year itself; if the index lacks it, of the first
later one with a column for that year. Later annual reports repeat the two years before theirs, quarterly reports the
last balance, and amendments all of it. These are the later versions, which show restatements.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from finray.core.errors import UsageError
from finray.core.filing import Filing, LineItem
from finray.core.forms import PERIODIC
from finray.facts.items import Printed, WantedItem, find_printed, names_same_row, nearest_labels, same_row, wanted_item
from finray.facts.records import Fact
from finray.filings.dates import add_months
from finray.filings.tables.canonical import canonical_items
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import Company, CompanyCatalog

_REPEATED_YEARS = 5
"""Years before its own for which an annual report may have a column."""
_WANDER_DAYS = 7
"""By how many days the end of a fiscal year may move from year to year."""


@dataclass(frozen=True, slots=True)
class _Version:
    """A figure as one filing prints it."""

    filing: Filing
    printed: Printed


def look_up_facts(
    reader: IndexReader,
    companies: Sequence[str] = (),
    items: Sequence[str] = (),
    years: Sequence[int] = (),
    *,
    every_filing: bool = False,
    catalog: CompanyCatalog | None = None,
) -> Iterator[Fact]:
    """The ``items`` of ``companies`` in fiscal ``years``: by default all canonical items, all companies of the index,
    and the years that it has annual reports on.

    Yields a fact for each, or with ``every_filing`` one for each filing that prints it. A fact without a value says
    why. ``catalog`` has the companies of the index, if the caller has built it.
    """
    catalog = catalog or CompanyCatalog(reader.filings())
    wanted = [wanted_item(item) for item in items or canonical_items()]
    by_company: dict[str, list[Filing]] = defaultdict(list)
    for filing in reader.filings():
        by_company[catalog.company_of_filing[filing.filing_id]].append(filing)
    asked = companies or [each.name for each in catalog.companies.values() if each.names]
    for name in asked:
        try:
            company = find_company(catalog, name)
        except UsageError as error:
            yield from (Fact(name, item.asked, year, reason=str(error)) for year in years for item in wanted)
            continue
        filings = [filing for filing in by_company[company.key] if filing.period_end is not None]
        line_items = reader.line_items([filing.filing_id for filing in filings])
        for year in years or _years(filings):
            for item in wanted:
                yield from _facts(company.name, item, year, filings, line_items, every_filing=every_filing)


def find_company(catalog: CompanyCatalog, name: str) -> Company:
    """The company of the index that ``name`` (name, ticker or CIK) means. Raises UsageError if none or several do."""
    known = [each for each in catalog.companies.values() if name.casefold() in {n.casefold() for n in each.names}]
    if not known and name.strip().isdecimal():
        known = [each for each in catalog.companies.values() if each.key == f"cik{name.strip().lstrip('0')}"]
    for spelled in (name, name.title(), name.upper()):
        if not known:
            known = [catalog.companies[key] for key in catalog.mentions(spelled).known]
    if not known:
        raise UsageError(f"the index has no filing of {name!r}")
    if len(known) > 1:
        names = sorted(f"{each.name} ({each.key})" for each in known)
        raise UsageError(f"{name!r} may be {', '.join(names[:4])}; write the whole name, or the CIK")
    return known[0]


def _years(filings: Sequence[Filing]) -> list[int]:
    """The fiscal years with an annual report among ``filings``."""
    return sorted({filing.fiscal_year for filing in filings if filing.fiscal_year and filing.fiscal_period == "FY"})


def _facts(
    company: str,
    item: WantedItem,
    year: int,
    filings: Sequence[Filing],
    line_items: dict[str, tuple[LineItem, ...]],
    *,
    every_filing: bool,
) -> Iterator[Fact]:
    """The fact of one item in one year, then with ``every_filing`` its later versions."""
    end = _year_end(year, filings)
    covering = [] if end is None else _covering(end, filings)
    if end is None or not covering:
        yield Fact(company, item.asked, year, period_end=end, reason=f"the index has no filing on fiscal {year}")
        return
    found: list[_Version] = []
    for filing in covering:
        own = line_items.get(filing.filing_id, ())
        again = same_row(found[0].printed, own, end) if found else None
        printed = again or find_printed(item, own, end)
        if printed is not None:
            found.append(_Version(filing, printed))
    versions = [each for each in found if _is_periodic(each.filing)] or found
    if not versions:
        names = ", ".join(filing.doc_name for filing in covering[:3])
        near = nearest_labels(item, (each for filing in covering[:1] for each in line_items.get(filing.filing_id, ())))
        hint = f"; nearest rows: {'; '.join(near)}" if near else ""
        why = f"no row for it, or several that differ, in {names}{hint}"
        yield Fact(company, item.asked, year, period_end=end, reason=why)
        return
    first, *later = versions
    differ = [_restated(first.printed, each.printed) for each in later]
    fact = _fact(company, item, year, first)
    if later:
        latest = later[-1]
        fact = replace(
            fact,
            restated=any(differ) if set(differ) != {None} else None,
            latest_value=latest.printed.value,
            latest_label=latest.printed.cell.label,
            latest_doc_name=latest.filing.doc_name,
            latest_filing_id=latest.filing.filing_id,
            latest_page=latest.printed.cell.page,
        )
    yield fact
    if every_filing:
        for version, (each, other) in enumerate(zip(later, differ, strict=True), start=2):
            yield replace(_fact(company, item, year, each), version=version, restated=other)


def _fact(company: str, item: WantedItem, year: int, version: _Version) -> Fact:
    filing, cell = version.filing, version.printed.cell
    return Fact(
        company=company,
        item=item.asked,
        fiscal_year=year,
        value=version.printed.value,
        sign=version.printed.sign,
        unit=cell.unit,
        period_end=cell.period_end,
        months=cell.months,
        doc_name=filing.doc_name,
        filing_id=filing.filing_id,
        form=filing.form,
        is_amendment=filing.is_amendment,
        filed_at=filing.filed_at,
        page=cell.page,
        label=cell.label,
        text=cell.text,
        section=cell.section,
        column_label=cell.column_label,
        statement=cell.statement,
        concept=cell.concept,
        row=cell.row,
        column=cell.column,
        box=cell.box,
        ocr=cell.ocr,
    )


def _year_end(year: int, filings: Sequence[Filing]) -> dt.date | None:
    """The day on which fiscal ``year`` ended: by the report on it, else counted from that on the nearest year; None if
    there is no annual report or the year is out of range."""
    annual = [(filing, filing.fiscal_year) for filing in filings if filing.fiscal_period == "FY" and filing.fiscal_year]
    annual.sort(key=lambda pair: (abs(pair[1] - year), not _is_periodic(pair[0]), pair[0].is_amendment))
    if not annual:
        return None
    filing, own = annual[0]
    assert filing.period_end is not None
    end = add_months(filing.period_end, 12 * (year - own))
    return end if 1900 <= end.year <= 2200 else None


def _covering(end: dt.date, filings: Sequence[Filing]) -> list[Filing]:
    """The filings that may print figures of the year that ends on ``end``, in the order of their publication."""
    covering = [
        filing
        for filing in filings
        if filing.period_end is not None and -_WANDER_DAYS <= (filing.period_end - end).days <= 366 * _REPEATED_YEARS
    ]
    covering.sort(
        key=lambda filing: (filing.period_end, filing.is_amendment, filing.filed_at or dt.date.min, filing.filing_id)
    )
    return covering


def _is_periodic(filing: Filing) -> bool:
    return filing.form.startswith(PERIODIC)


def _restated(first: Printed, later: Printed) -> bool | None:
    """Whether ``later`` prints another figure than ``first``; None if its row also has another name: it may be another
    thing."""
    if same_figure(first, later):
        return False
    return True if names_same_row(first.cell, later.cell) else None


def same_figure(a: Printed, b: Printed) -> bool:
    """Whether two prints agree: exactly if both are rounded alike, else within half of the coarser one's last digit."""
    if a.cell.unit != b.cell.unit:
        return False
    steps = sorted((_step(a.cell), _step(b.cell)))
    tolerance = 0.0 if steps[0] == steps[1] else 0.5 * steps[1]
    return abs(a.value - b.value) <= tolerance + 1e-9 * max(abs(a.value), abs(b.value))


def _step(cell: LineItem) -> float:
    """The value of the last digit that ``cell`` prints."""
    fraction = re.search(r"\.(\d+)", cell.text)
    return cell.scale * 10.0 ** -len(fraction[1] if fraction else "")
