"""Looks up line items of companies over fiscal years, in every filing that prints them.

The figure as first reported is that of the periodic report on the year itself; if the index lacks it, of the first
later one with a column for that year. Later annual reports repeat the two years before theirs, quarterly reports the
last balance, and amendments all of it. These are the later versions, which show restatements.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from finray.core.errors import UsageError
from finray.core.filing import Filing, LineItem
from finray.core.forms import PERIODIC
from finray.core.tables import Table
from finray.facts.items import (
    Printed,
    WantedItem,
    declared_nil,
    find_printed,
    names_same_row,
    nearest_labels,
    same_row,
    wanted_item,
)
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
        tables = _Tables(reader, line_items)
        asked_years = list(years or _years(filings))
        lines = {item: _line(item, asked_years, filings, line_items) for item in wanted}
        for year in asked_years:
            for item in wanted:
                yield from _facts(company.name, item, lines[item][year], line_items, tables, every_filing=every_filing)


class _Tables:
    """The tables on those pages of filings that have line items, read when asked for."""

    def __init__(self, reader: IndexReader, line_items: Mapping[str, Sequence[LineItem]]) -> None:
        self._reader, self._line_items = reader, line_items
        self._read: dict[str, tuple[Table, ...]] = {}

    def of(self, filing: Filing) -> tuple[Table, ...]:
        name = filing.filing_id
        if name not in self._read:
            pages = {(name, item.page) for item in self._line_items.get(name, ()) if item.concept is not None}
            found = self._reader.tables_at(pages) if pages else {}
            self._read[name] = tuple({table.key: table for own in found.values() for table in own}.values())
        return self._read[name]


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


@dataclass(frozen=True, slots=True)
class _Year:
    """The ``versions`` of one item in fiscal ``year``, which ends on ``end``, in the filings that cover it.
    ``other_row``: their row may be another line than that of the other years."""

    year: int
    end: dt.date | None
    covering: Sequence[Filing]
    versions: Sequence[_Version]
    other_row: bool = False


def _line(
    item: WantedItem, years: Sequence[int], filings: Sequence[Filing], line_items: dict[str, tuple[LineItem, ...]]
) -> dict[int, _Year]:
    """``item`` in each of ``years``, from the row that prints it in most of them: "net income" is with noncontrolling
    interests in one report and without them in the next."""
    found = {year: _versions(item, year, filings, line_items) for year in years}
    rows: list[Printed] = []
    for each in reversed(found.values()):
        if each.versions and not any(names_same_row(each.versions[0].printed.cell, row.cell) for row in rows):
            rows.append(each.versions[0].printed)
    if len(rows) < 2 or item.metric is None:
        return found
    readings = [{year: _in_row(row, each, line_items) for year, each in found.items()} for row in rows]
    read = max(readings, key=lambda each: sum(bool(versions) for versions in each.values()))
    return {
        year: replace(each, versions=read[year])
        if read[year]
        else replace(
            each, other_row=bool(each.versions) and not _renamed(each.versions[0].printed, read, found, line_items)
        )
        for year, each in found.items()
    }


def _in_row(row: Printed, year: _Year, line_items: dict[str, tuple[LineItem, ...]]) -> list[_Version]:
    """What the filings print for ``year`` in rows named as ``row``."""
    if year.end is None:
        return []
    found = [
        _Version(filing, printed)
        for filing in year.covering
        if (printed := same_row(row, line_items.get(filing.filing_id, ()), year.end)) is not None
    ]
    return [each for each in found if _is_periodic(each.filing)] or found


def _renamed(
    own: Printed,
    read: Mapping[int, Sequence[_Version]],
    found: Mapping[int, _Year],
    line_items: dict[str, tuple[LineItem, ...]],
) -> bool:
    """Whether the row of ``own`` prints the figures of ``read`` in the years that filings print in both."""
    both = [
        same_figure(others[0].printed, versions[0].printed)
        for year, versions in read.items()
        if versions and (others := _in_row(own, found[year], line_items))
    ]
    return bool(both) and all(both)


def _versions(
    item: WantedItem, year: int, filings: Sequence[Filing], line_items: dict[str, tuple[LineItem, ...]]
) -> _Year:
    end = _year_end(year, filings)
    if end is None:
        return _Year(year, None, (), ())
    covering = _covering(end, filings)
    found: list[_Version] = []
    for filing in covering:
        own = line_items.get(filing.filing_id, ())
        again = same_row(found[0].printed, own, end) if found else None
        printed = again or find_printed(item, own, end)
        if printed is not None:
            found.append(_Version(filing, printed))
    return _Year(year, end, covering, [each for each in found if _is_periodic(each.filing)] or found)


def _facts(
    company: str,
    item: WantedItem,
    found: _Year,
    line_items: dict[str, tuple[LineItem, ...]],
    tables: _Tables,
    *,
    every_filing: bool,
) -> Iterator[Fact]:
    """The fact of one item in one year, then with ``every_filing`` its later versions."""
    year, end, covering, versions = found.year, found.end, found.covering, found.versions
    if end is None or not covering:
        yield Fact(company, item.asked, year, period_end=end, reason=f"the index has no filing on fiscal {year}")
        return
    if not versions:
        for filing in covering:
            row = declared_nil(item, tables.of(filing), end)
            if row is not None:
                why = f"nil: {row.label!r} is declared without a value in {filing.doc_name}, p. {row.page + 1}"
                yield Fact(company, item.asked, year, period_end=end, reason=why)
                return
        names = ", ".join(filing.doc_name for filing in covering[:3])
        near = nearest_labels(item, (each for filing in covering[:1] for each in line_items.get(filing.filing_id, ())))
        hint = f"; nearest rows: {'; '.join(near)}" if near else ""
        why = f"no row for it, or several that differ, in {names}{hint}"
        yield Fact(company, item.asked, year, period_end=end, reason=why)
        return
    first, *later = versions
    differ = [_restated(first.printed, each.printed) for each in later]
    fact = replace(_fact(company, item, year, first), other_row=found.other_row or None)
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
