"""Small filings of fictional companies, made from a few lines: HTML in two styles, PDF, and typed text."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import html
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pymupdf

Style = Literal["plain", "wide", "pdf", "typed", "tagged"]
Gold = float | str | None | tuple[float, str]
"""The value; with its unit; a part of the answer, whose value is not judged; or None: no figure may be answered."""
BREAK = '<hr style="page-break-after:always"/>'
_WIDE = re.compile(r"^(US\$|[$€£¥])?\s*(\(?[\d.,’'\s]+)(.*)$")
_TYPED_LABEL, _TYPED_CELL = 40, 15


@dataclass(frozen=True)
class Sheet:
    """Lines of text and a table below them. In ``heads`` and ``rows``, "|" separates cells; "Year ended*3" heads three
    columns. A head begins with the corner's text if it has one more cell. Two leading spaces indent a row, and a row
    without "|" is a heading inside the table."""

    title: Sequence[str]
    heads: Sequence[str]
    rows: str
    after: Sequence[str] = ()
    turned: Literal["", "text", "page"] = ""
    """Of a PDF page: its text runs upwards; or the page is also turned, so that people see it upright."""
    doubled: bool = False
    spaced: int = 3
    """Spaces between the headings of a typed table."""


@dataclass(frozen=True)
class Made:
    """One filing. ``pages`` are sheets, or HTML as it is. ``asked`` are questions with what is right."""

    name: str
    pages: Sequence[Sheet | str]
    asked: Sequence[tuple[str, Gold]]
    form: str = "10-K"
    covers: str = "For the fiscal year ended December 31, 2024"
    style: Style = "wide"
    cover: Sequence[str] = ()
    """More lines of the cover."""
    title: str = "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934"
    stem: str = ""
    others: Sequence[tuple[str, str]] = ()
    """Types and contents of the other documents of its submission."""
    contexts: str = ""
    """Of inline XBRL, one a line: "id start..end Axis=Member" or "id day Axis=Member"."""
    whole: str = ""
    """The content of the file, if it is not made from the above."""

    @property
    def file_stem(self) -> str:
        return self.stem or re.sub(r"\W+", "-", self.name.lower()).strip("-") + f"-{self.form.lower().replace('/', '')}"

    def write(self, folder: Path) -> Path:
        """Writes the filing into ``folder``; returns its path."""
        if self.style == "pdf":
            path = folder / f"{self.file_stem}.pdf"
            path.write_bytes(_pdf(self))
            return path
        if self.whole:
            path = folder / f"{self.file_stem}.txt"
            path.write_text(self.whole, encoding="utf-8")
            return path
        text = {"typed": typed, "tagged": tagged_html}.get(self.style, page_html)(self)
        if self.others or self.style == "typed":
            path = folder / f"{self.file_stem}.txt"
            path.write_text(submission(self, [(self.form, text), *self.others]), encoding="utf-8")
        else:
            path = folder / f"{self.file_stem}.htm"
            path.write_text(text, encoding="utf-8")
        return path


def _number(made: Made) -> int:
    return zlib.crc32(made.name.encode()) % 90_000 + 10_000


def cover_lines(made: Made) -> list[str]:
    return [
        "UNITED STATES",
        "SECURITIES AND EXCHANGE COMMISSION",
        "Washington, D.C. 20549",
        f"FORM {made.form}",
        f"[X] {made.title}",
        made.covers,
        f"Commission file number 001-{_number(made)}",
        made.name,
        "(Exact name of registrant as specified in its charter)",
        "Delaware",
        *made.cover,
    ]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def spans(head: str, columns: int) -> list[tuple[str, int]]:
    """The cells of a line of heads with the columns that each spans, the corner first."""
    parts = []
    for part in head.split("|"):
        text, _, number = part.strip().partition("*")
        parts.append((text, int(number or 1)))
    if sum(n for _, n in parts) == columns:
        parts = [("", 1), *parts]
    return parts


def width(sheet: Sheet) -> int:
    """Columns of figures."""
    return max(line.count("|") for line in sheet.rows.strip("\n").split("\n"))


def table_html(sheet: Sheet, style: Style) -> str:
    """The table alone. A "wide" one has a cell each for the currency sign, the figure and its parenthesis."""
    number, each = width(sheet), 3 if style == "wide" else 1
    out = []
    for head in sheet.heads:
        corner, *others = spans(head, number)
        out.append(
            f"<td>{corner[0]}</td>"
            + "".join(f'<td colspan="{n * each}" align="center"><b>{t}</b></td>' for t, n in others)
        )
    for line in sheet.rows.strip("\n").split("\n"):
        label, *figures = line.split("|")
        indent = (len(label) - len(label.lstrip())) * 6
        row = f'<td style="padding-left:{indent}pt">{label.strip()}</td>'
        for figure in map(str.strip, figures):
            match = _WIDE.match(figure) if style == "wide" else None
            if style != "wide":
                row += f'<td align="right">{figure}</td>'
            elif match:
                row += f'<td>{match[1] or ""}</td><td align="right">{match[2]}</td><td>{match[3]}</td>'
            else:
                row += f'<td></td><td align="right">{figure}</td><td></td>'
        out.append(row)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in out) + "</table>"


def sheet_html(sheet: Sheet | str, style: Style = "wide") -> str:
    if isinstance(sheet, str):
        return sheet
    above = "".join(f"<p><b>{line}</b></p>" for line in sheet.title)
    return above + table_html(sheet, style) + "".join(f"<p>{line}</p>" for line in sheet.after)


def page_html(made: Made) -> str:
    lines = (line if "<" in line else html.escape(line, quote=False) for line in cover_lines(made))
    cover = "".join(f"<p>{line}</p>" for line in lines)
    return (
        "<html><body>" + BREAK.join([cover, *(sheet_html(page, made.style) for page in made.pages)]) + "</body></html>"
    )


def fact(concept: str, context: str, text: str, scale: int = 0, unit: str = "usd", more: str = "") -> str:
    """A number tagged with inline XBRL; ``more`` are further attributes."""
    attributes = f'name="{concept}" contextRef="{context}" unitRef="{unit}" decimals="0" scale="{scale}" {more}'
    return f'<ix:nonFraction {attributes} format="ixt:num-dot-decimal">{text}</ix:nonFraction>'


def tagged_html(made: Made) -> str:
    """A filing with inline XBRL: ``pages`` hold the tagged figures, the cover the company's facts."""
    known = (*_TAGGED_CONTEXTS, *filter(None, made.contexts.split("\n")))
    contexts = "".join(_context(*line.split(), cik=_number(made)) for line in known)
    units = "".join(f'<xbrli:unit id="{name}">{measure}</xbrli:unit>' for name, measure in _UNITS.items())
    hidden = "".join(
        f'<ix:nonNumeric name="dei:{name}" contextRef="y24">{value}</ix:nonNumeric>'
        for name, value in {
            "EntityCentralIndexKey": f"00000{_number(made)}",
            "DocumentFiscalYearFocus": "2024",
            "DocumentFiscalPeriodFocus": "FY",
            "DocumentType": made.form,
            "EntityRegistrantName": made.name,
            "DocumentPeriodEndDate": "2024-12-31",
        }.items()
    )
    head = f"<ix:header><ix:hidden>{hidden}</ix:hidden><ix:resources>{contexts}{units}</ix:resources></ix:header>"
    opened = f'<html {_NAMESPACES}><body><div style="display:none">{head}</div>'
    return page_html(made).replace("<html><body>", opened)


