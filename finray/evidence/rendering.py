"""Tables and prose as Markdown, whole or in part."""

from __future__ import annotations

from collections.abc import Collection

from finray.core.tables import Row
from finray.evidence import markdown
from finray.evidence.heads import in_words
from finray.evidence.prose import Prose
from finray.evidence.tables import ShownTable
from finray.filings.prose.figures import ProseFigure, prose_figures

_GAP = " … "


def table_text(table: ShownTable, chosen: Collection[int], *, marked: bool = False) -> str:
    """``table`` with the rows whose numbers are ``chosen``, and a line with the number of those left out. If
    ``marked``, columns have letters and rows numbers, which name the cells."""
    lines = [table_head(table, marked=marked), *(row_text(table, n, marked=marked) for n in sorted(chosen))]
    left_out = sum(not row.is_heading for number, row in enumerate(table.rows) if number not in chosen)
    if left_out:
        lines.append(f"… {left_out} {'row' if left_out == 1 else 'rows'} left out")
    return "\n".join(lines)


def table_head(table: ShownTable, *, marked: bool = False) -> str:
    """The title and the heads of the columns."""
    heads = [f"{letters(at)}: {head}" if marked else head for at, head in enumerate(table.heads)]
    title = markdown.heading(table.title)
    return "\n".join(filter(None, (title, markdown.table([table.corner, *heads], ()))))


def row_text(table: ShownTable, number: int, *, marked: bool = False) -> str:
    row = table.rows[number]
    unit = _other_unit(table, row)
    label = f"{row.label} ({unit})" if unit else row.label
    if marked and not row.is_heading:
        label = f"{number + 1} {label}"
    printed = {cell.column: cell.text for cell in row.cells}
    return markdown.row([label, *(printed.get(column.column, "") for column in table.table.columns)])


def letters(number: int) -> str:
    """The name of a column as in a spreadsheet: A for 0, AA for 26."""
    return letters(number // 26 - 1) + chr(65 + number % 26) if number >= 26 else chr(65 + number)


def prose_text(prose: Prose, chosen: Collection[int], *, marked: bool = False) -> str:
    """The heading and the sentences whose numbers are ``chosen``, with " … " between those that are not adjacent. If
    ``marked``, the name of each figure follows it: "[B3]" for the second one of the third sentence."""
    begins_with_heading = bool(chosen) and prose.sentences[min(chosen)].is_heading
    parts = [markdown.heading(prose.heading), "\n"] if prose.heading and not begins_with_heading else []
    last = -1
    for number in sorted(chosen):
        sentence = prose.sentences[number]
        if number != last + 1:
            parts.append(_GAP)
        elif number == 0 and prose.before:
            parts.append(markdown.plain(prose.before) + " ")
        if sentence.is_heading:
            parts.append(f"\n{markdown.heading(sentence.text)}\n")
        else:
            parts.append(markdown.plain(_marked(prose, number) if marked else sentence.text) + " ")
        last = number
    if last == len(prose.sentences) - 1 and prose.after:
        parts.append(markdown.plain(prose.after))
    elif last < len(prose.sentences) - 1:
        parts.append("…")
    lines = "".join(parts).split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def figures_of(prose: Prose, number: int) -> list[ProseFigure]:
    """The figures of a sentence that have names, in order: those in digits."""
    return [figure for figure in prose_figures(prose.sentences[number].text) if not figure.spelled]


def _marked(prose: Prose, number: int) -> str:
    text, at = "", 0
    for place, figure in enumerate(figures_of(prose, number)):
        text += f"{prose.sentences[number].text[at : figure.end]} [{letters(place)}{number + 1}]"
        at = figure.end
    return text + prose.sentences[number].text[at:]


def _other_unit(table: ShownTable, row: Row) -> str:
    """The unit of a row's figures if it is not that of the table; "" for percentages, whose figures print it."""
    units = {(item.unit, item.scale) for item in table.items_of(row).values() if item.unit != "percent"}
    if len(units) != 1 or units == {table.unit}:
        return ""
    return in_words(*next(iter(units)))
