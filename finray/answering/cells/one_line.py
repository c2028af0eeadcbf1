"""Reads the figures of several periods from one line.

Statements rename lines, and "net income" is with the noncontrolling interests in one report and without them in the
next. So the periods are read from the row that prints most of them. A figure from a row of another name counts as the
same line only if a filing prints both for one period with the same figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from finray.answering.cells.operands import candidate_ends, found_in
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Found, Operand
from finray.facts.items import Printed, names_same_row, same_row
from finray.facts.lookup import same_figure

Series = dict[Period, Found]
"""One line of a company over periods."""
_LOSS = re.compile(r" ?/? ?\((?:loss|deficit)(?:es)?\)| or loss\b", re.I)


def in_one_line(
    series: Series, operands: Sequence[Operand], filings: Sequence[Filing], items: Mapping[str, Sequence[LineItem]]
) -> tuple[Series, frozenset[Period]]:
    """(``series`` read from the row that prints most periods, the periods whose row may be another line)."""
    anchors = _distinct_rows(series)
    if len(anchors) < 2:
        return series, frozenset()
    readings = [_read_from(anchor, series, operands, filings, items) for anchor in anchors]
    # The row of most periods; of these the one that most filings call so, then the newest.
    read = max(readings, key=lambda each: (len(each), sum(series.get(p) == found for p, found in each.items())))
    result, others = dict(series), set()
    for period, own in series.items():
        if period in read:
            result[period] = read[period]
        elif not _same_line(own, read, operands, filings, items):
            others.add(period)
    result |= {period: found for period, found in read.items() if period not in series}
    return result, frozenset(others)


def _distinct_rows(series: Series) -> list[Found]:
    """One figure of each differently named row, the newest row first."""
    distinct: list[Found] = []
    for found in reversed(series.values()):
        if not any(_is_row(found.line_item, other.line_item) for other in distinct):
            distinct.append(found)
    return distinct


def _is_row(one: LineItem, other: LineItem) -> bool:
    """Whether both are of rows of one name, with or without words for a loss: "Net income" is "Net income (loss)"."""
    one, other = (replace(each, label=_LOSS.sub("", each.label)) for each in (one, other))
    tagged = one.concept is not None and one.concept == other.concept
    return names_same_row(one, other) or (tagged and one.unit == other.unit and one.statement == other.statement)


def _read_from(
    anchor: Found,
    series: Series,
    operands: Sequence[Operand],
    filings: Sequence[Filing],
    items: Mapping[str, Sequence[LineItem]],
) -> Series:
    """The periods of ``operands`` that filings print in rows named as that of ``anchor``."""
    read: Series = {}
    for operand in operands:
        own = series.get(operand.period)
        if own is not None and _is_row(own.line_item, anchor.line_item):
            read[operand.period] = own
            continue
        found = _beside(anchor, operand, filings, items)
        if found is not None:
            read[operand.period] = found
    return read


def _beside(
    anchor: Found, operand: Operand, filings: Sequence[Filing], items: Mapping[str, Sequence[LineItem]]
) -> Found | None:
    """``operand`` in the first filing that prints it in a row named as that of ``anchor``."""
    printed = Printed(anchor.line_item, anchor.value)
    balance = anchor.line_item.months == 0
    for filing, end in candidate_ends(operand.period, filings, amended=False, balance=balance):
        again = same_row(printed, items.get(filing.filing_id, ()), end)
        if again is not None and again.cell.months == anchor.line_item.months:
            return found_in(operand, filing, again.cell, again.value)
    return None


def _same_line(
    own: Found,
    read: Series,
    operands: Sequence[Operand],
    filings: Sequence[Filing],
    items: Mapping[str, Sequence[LineItem]],
) -> bool:
    """Whether the row of ``own`` prints the figures of ``read`` wherever filings have both, and they have them for some
    period: then the line was only renamed."""
    both = [
        (other, read[operand.period])
        for operand in operands
        if operand.period in read and (other := _beside(own, operand, filings, items)) is not None
    ]
    return bool(both) and all(same_figure(_printed(one), _printed(other)) for one, other in both)


def _printed(found: Found) -> Printed:
    return Printed(found.line_item, found.value)
