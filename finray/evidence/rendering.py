"""Tables and prose as Markdown, whole or in part."""

from __future__ import annotations

from collections.abc import Collection

from finray.evidence import markdown
from finray.evidence.candidates import Prose
from finray.evidence.heads import in_words
from finray.evidence.tables import Table, TableRow

MAX_TITLE = 400
_GAP = " … "


def table_text(table: Table, chosen: Collection[int]) -> str:
    """``table`` with the rows whose numbers are ``chosen``, and a line with the number of those left out."""
    lines = [table_head(table), *(row_text(table, number) for number in sorted(chosen))]
    left_out = sum(not row.is_heading for number, row in enumerate(table.rows) if number not in chosen)
    if left_out:
        lines.append(f"… {left_out} {'row' if left_out == 1 else 'rows'} left out")
    if table.of_items:
        lines.append("… rows without a period or a label may be missing")
    return "\n".join(lines)


def table_head(table: Table) -> str:
    """The title and the heads of the columns."""
    heads = [table.corner, *(table.heads or [""] * len(table.columns))]
    title = markdown.heading(shortened(table.title))
    return "\n".join(filter(None, (title, markdown.table(heads, ()))))


def row_text(table: Table, number: int) -> str:
    row = table.rows[number]
    unit = _other_unit(table, row)
    label = f"{row.label} ({unit})" if unit else row.label
    return markdown.row([label, *(row.cells.get(column, "") for column in table.columns)])


def prose_text(prose: Prose, chosen: Collection[int]) -> str:
    """The heading and the sentences whose numbers are ``chosen``, with " … " between those that are not adjacent."""
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
            parts.append(markdown.plain(sentence.text) + " ")
        last = number
    if last == len(prose.sentences) - 1 and prose.after:
        parts.append(markdown.plain(prose.after))
    elif last < len(prose.sentences) - 1:
        parts.append("…")
    lines = "".join(parts).split("\n")
    return "\n".join(line.strip() for line in lines if line.strip())


def shortened(title: str) -> str:
    """The end of a long title, which is next to the table."""
    return title if len(title) <= MAX_TITLE else "… " + title[-MAX_TITLE:]


def _other_unit(table: Table, row: TableRow) -> str:
    """The unit of a row's figures if it is not that of the table; "" for percentages, whose figures print it."""
    units = {(item.unit, item.scale) for item in row.items.values() if item.unit != "percent"}
    if len(units) != 1 or units == {table.unit}:
        return ""
    return in_words(*next(iter(units)))
