"""Reads line items from sentences that list figures by period. The index has only those of tables, so this is done
when a question is asked."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from typing import Final

from finray.core.filing import Filing, LineItem, Page
from finray.core.ocr_marks import mark_of
from finray.filings.dates import add_months
from finray.filings.pages.sentences import Sentence, page_sentences
from finray.filings.prose.figures import ProseFigure
from finray.filings.prose.scales import is_scaled, unspoken_scale
from finray.filings.prose.series import ProseSeries, prose_series
from finray.filings.tables.period_headings import read_heading
from finray.filings.tables.periods import Calendar, Period, year_end
from finray.filings.tables.scales import ScaledUnit, is_per_share

FIRST_ROW: Final = 1_000_000
"""The row of a page's first series; those of its tables have lower numbers."""
_BALANCE = re.compile(r"\b(?:as of|at)\b", re.I)
_BEFORE_PERIOD = re.compile(r"^(?:(?:in|for|during|by|on|each|both|of|the|our|its)\s+){1,4}", re.I)
_MOST_PER_SHARE = 1_000


def prose_items(page: Page, filing: Filing, tables: Iterable[LineItem] = ()) -> list[LineItem]:
    """The figures that sentences of ``page`` list by period, a row for each list, in reading order.

    ``section`` is the heading over the sentence. ``tables`` are the line items of the page's tables.
    """
    sentences = page_sentences(page.text, page.headings)
    listed = [(sentence, series) for sentence in sentences for series in prose_series(sentence.text)]
    scale = unspoken_scale(page.text, (sentence.text for sentence in sentences), tables) if listed else 1
    rows = itertools.groupby(listed, key=lambda each: (each[0].start, each[1].label))
    return [item for row, (_, own) in enumerate(rows, FIRST_ROW) for item in _row(page, row, own, filing, scale)]


def _row(
    page: Page, row: int, listed: Iterable[tuple[Sentence, ProseSeries]], filing: Filing, scale: int
) -> Iterator[LineItem]:
    """The line items of one row; figures without a known period are left out."""
    column = 0
    for sentence, series in listed:
        for figure, header in zip(series.figures, series.periods, strict=True):
            period = _period(header, filing)
            if period.end is None or not series.label or not math.isfinite(figure.value):
                continue
            unit, times = _unit(figure, series.label, sentence.text, scale)
            column += 1
            yield LineItem(
                page=page.page,
                statement=None,
                label=series.label,
                value=figure.value * times,
                text=sentence.text[figure.start : figure.end],
                unit=unit,
                scale=times,
                period_end=period.end,
                months=period.months,
                section=sentence.heading or None,
                row=row,
                column=column,
                ocr=mark_of(sentence.text[figure.start : figure.end], page.ocr_doubts),
            )


def _unit(figure: ProseFigure, label: str, text: str, scale: int) -> ScaledUnit:
    """The unit of a line item. ``scale`` is that of amounts without a word of scale in the sentence ``text``."""
    if figure.kind == "money":
        if is_per_share(label) and figure.value < _MOST_PER_SHARE:
            return f"{figure.unit}/share", 1
        return figure.unit, 1 if is_scaled(figure, text) else scale
    return "pure" if figure.kind == "count" else figure.unit, 1


def _period(header: str, filing: Filing) -> Period:
    """The period that ``header`` names. A year alone is the company's fiscal year, in a quarterly report too."""
    header = _BEFORE_PERIOD.sub("", header)
    heading = read_heading(header)
    if heading.year is None or heading.month is not None:
        period = Calendar(filing, None, "").period(0, {0: header})
        return Period(period.end, 0) if period.months is None and _BALANCE.search(header) else period
    end = year_end(heading.year, filing)
    if heading.quarter is not None and end is not None:
        return Period(add_months(end, -3 * (4 - heading.quarter)), 3)
    return Period(end, heading.months) if heading.months in (None, 12) else Period(None, None)
