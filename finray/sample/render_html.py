"""Pages to EDGAR-style HTML: inline styles, filler cells, a page-break rule after each page, inline XBRL
tags."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from html import escape

from finray.sample.blocks import Cell, Fact, Para, Placed, Row, Sheet, Table, Tag, WordTable
from finray.sample.companies import Company

PAGE_BREAK = '<hr style="page-break-after:always"/>'
_SPAN = "font-family:'Times New Roman',serif;font-size:{size:g}pt;font-weight:{weight};line-height:120%"
_NAMESPACES = ('xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" '
               'xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" '
               'xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:xbrldi="http://xbrl.org/2006/xbrldi" '
               'xmlns:link="http://www.xbrl.org/2003/linkbase" xmlns:xlink="http://www.w3.org/1999/xlink" '
               'xmlns:iso4217="http://www.xbrl.org/2003/iso4217" xmlns:dei="http://xbrl.sec.gov/dei/2023" '
               'xmlns:us-gaap="http://fasb.org/us-gaap/2023"')
_UNITS = {"USD": "usd", "shares": "shares", "USD/share": "usdPerShare", "pure": "number"}
_STYLES = {"title": ("center", 14, 700), "center": ("center", 9.5, 400), "center_bold": ("center", 10, 700),
           "heading": ("left", 10, 700), "subheading": ("left", 10, 400), "body": ("justify", 10, 400),
           "small": ("left", 8, 400), "small_center": ("center", 8, 400), "bullet": ("left", 10, 400),
           "italic": ("center", 9, 400)}

Context = tuple[dt.date | None, dt.date, tuple[str, str] | None]


class _Tagger:
    """Numbers facts and collects the contexts they need. Without inline XBRL it leaves the text as it is."""

    def __init__(self, company: Company, start: dt.date | None, end: dt.date, enabled: bool) -> None:
        self.enabled, self.company, self.cover = enabled, company, (start, end, None)
        self.contexts: dict[Context, str] = {}
        self.count = 0

    def context(self, key: Context) -> str:
        return self.contexts.setdefault(key, f"c-{len(self.contexts) + 1}")

    def name(self) -> str:
        self.count += 1
        return f"f-{self.count}"

    def word(self, tag: Tag) -> str:
        text = escape(tag.text, quote=False)
        if not self.enabled:
            return text
        if tag.fact is not None:
            return self.number(tag.fact, tag.text)
        form = ' format="ixt:date-monthname-day-year-en"' if tag.concept.endswith("EndDate") else ""
        return (f'<ix:nonNumeric contextRef="{self.context(self.cover)}" name="{tag.concept}"{form} '
                f'id="{self.name()}">{text}</ix:nonNumeric>')

    def number(self, fact: Fact, text: str) -> str:
        if not self.enabled:
            return escape(text, quote=False)
        context = self.context((fact.start, fact.end, fact.member))
        sign = ' sign="-"' if fact.value < 0 else ""
        form = "fixed-zero" if text == "—" else "num-dot-decimal"
        decimals = "2" if fact.unit == "USD/share" else str(-fact.scale)
        opening = "(" if text.startswith("(") else ""
        return (f'{opening}<ix:nonFraction unitRef="{_UNITS[fact.unit]}" contextRef="{context}" decimals="{decimals}" '
                f'name="{fact.concept}" format="ixt:{form}" scale="{fact.scale}"{sign} '
                f'id="{self.name()}">{text.removeprefix("(")}</ix:nonFraction>')


def render_html(sheets: Sequence[Sheet], company: Company, *, title: str, running_head: bool,
                first_numbered: int,
                start: dt.date | None, end: dt.date, hidden: Sequence[tuple[str, str]],
                inline_xbrl: bool) -> str:
    """XHTML of the pages. ``start`` and ``end`` are the cover period; ``hidden`` are dei facts that no page
    prints."""
    tagger = _Tagger(company, start, end, inline_xbrl)
    tagger.context(tagger.cover)
    parts: list[str] = []
    for index, sheet in enumerate(sheets):
        if index:
            parts.append(PAGE_BREAK)
            if running_head:
                parts.append('<div style="text-align:center"><span style="font-size:8pt">'
                             '<a href="#toc">Table of Contents</a></span></div>')
        parts.extend(_block(placed, tagger) for placed in sheet)
        if index >= first_numbered:
            parts.append(f'<div style="text-align:center"><span style="font-size:9pt">{index - first_numbered + 1}'
                         "</span></div>")
    header = _header(tagger, hidden) if inline_xbrl else ""
    body = "\n".join(parts)
    return (f"<?xml version='1.0' encoding='ASCII'?>\n<html {_NAMESPACES} xml:lang=\"en-US\"><head><meta "
            "http-equiv=\"Content-Type\" content=\"text/html\"/>\n"
            f"<title>{escape(title)}</title></head><body>{header}\n{body}\n</body></html>\n"
            ).encode("ascii", "xmlcharrefreplace").decode()


def _header(tagger: _Tagger, hidden: Sequence[tuple[str, str]]) -> str:
    """The ix:header: hidden cover facts, units, and every context that a tag referred to."""
    cover = tagger.context(tagger.cover)
    facts = "".join(f'<ix:nonNumeric contextRef="{cover}" name="{name}" id="{tagger.name()}">{escape(value)}'
                    "</ix:nonNumeric>" for name, value in hidden)
    contexts = "".join(_context(tagger.company, key, name) for key, name in tagger.contexts.items())
    units = ('<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>'
             '<xbrli:unit id="shares"><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>'
             '<xbrli:unit id="number"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit>'
             '<xbrli:unit id="usdPerShare"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD'
             '</xbrli:measure></xbrli:unitNumerator><xbrli:unitDenominator><xbrli:measure>xbrli:shares'
             '</xbrli:measure></xbrli:unitDenominator></xbrli:divide></xbrli:unit>')
    return (f'<div style="display:none"><ix:header><ix:hidden>{facts}</ix:hidden><ix:references xml:lang="en-US">'
            f'<link:schemaRef xlink:type="simple" xlink:href="{tagger.company.ticker.lower()}.xsd"/></ix:references>'
            f"<ix:resources>{units}{contexts}</ix:resources></ix:header></div>")


def _context(company: Company, key: Context, name: str) -> str:
    start, end, member = key
    segment = ""
    if member:
        segment = (f'<xbrli:segment><xbrldi:explicitMember dimension="{member[0]}">{escape(member[1])}'
                   "</xbrldi:explicitMember></xbrli:segment>")
    period = (f"<xbrli:startDate>{start}</xbrli:startDate><xbrli:endDate>{end}</xbrli:endDate>" if start
              else f"<xbrli:instant>{end}</xbrli:instant>")
    return (f'<xbrli:context id="{name}"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">{company.cik}'
            f"</xbrli:identifier>{segment}</xbrli:entity><xbrli:period>{period}</xbrli:period></xbrli:context>")


def _block(placed: Placed, tagger: _Tagger) -> str:
    block = placed.block
    if isinstance(block, Para):
        align, size, weight = _STYLES[block.style]
        text = _tagged(" ".join(placed.lines), block.tags, tagger)
        slant = ";font-style:italic" if block.style in ("subheading", "italic") else ""
        bullet = "&#8226; " if block.style == "bullet" else ""
        margin = "padding-left:18pt;" if block.style == "bullet" else ""
        return (f'<div style="{margin}margin-bottom:6pt;text-align:{align}"><span style="'
                f'{_SPAN.format(size=size, weight=weight)}{slant}">{bullet}{text}</span></div>')
    return _numbers(block, tagger) if isinstance(block, Table) else _words(block, tagger)


def _tagged(text: str, tags: Sequence[Tag], tagger: _Tagger) -> str:
    """The text with each tag on its first occurrence; the tags stand in the order of the text."""
    parts: list[str] = []
    for tag in tags:
        before, found, after = text.partition(tag.text)
        if found:
            parts += [escape(before, quote=False), tagger.word(tag)]
            text = after
    return "".join([*parts, escape(text, quote=False)])


def _numbers(table: Table, tagger: _Tagger) -> str:
    lines = ['<div style="margin-bottom:9pt"><table style="border-collapse:collapse;width:100%">'
             f'<tr><td style="width:52%"/>{"<td/>" * (4 * table.columns)}</tr>']
    span = _SPAN.format(size=8, weight=700)
    for head in table.head:
        cells = "".join(f'<td colspan="{4 * width - 1}" style="border-bottom:1pt solid #000;text-align:center">'
                        f'<span style="{span}">{escape(text).replace(chr(10), "<br/>")}</span></td><td></td>'
                        for text, width in head)
        lines.append(f"<tr><td></td>{cells}</tr>")
    lines += [_row(table, row, index, tagger) for index, row in enumerate(table.rows)]
    return "\n".join([*lines, "</table></div>"])


def _row(table: Table, row: Row, index: int, tagger: _Tagger) -> str:
    shade = "background-color:#cceeff;" if index % 2 == 0 else ""
    span = _SPAN.format(size=table.size, weight=700 if row.bold else 400)
    label = (f'<td style="{shade}padding:2px 1pt 2px {1 + 9 * row.indent}pt;text-align:left;vertical-align:bottom">'
             f'<span style="{span}">{escape(row.label, quote=False)}</span></td>')
    rule = {"single": "border-top:1pt solid #000;",
            "double": "border-top:1pt solid #000;border-bottom:3pt double #000;",
            None: ""}[row.rule]
    return f"<tr>{label}{''.join(_cell(cell, shade, rule, span, tagger) for cell in row.cells)}</tr>"


def _cell(cell: Cell | None, shade: str, rule: str, span: str, tagger: _Tagger) -> str:
    if cell is None:
        return f'<td colspan="3" style="{shade}padding:0 1pt"></td><td style="{shade}"></td>'
    value = tagger.number(cell.fact, cell.text) if cell.fact else escape(cell.text)
    if cell.prefix:
        front = (f'<td style="{shade}{rule}padding:2px 0 2px 1pt;text-align:left"><span style="{span}">{cell.prefix}'
                 f'</span></td><td style="{shade}{rule}padding:2px 0;text-align:right">')
    else:
        front = f'<td colspan="2" style="{shade}{rule}padding:2px 0 2px 1pt;text-align:right">'
    closing = f'<span style="{span}">{cell.suffix}</span>' if cell.suffix else ""
    return (f'{front}<span style="{span}">{value}</span></td><td style="{shade}{rule}padding:2px 1pt 2px 0;'
            f'text-align:right">{closing}</td><td style="{shade}padding:0 1pt"></td>')


def _words(table: WordTable, tagger: _Tagger) -> str:
    lines = ['<div style="margin-bottom:9pt"><table style="border-collapse:collapse;width:100%">']
    remaining = list(table.tags)
    for index, row in enumerate(table.rows):
        span = _SPAN.format(size=table.size, weight=700 if table.bold_head and index == 0 else 400)
        cells = []
        for text, share in zip(row, table.widths, strict=True):
            found = [tag for tag in remaining if tag.text in text]
            remaining = [tag for tag in remaining if tag not in found]
            cells.append(f'<td style="width:{100 * share:.0f}%;vertical-align:top;padding:2px 1pt"><span style="{span}">'
                         f'{_tagged(text, found, tagger).replace(chr(10), "<br/>")}</span></td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table></div>"])