_NAMESPACES = (
    'xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL" '
    'xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:xbrldi="http://xbrl.org/2006/xbrldi" '
    'xmlns:us-gaap="http://fasb.org/us-gaap/2024" xmlns:dei="http://xbrl.sec.gov/dei/2024" '
    'xmlns:iso4217="http://www.xbrl.org/2003/iso4217" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" xmlns:xx="http://example.com/2024"'
)
_UNITS = {
    "usd": "<xbrli:measure>iso4217:USD</xbrli:measure>",
    "shares": "<xbrli:measure>xbrli:shares</xbrli:measure>",
    "usdps": "<xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unitNumerator>"
    "<xbrli:unitDenominator><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unitDenominator></xbrli:divide>",
}
_TAGGED_CONTEXTS = ("y24 2024-01-01..2024-12-31", "y23 2023-01-01..2023-12-31", "e24 2024-12-31", "e23 2023-12-31")


def _context(name: str, period: str, member: str = "", *, cik: int) -> str:
    first, _, last = period.partition("..")
    dates = f"<xbrli:startDate>{first}</xbrli:startDate><xbrli:endDate>{last}</xbrli:endDate>"
    axis, _, value = member.partition("=")
    segment = f'<xbrldi:explicitMember dimension="us-gaap:{axis}">{value}</xbrldi:explicitMember>'
    return (
        f'<xbrli:context id="{name}"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">00000{cik}'
        f"</xbrli:identifier>{f'<xbrli:segment>{segment}</xbrli:segment>' if member else ''}</xbrli:entity>"
        f"<xbrli:period>{dates if last else f'<xbrli:instant>{first}</xbrli:instant>'}</xbrli:period></xbrli:context>"
    )


def typed_sheet(sheet: Sheet | str, *, tags: bool = True, dots: bool = True) -> str:
    """A sheet as a typewriter has it."""
    if isinstance(sheet, str):
        return sheet
    number = width(sheet)
    heads = [text for head in sheet.heads for text, n in spans(head, number)[1:] if n == 1]
    cell = max([_TYPED_CELL, *(len(text) + sheet.spaced for text in heads)])
    out = [line.center(_TYPED_LABEL + cell * number).rstrip() for line in sheet.title]
    out += ["<TABLE>", "<CAPTION>"] if tags else [""]
    for head in sheet.heads:
        corner, *others = spans(head, number)
        line = corner[0].ljust(_TYPED_LABEL)
        for text, n in others:
            line += f" {text}".rjust(cell) if n == 1 else text.center(cell * n)
        out.append(line.rstrip())
    rule = " " * _TYPED_LABEL + ("  " + "-" * (cell - 2)) * number
    out.append(rule)
    if tags:
        out.append("<S>".ljust(_TYPED_LABEL) + "<C>".ljust(cell) * number)
    for line in sheet.rows.strip("\n").split("\n"):
        label, *figures = line.split("|")
        label = label.rstrip()
        if figures and dots:
            label = label.ljust(_TYPED_LABEL - 2, ".")
        out.append((label.ljust(_TYPED_LABEL) + "".join(f.strip().rjust(cell) for f in figures)).rstrip())
    out += ["</TABLE>"] if tags else [""]
    return "\n".join([*out, *sheet.after])


