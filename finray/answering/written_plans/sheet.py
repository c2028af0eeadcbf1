"""What the model reads: rows of tables and sentences with ids in the place of figures, and the question.

    Q: Kraft Heinz: by how much did net sales grow in 2022?
    # 10-K FY2022: Consolidated Statements of Income
    c1 FY2022, c2 FY2021
    r1 Net sales
    r2 Gross profit
    # 10-K FY2022, p. 31
    r3 Organic Net Sales increased [c1] to [c2] compared to the prior year
    Q: Kraft Heinz: by how much did net sales grow in 2022?
    Plan:

A row of several parts ("Level 1", "Level 2") is one row for each part, whose cells differ by their period.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from finray.answering.cells.cell_words import Around, Words
from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.table_reader.series import Series, column_part
from finray.answering.written_plans.language import CellId, PlanError, grammar
from finray.core.filing import Filing, LineItem
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence
from finray.filings.prose.figures import ProseFigure, prose_figures

MAX_CELLS: Final = 8
"""Cells of a row that are shown; a row of ten years is rare."""
_QUESTION, _LABEL, _TITLE, _HEAD, _SENTENCE = 400, 72, 48, 24, 180
"""Characters, chosen for some 300 tokens a sheet."""
_MEASURES: Final = {"shares": " (shares)", "per share": " (per share)", "percent": " (percent)"}
_SENTENCE_ROW: Final = 2_000_000
"""Rows of sentences have numbers above those of tables and of lists by periods."""
_NONE: Final = frozenset[str]()
_NO_WORDS: Final = Around.of(Words(_NONE, _NONE, _NONE, _NONE, _NONE), _NONE)


@dataclass(frozen=True, slots=True)
class SheetRow:
    """``text`` as shown, ``heads`` those of its ``cells``, none for a sentence, whose ids stand in the text. ``source``
    is its filing."""

    text: str
    source: str
    title: str
    heads: tuple[str, ...]
    cells: tuple[PageCell, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """``rows`` count from 1 in plans."""

    question: str
    rows: tuple[SheetRow, ...]

    @property
    def text(self) -> str:
        asked = f"Q: {self.question}"
        lines = [asked]
        numbered = enumerate(self.rows, start=1)
        last: str | None = None
        for (title, heads), own in itertools.groupby(numbered, key=lambda each: (each[1].title, each[1].heads)):
            if title != last:
                lines.append(f"# {title}".rstrip())
            last = title
            if any(heads):
                lines.append(", ".join(f"c{at} {head}".rstrip() for at, head in enumerate(heads, start=1)))
            lines += [f"r{number} {row.text}" for number, row in own]
        return "\n".join((*lines, asked, "Plan:"))

    @property
    def grammar(self) -> str:
        """The plans over this sheet, as GBNF."""
        return grammar([len(row.cells) for row in self.rows])

    def cell(self, cell: CellId) -> PageCell:
        """Raises PlanError if there is none."""
        if not 0 < cell.row <= len(self.rows) or not 0 < cell.column <= len(self.rows[cell.row - 1].cells):
            raise PlanError(f"no cell {cell} among {len(self.rows)} rows")
        return self.rows[cell.row - 1].cells[cell.column - 1]


@dataclass(frozen=True, slots=True)
class StatedFigures:
    """The ``figures`` of a ``sentence`` of a page; ``scale`` multiplies amounts that state none."""

    filing: Filing
    page: int
    rank: int
    sentence: Sentence
    figures: tuple[ProseFigure, ...]
    scale: int


def shown_figures(sentence: Sentence) -> tuple[ProseFigure, ...]:
    """The figures of ``sentence`` that get ids; "six months" keeps its words."""
    return tuple(each for each in prose_figures(sentence.text) if not (each.spelled and each.kind == "count"))


def sheet(query: Query, series: Sequence[Series], sentences: Sequence[StatedFigures] = ()) -> Sheet:
    """The sheet of ``series``, those of one table together in reading order, and of ``sentences``; tables and pages
    stand in the order of their first one."""
    rows = [_row(each) for each in series]
    tables: dict[object, int] = {}
    for each in series:
        tables.setdefault(each.table, len(tables))
    heads: dict[object, int] = {}
    for each, row in zip(series, rows, strict=True):
        heads.setdefault((each.table, row.heads), len(heads))
    placed = sorted(
        zip(series, rows, strict=True),
        key=lambda each: (
            tables[each[0].table],
            heads[each[0].table, each[1].heads],
            each[0].first.item.row,
            each[0].first.item.column,
        ),
    )
    shown = [row for _, row in placed] + [_sentence(number, each) for number, each in enumerate(sentences)]
    if len({row.source for row in shown}) > 1:
        shown = [replace(row, title=f"{row.source}: {row.title}".removesuffix(": ")) for row in shown]
    return Sheet(" ".join(query.question.split())[:_QUESTION], tuple(shown))


def _row(series: Series) -> SheetRow:
    cells = series.cells[:MAX_CELLS]
    item = cells[0].item
    years = len({cell.item.label for cell in cells}) > 1
    named = all(column_part(cell.item.column_label) for cell in series.cells)
    about = [item.section or "", _short(item.column_label or "", _HEAD) if named else ""]
    label = (item.section or item.column_label or item.label) if years else item.label
    within = "; ".join(dict.fromkeys(" ".join(text.split()) for text in about if text and text != label))
    text = _short(label, _LABEL)
    text += f" ({_short(within, _LABEL)})" if within else ""
    heads = [_short(cell.item.label, _HEAD) if years else period_head(cell, named=named) for cell in cells]
    if len(set(heads)) < len(heads):
        heads = [
            f"{head} {_short(cell.item.column_label or '', _HEAD)}".strip()
            for head, cell in zip(heads, cells, strict=True)
        ]
    text += _MEASURES.get(measure_of(item) or "", "")
    about_table = item.caption or (item.statement or "").replace("_", " ") or cells[0].headings
    return SheetRow(text, _source(cells[0].filing), _tail(about_table, _TITLE), tuple(heads), cells)


def _source(filing: Filing) -> str:
    part = filing.fiscal_period if filing.fiscal_period not in (None, "FY") else "FY"
    return f"{filing.form} {part}{filing.fiscal_year}" if filing.fiscal_year is not None else filing.form


def period_head(cell: PageCell, *, named: bool = False) -> str:
    """The period of a cell, short and plain: "FY2022", "year to Jun 2023", "Dec 2022", "3 months to Mar 2023";
    the head as printed if the table does not date it, unless the row
    is already ``named`` by it."""
    item = cell.item
    end = item.period_end
    if end is None:
        return "" if named else _short(item.column_label or "", _HEAD)
    day = f"{end:%b %Y}"
    if not item.months:
        return day
    if item.months == 12:
        closes_year = end.month == 12 or (end.month == 1 and end.day < 8)
        return f"FY{end.year if end.month == 12 else end.year - 1}" if closes_year else f"year to {day}"
    return f"{item.months} months to {day}"


def _sentence(number: int, stated: StatedFigures) -> SheetRow:
    """A sentence with an id in the place of each figure, shortened around them."""
    parts: list[str] = []
    cells: list[PageCell] = []
    at = 0
    for figure in stated.figures[:MAX_CELLS]:
        parts += [stated.sentence.text[at : figure.start], f"[c{len(cells) + 1}]"]
        at = figure.end
        cells.append(
            PageCell(
                stated.filing, _stated_item(number, len(cells), stated, figure), stated.rank, _NO_WORDS, frozenset()
            )
        )
    parts.append(stated.sentence.text[at:])
    title = _tail(stated.sentence.heading, _TITLE)
    return SheetRow(_around_ids("".join(parts)), _source(stated.filing), title, (), tuple(cells))


def _around_ids(text: str) -> str:
    """``text`` without its beginning or end, if it is too long, so that the first ids stay."""
    if len(text) <= _SENTENCE:
        return text
    start = max(0, min(text.find("[c") - _SENTENCE // 2, len(text) - _SENTENCE))
    return text[start : start + _SENTENCE]


def _stated_item(number: int, column: int, stated: StatedFigures, figure: ProseFigure) -> LineItem:
    text = stated.sentence.text
    scale = stated.scale if figure.kind == "money" else 1
    return LineItem(
        page=stated.page,
        statement=None,
        label=f"{text[: figure.start]}…{text[figure.end :]}",
        value=figure.value * scale,
        text=text[figure.start : figure.end],
        unit="pure" if figure.kind == "count" else figure.unit,
        scale=scale,
        period_end=None,
        months=None,
        section=stated.sentence.heading or None,
        row=_SENTENCE_ROW + number,
        column=column,
    )


def _short(text: str, characters: int) -> str:
    """The first whole words of ``text``, at most this many characters."""
    text = " ".join(text.split())
    return text if len(text) <= characters else text[:characters].rpartition(" ")[0] or text[:characters]


def _tail(text: str, characters: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= characters else text[-characters:].partition(" ")[2]
