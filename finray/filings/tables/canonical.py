"""Finds the row of a filing's statements that prints a canonical line item: "capex", "net PP&E", "revenue".

The vocabulary is data (canonical.toml): general US-GAAP wording, XBRL concepts and the words of questions.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import Literal, cast

from finray.core.data_files import shipped_data
from finray.core.filing import Filing, LineItem, Statement
from finray.core.ocr_marks import is_doubted
from finray.filings.dates import add_months

Flow = Literal["", "out", "tax"]
Row = tuple[LineItem, ...]
"""The line items of one row of a table."""

DATE_TOLERANCE_DAYS = 10
"""52- and 53-week years end within days of the month end that people name."""
_NOTE = re.compile(
    r" ?\((?:see )?(?:notes?|footnotes?)\b[^)]*\)| ?,? ?(?:see )?\bnotes? \d[\d, and]*$|"
    r" ?\((?:\d{1,2}|[a-z]|\d{1,2}[a-z])\)(?= |$)|[*†‡§]+|(?<=[a-z])\d{1,2}$| ?\((?:un)?audited\)|"
    r" ?\((?:in |dollars in |amounts in )[^)]*\)"
)
"""Expects text with single spaces."""


@dataclass(frozen=True, slots=True)
class CanonicalItem:
    """An entry of canonical.toml, where the fields are explained.

    ``labels`` and ``concepts`` are in order of preference; ``any_label`` is one of the labels. With ``flow`` "out"
    (paid, spent or deducted) the printed sign has no meaning.
    """

    key: str
    statement: Statement
    labels: tuple[re.Pattern[str], ...]
    any_label: re.Pattern[str]
    exclude: re.Pattern[str] | None
    section: re.Pattern[str] | None
    concepts: tuple[str, ...]
    names: tuple[str, ...]
    unit: str
    flow: Flow
    last: bool
    parts: re.Pattern[str] | None
    sum_of: tuple[str, ...] = ()


@cache
def canonical_items() -> dict[str, CanonicalItem]:
    """All canonical line items by key."""
    return {
        key: CanonicalItem(
            key=key,
            statement=cast(Statement, entry["statement"]),
            labels=tuple(re.compile(label) for label in entry["labels"]),
            any_label=re.compile("|".join(f"(?:{label})" for label in entry["labels"])),
            exclude=re.compile(entry["exclude"]) if "exclude" in entry else None,
            section=re.compile(entry["section"]) if "section" in entry else None,
            concepts=tuple(entry.get("concepts", ())),
            names=tuple(entry["names"]),
            unit=entry.get("unit", "USD"),
            flow=cast(Flow, entry.get("flow", "")),
            last=entry.get("position") == "last",
            parts=re.compile(entry["parts"]) if "parts" in entry else None,
            sum_of=tuple(entry.get("sum_of", ())),
        )
        for key, entry in shipped_data("finray.filings.tables", "canonical.toml").items()
    }


def find_line_item(
    metric: str,
    items: Sequence[LineItem],
    *,
    period_end: dt.date | None = None,
    fiscal_year: int | None = None,
    filing: Filing | None = None,
    months: int | None = None,
    called: str = "",
) -> LineItem | None:
    """The cell of ``items`` that prints ``metric`` for a period, None if no row or no column fits.

    ``items`` are one filing's; those outside the statements (notes, other tables) are ignored. The period is
    ``period_end`` (within days), or ``fiscal_year`` as ``filing`` counts its years; without either, the latest
    column. ``months`` is the length of a flow: by default 12, or the shortest if the row has no 12-month column.
    ``called`` is the metric in the words of a question. A row labeled with these words is preferred: a statement may
    print "Net sales" and, with membership fees, "Total revenues".
    Raises KeyError for an unknown metric.
    """
    wanted = canonical_items()[metric]
    if period_end is None and fiscal_year is not None:
        period_end = _fiscal_year_end(fiscal_year, filing)
        if period_end is None:
            return None
    items = [item for item in items if item.statement is not None]
    if wanted.sum_of:
        return _summed(wanted.sum_of, items, period_end, months)
    for row in _rows_in_order(wanted, items, plain_label(called)):
        cell = _cell(wanted, row, period_end, months)
        if cell is not None:
            return cell
    parts = [cell for row in _parts(wanted, items) if (cell := _cell(wanted, row, period_end, months)) is not None]
    return _total(parts) if len(parts) > 1 else None


def names_row(metric: str, item: LineItem) -> bool:
    """Whether the row of ``item`` has a label of ``metric`` and is below the heading that the metric requires, if any.

    Raises KeyError for an unknown metric.
    """
    wanted = canonical_items()[metric]
    in_place = wanted.section is None or bool(item.section and wanted.section.search(item.section.lower()))
    return in_place and _label_rank(wanted, plain_label(item.label)) is not None


def names_row_label(label: str) -> bool:
    """Whether a row with this ``label`` may print some canonical line item."""
    plain = plain_label(label)
    return any(_label_rank(item, plain) is not None for item in canonical_items().values())


def amount(metric: str, item: LineItem, items: Sequence[LineItem] = ()) -> float:
    """The value with the sign that formulas expect: amounts paid or spent are positive, however they are printed.

    Income tax is positive for an expense. Its printed sign is ambiguous; pretax and net income in ``items`` decide.
    Raises KeyError for an unknown metric.
    """
    flow = canonical_items()[metric].flow
    if flow == "out":
        return abs(item.value)
    if flow == "tax" and item.period_end is not None:
        pretax = find_line_item("pretax_income", items, period_end=item.period_end, months=item.months)
        net = find_line_item("net_income", items, period_end=item.period_end, months=item.months)
        if pretax is not None and net is not None:
            as_printed = abs(pretax.value - item.value - net.value)
            return item.value if as_printed <= abs(pretax.value + item.value - net.value) else -item.value
    return item.value


def _fiscal_year_end(year: int, filing: Filing | None) -> dt.date | None:
    if filing is None or filing.period_end is None or filing.fiscal_year is None:
        return None
    end = add_months(filing.period_end, 12 * (year - filing.fiscal_year))
    return end if 1900 <= end.year <= 2200 else None


def _rows_in_order(wanted: CanonicalItem, items: Sequence[LineItem], called: str) -> list[Row]:
    """Rows that may print the metric, best first."""
    has_statement = any(item.statement == wanted.statement for item in items)
    ranked = []
    for order, row in enumerate(_by_row(items)):
        rank = _rank(wanted, row, has_statement)
        if rank is not None:
            other_words = " " not in called or _singular(plain_label(row[0].label)) != _singular(called)
            ranked.append((other_words, *rank, -order if wanted.last else order, row))
    ranked.sort(key=lambda entry: entry[:-1])
    return [entry[-1] for entry in ranked]


def _singular(words: str) -> str:
    """``words`` without the endings of plurals: "total revenues" is "total revenue"."""
    return " ".join(word.removesuffix("s") for word in words.split())


def _parts(wanted: CanonicalItem, items: Sequence[LineItem]) -> list[Row]:
    """Rows below a heading that names the metric ("Inventories:"), for statements that do not print its total."""
    if wanted.parts is None:
        return []
    return _by_row(
        item
        for item in items
        if item.statement == wanted.statement
        and item.section
        and _label_rank(wanted, plain_label(item.section)) is not None
        and wanted.parts.fullmatch(plain_label(item.label))
    )


def _by_row(items: Iterable[LineItem]) -> list[Row]:
    rows: dict[tuple[int, int], list[LineItem]] = {}
    for item in items:
        rows.setdefault((item.page, item.row), []).append(item)
    return [tuple(row) for row in rows.values()]


def _summed(
    keys: Iterable[str], items: Sequence[LineItem], period_end: dt.date | None, months: int | None
) -> LineItem | None:
    """The sum of the rows of the items ``keys`` that the statement prints: one row may be that of several."""
    found = (find_line_item(key, items, period_end=period_end, months=months) for key in keys)
    rows = {(cell.page, cell.row): cell for cell in found if cell is not None}
    cells = list(rows.values())
    return _total(cells, " + ".join(cell.label for cell in cells)) if len(cells) > 1 else next(iter(cells), None)


def _total(parts: Sequence[LineItem], label: str = "") -> LineItem:
    """The sum of ``parts`` with the ``label``, by default the heading over them."""
    return replace(
        parts[0],
        label=label or parts[0].section or parts[0].label,
        value=sum(part.value for part in parts),
        text=" + ".join(part.text for part in parts),
        box=None,
        concept=None,
        ocr=next((part.ocr for part in parts if is_doubted(part.ocr)), parts[0].ocr),
    )


def _rank(wanted: CanonicalItem, row: Sequence[LineItem], has_statement: bool) -> tuple[int, int, int, int] | None:
    """(other statement, XBRL concept, label pattern, section), smaller is better; None for a row of another metric."""
    first = row[0]
    if first.statement != wanted.statement and has_statement:
        return None
    if all(not _unit_fits(wanted, item) for item in row):
        return None
    concept, label = _concept_rank(wanted, row), plain_label(first.label)
    pattern = _label_rank(wanted, label)
    in_section = bool(wanted.section and first.section and wanted.section.search(first.section.lower()))
    if pattern is None and in_section and wanted.unit != "USD":  # "Diluted earnings per share:" over "Net income"
        pattern = _label_rank(wanted, f"{plain_label(first.section or '')} {label}")
    if pattern is None and concept is None:
        return None
    return (
        int(first.statement != wanted.statement),
        len(wanted.concepts) if concept is None else concept,
        len(wanted.labels) if pattern is None else pattern,
        int(wanted.section is not None and not in_section),
    )


def _label_rank(wanted: CanonicalItem, label: str) -> int | None:
    if not wanted.any_label.fullmatch(label) or (wanted.exclude and wanted.exclude.search(label)):
        return None
    return next((index for index, regex in enumerate(wanted.labels) if regex.fullmatch(label)), None)


def _unit_fits(wanted: CanonicalItem, item: LineItem) -> bool:
    if wanted.unit == "USD":  # any currency
        return "/" not in item.unit and item.unit not in ("shares", "percent")
    return item.unit.endswith("/share") if wanted.unit == "USD/share" else item.unit == wanted.unit


def _concept_rank(wanted: CanonicalItem, row: Iterable[LineItem]) -> int | None:
    names = {item.concept.rpartition(":")[2] for item in row if item.concept}
    return next((rank for rank, concept in enumerate(wanted.concepts) if concept in names), None)


@lru_cache(maxsize=8192)
def plain_label(label: str) -> str:
    """A row label for matching: lower case, one kind of dash, apostrophe and space, no note references or colon."""
    text = " ".join(label.lower().replace("’", "'").replace("—", "-").replace("–", "-").replace("--", "-").split())
    return _NOTE.sub("", text).strip(" :;,.-")


def _cell(wanted: CanonicalItem, row: Row, period_end: dt.date | None, months: int | None) -> LineItem | None:
    """The cell of ``row`` for the period, None if no column fits."""
    cells = [(item.period_end, item) for item in row if item.period_end is not None and _unit_fits(wanted, item)]
    lengths = {item.months for _, item in cells if item.months}
    if wanted.statement != "balance" and lengths:
        chosen = months if months is not None else 12 if 12 in lengths else min(lengths)
        cells = [(end, item) for end, item in cells if item.months == chosen]
    if not cells:
        return None
    if period_end is None:
        return max(cells, key=itemgetter(0))[1]
    days, _, nearest = min(
        ((abs((end - period_end).days), item.column, item) for end, item in cells), key=itemgetter(0, 1)
    )
    return nearest if days <= DATE_TOLERANCE_DAYS else None