def typed(made: Made) -> str:
    cover = "\n".join(line.center(78).rstrip() for line in cover_lines(made))
    return "\n<PAGE>\n".join([cover, *(typed_sheet(page) for page in made.pages)])


def header(made: Made) -> str:
    accession = f"00009{_number(made)}-25-000001"
    years = [int(year) + (made.form[0] != "6") for year in re.findall(r"(?:19|20)\d\d", made.covers)]
    lines = (
        f"<SEC-DOCUMENT>{accession}.txt : 20250220",
        f"<SEC-HEADER>{accession}.hdr.sgml : 20250220",
        f"ACCESSION NUMBER:\t\t{accession}",
        f"CONFORMED SUBMISSION TYPE:\t{made.form}",
        f"PUBLIC DOCUMENT COUNT:\t\t{1 + len(made.others)}",
        f"FILED AS OF DATE:\t\t{years[-1] if years else 2025}0220",
        "\nFILER:\n\n\tCOMPANY DATA:",
        f"\t\tCOMPANY CONFORMED NAME:\t\t\t{made.name.upper()}",
        f"\t\tCENTRAL INDEX KEY:\t\t\t00009{_number(made)}",
        f"\n\tFILING VALUES:\n\t\tFORM TYPE:\t\t{made.form}",
        "</SEC-HEADER>\n",
    )
    return "\n".join(lines)


def document(kind: str, text: str, number: int = 1) -> str:
    return (
        f"<DOCUMENT>\n<TYPE>{kind}\n<SEQUENCE>{number}\n<FILENAME>d{number}.htm\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n"
    )


def submission(made: Made, documents: Sequence[tuple[str, str]]) -> str:
    blocks = "".join(document(kind, text, n) for n, (kind, text) in enumerate(documents, 1))
    return f"{header(made)}{blocks}</SEC-DOCUMENT>\n"


def _pdf(made: Made) -> bytes:
    book = pymupdf.open()
    for number, sheet in enumerate(made.pages, -1):
        if number < 0:
            page = book.new_page()
            for at, line in enumerate(cover_lines(made)):
                page.insert_text((90, 70 + 18 * at), line, fontsize=9)
        assert isinstance(sheet, Sheet)
        _draw(book.new_page(), sheet)
    content: bytes = book.tobytes()
    return content


def _draw(page: pymupdf.Page, sheet: Sheet) -> None:
    font, writer = pymupdf.Font("helv"), pymupdf.TextWriter(page.rect)

    def put(x: float, y: float, text: str, size: float = 9) -> None:
        for nudge in (0, 0.25) if sheet.doubled else (0,):
            writer.append((x + nudge, y), text, font=font, fontsize=size)

    number, y = width(sheet), 70.0
    step = min(90.0, 300 / number)
    rights = [560 - step * (number - 1 - i) for i in range(number)]
    for line in sheet.title:
        put(180, y, line)
        y += 13
    y += 8
    for head in sheet.heads:
        corner, *others = spans(head, number)
        if corner[0]:
            put(50, y, corner[0])
        at = 0
        for text, n in others:
            middle = (rights[at] - step + 12 + rights[at + n - 1]) / 2 if n > 1 else rights[at] - 18
            put(middle - pymupdf.get_text_length(text, fontsize=9) / 2, y, text)
            at += n
        y += 13
    for line in sheet.rows.strip("\n").split("\n"):
        label, *figures = line.split("|")
        put(50 + 5 * (len(label) - len(label.lstrip())), y, label.strip())
        for right, figure in zip(rights, map(str.strip, figures), strict=False):
            text, raised = (re.fullmatch(r"(.*?)(?:<sup>(.*)</sup>)?", figure) or [""]).group(1, 2)  # type: ignore[union-attr]
            put(right - pymupdf.get_text_length(text.rstrip(")"), fontsize=9), y, text)
            if raised:
                put(right + 1 + 3 * text.endswith(")"), y - 3, raised, 5.5)
        y += 13
    for line in sheet.after:
        y += 13
        put(50, y, line, 7)
    upwards = pymupdf.Matrix(90)
    writer.write_text(page, morph=(pymupdf.Point(400, 400), upwards) if sheet.turned else None)
    if sheet.turned == "page":
        page.set_rotation(90)


def is_right(gold: Gold, value: float | None, unit: str | None, answer: str) -> bool:
    if isinstance(gold, str):
        return gold in answer
    if isinstance(gold, tuple):
        return is_right(gold[0], value, unit, answer) and unit == gold[1]
    if gold is None or value is None:
        return gold is None and value is None
    return abs(value - gold) <= 1e-6 * max(1.0, abs(gold))
