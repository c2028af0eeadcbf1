"""Pages to EDGAR-style HTML: inline styles, tables with filler cells, a page-break rule between pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from finray.lab.sample.blocks import Cell, Para, Placed, Row, Sheet, Table, Tag, WordTable
from finray.lab.sample.inline_xbrl import NAMESPACES, Tagger

PAGE_BREAK = '<hr style="page-break-after:always"/>'
_STYLES = {
    "title": ("center", 14, 700),
    "center": ("center", 9.5, 400),
    "center_bold": ("center", 10, 700),
    "heading": ("left", 10, 700),
    "subheading": ("left", 10, 400),
    "body": ("justify", 10, 400),
    "small": ("left", 8, 400),
    "small_center": ("center", 8, 400),
    "bullet": ("left", 10, 400),
    "italic": ("center", 9, 400),
}
_RULES = {
    "single": "border-top:1pt solid #000;",
    "double": "border-top:1pt solid #000;border-bottom:3pt double #000;",
    None: "",
}


def render_html(
    sheets: Sequence[Sheet],
    tagger: Tagger,
    *,
    title: str,
    running_head: bool,
    first_numbered: int,
    hidden: Sequence[tuple[str, str]],
) -> str:
    """ASCII XHTML of the pages. ``first_numbered`` is the 0-based page with the printed number 1; ``hidden`` are dei
    facts that no page prints."""
    parts: list[str] = []
    for index, sheet in enumerate(sheets):
        if index:
            parts.append(PAGE_BREAK)
            if running_head:
                parts.append(_centered('<a href="#toc">Table of Contents</a>', 8))
        parts.extend(_block(placed, tagger) for placed in sheet)
        if index >= first_numbered:
            parts.append(_centered(str(index - first_numbered + 1), 9))
    body = "\n".join(parts)
    page = (
        "<?xml version='1.0' encoding='ASCII'?>\n"
        f'<html {NAMESPACES} xml:lang="en-US"><head>'
        '<meta http-equiv="Content-Type" content="text/html"/>\n'
        f"<title>{escape(title)}</title></head><body>{tagger.header(hidden)}\n{body}\n</body></html>\n"
    )
    return page.encode("ascii", "xmlcharrefreplace").decode()


def _span(text: str, size: float, weight: int = 400, more: str = "") -> str:
    return (
        f"<span style=\"font-family:'Times New Roman',serif;font-size:{size:g}pt;font-weight:{weight};"
        f'line-height:120%{more}">{text}</span>'
    )


def _centered(text: str, size: float) -> str:
    return f'<div style="text-align:center">{_span(text, size)}</div>'


def _lines(text: str) -> str:
    return text.replace("\n", "<br/>")


def _block(placed: Placed, tagger: Tagger) -> str:
    block = placed.block
    if isinstance(block, Para):
        return _paragraph(placed, block, tagger)
    return _numbers(block, tagger) if isinstance(block, Table) else _words(block, tagger)


def _paragraph(placed: Placed, block: Para, tagger: Tagger) -> str:
    align, size, weight = _STYLES[block.style]
    text = _tagged(" ".join(placed.lines), block.tags, tagger)
    slant = ";font-style:italic" if block.style in ("subheading", "italic") else ""
    margin = ""
    if block.style == "bullet":
        text, margin = f"&#8226; {text}", "padding-left:18pt;"
    span = _span(text, size, weight, slant)
    return f'<div style="{margin}margin-bottom:6pt;text-align:{align}">{span}</div>'


def _tagged(text: str, tags: Sequence[Tag], tagger: Tagger) -> str:
    """The text with each tag on its first occurrence; tags are in the order of the text."""
    parts: list[str] = []
    for tag in tags:
        before, found, after = text.partition(tag.text)
        if found:
            parts += [escape(before, quote=False), tagger.words(tag)]
            text = after
    return "".join([*parts, escape(text, quote=False)])


def _table(rows: Sequence[str], anchor: str = "") -> str:
    name = f' id="{anchor}"' if anchor else ""
    return "\n".join(
        [
            f'<div{name} style="margin-bottom:9pt"><table style="border-collapse:collapse;width:100%">',
            *rows,
            "</table></div>",
        ]
    )


def _numbers(table: Table, tagger: Tagger) -> str:
    rows = [f'<tr><td style="width:52%"></td>{"<td></td>" * (4 * table.columns)}</tr>']
    for head in table.head:
        cells = "".join(
            f'<td colspan="{4 * width - 1}" style="border-bottom:1pt solid #000;text-align:center">'
            f"{_span(_lines(escape(text)), 8, 700)}</td><td></td>"
            for text, width in head
        )
        rows.append(f"<tr><td></td>{cells}</tr>")
    return _table([*rows, *(_row(table, row, index, tagger) for index, row in enumerate(table.rows))])


def _row(table: Table, row: Row, index: int, tagger: Tagger) -> str:
    shade = "background-color:#cceeff;" if index % 2 == 0 else ""
    weight = 700 if row.bold else 400
    label = _span(escape(row.label, quote=False), table.size, weight)
    cells = "".join(_cell(cell, shade, _RULES[row.rule], table.size, weight, tagger) for cell in row.cells)
    return (
        f'<tr><td style="{shade}padding:2px 1pt 2px {1 + 9 * row.indent}pt;text-align:left;'
        f'vertical-align:bottom">{label}</td>{cells}</tr>'
    )


def _cell(cell: Cell | None, shade: str, rule: str, size: float, weight: int, tagger: Tagger) -> str:
    """Dollar sign, digits, closing parenthesis and gutter: four columns per number, as in EDGAR tables."""
    gutter = f'<td style="{shade}padding:0 1pt"></td>'
    if cell is None:
        return f'<td colspan="3" style="{shade}padding:0 1pt"></td>{gutter}'
    look = f"{shade}{rule}padding:2px 0;text-align:right"
    value = _span(tagger.number(cell.fact, cell.text) if cell.fact else escape(cell.text), size, weight)
    front = f'<td colspan="2" style="{look}">'
    if cell.prefix:
        sign = f'<td style="{shade}{rule}padding:2px 0 2px 1pt;text-align:left">{_span(cell.prefix, size, weight)}'
        front = f'{sign}</td><td style="{look}">'
    closing = _span(cell.suffix, size, weight) if cell.suffix else ""
    return f'{front}{value}</td><td style="{look}">{closing}</td>{gutter}'


def _words(table: WordTable, tagger: Tagger) -> str:
    rows: list[str] = []
    remaining = list(table.tags)
    for index, row in enumerate(table.rows):
        weight = 700 if table.bold_head and index == 0 else 400
        cells: list[str] = []
        for text, share in zip(row, table.widths, strict=True):
            found = [tag for tag in remaining if tag.text in text]
            remaining = [tag for tag in remaining if tag not in found]
            words = _span(_lines(_tagged(text, found, tagger)), table.size, weight)
            cells.append(f'<td style="width:{100 * share:.0f}%;vertical-align:top;padding:2px 1pt">{words}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table(rows, "toc" if table.key == "contents" else "")
