"""Grades the cells that finray parses from PDF against the inline XBRL tags of the same filing, printed by a browser.

    python benchmarks/printed_tags.py EDGAR_HTML [--split develop] [--examples] [--keep FOLDER]

Each HTML filing with inline XBRL is printed to PDF by headless Chromium, in turn with another size of paper, margin,
scale and typeface, and parsed from that PDF. Each numeric tag in a table is a key: its value with the sign as printed,
unit and period, with the row's label as the HTML parser has it. The grades are those of ``table_cells.py``. A period
is graded if its year stands in the table, and its column is not headed by a later one, as obligations are: their tags
have the date at which they are reported. Filings are split by company, as in ``table_cells``.

Needs the command ``chromium`` (Debian: ``apt-get install chromium``), or ``--chromium PATH``; without it the benchmark
says so and ends.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pymupdf as untyped_pymupdf
from table_cells import GRADES, Graded, graded, shares

from finray.core.filing import LineItem
from finray.core.settings import FilingSettings
from finray.core.tables import Row, Table
from finray.filings.read import parse_filing

pymupdf: Any = untyped_pymupdf
VALIDATE: Final = ("aapl", "ko", "nflx", "Oracle", "wmt")
"""How names of files begin whose company counts in ``validate``; ``table_cells`` has them there, too."""
LAYOUTS: Final = (
    "@page{size:letter;margin:.5in}",
    "@page{size:A4;margin:18mm} body{zoom:.85}",
    "@page{size:legal;margin:.4in} body{zoom:.7} *{font-family:sans-serif!important}",
    "@page{size:letter landscape;margin:.75in} body{zoom:1.1} *{font-family:serif!important}",
)
"""Style sheets, which change the place and the width of every word."""
WHOLE_ROWS: Final = "tr{break-inside:avoid}"
"""Keeps the browser from cutting the lines of a row in halves at the end of a page."""
_TAGGED = b"<ix:nonfraction"
_YEAR = re.compile(r"\b20\d\d\b")
_WORD = re.compile(r"[\d.,]*\d")
_PAGES = 2
"""Pages among which the cells of a table are looked for: it may be printed over a page break."""


@dataclass(frozen=True, slots=True)
class Key:
    """A tagged cell in the form that :func:`table_cells.graded` takes, with its table in the filing."""

    table: int
    fields: dict[str, Any]


def printed(html: Path, style: str, chromium: str, folder: Path) -> bytes:
    """``html`` printed to PDF with ``style``; kept in ``folder``. Raises CalledProcessError if the browser fails."""
    styled = folder / f"{html.stem}.html"
    target = folder / f"{html.stem}-{LAYOUTS.index(style)}.pdf"
    if not target.exists():
        content = html.read_bytes()
        styled.write_bytes(content.replace(b"</head>", f"<style>{style} {WHOLE_ROWS}</style></head>".encode(), 1))
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        subprocess.run(
            [*command, f"--print-to-pdf={target}", styled.as_uri()], check=True, capture_output=True, timeout=300
        )
        styled.unlink()
    return target.read_bytes()


def keys(tables: Sequence[Table]) -> Iterator[Key]:
    """A key for each tagged figure, or dash, in ``tables``."""
    for number, table in enumerate(tables):
        heads = {column.column: column.heads for column in table.columns}
        around = " ".join([table.title, table.caption, *(row.label for row in table.rows if row.is_heading)])
        for row in table.rows:
            for cell in row.cells:
                if cell.concept is None or cell.value is None or not row.label:
                    continue
                column = " ".join(heads.get(cell.column, ()))
                near = f"{column} {around} {row.label} {row.section or ''} {_balances(table)}"
                end = cell.period_end
                ahead = end is not None and any(int(year) > end.year for year in _YEAR.findall(column))
                fields = {
                    "label": row.label,
                    "section": row.section,
                    "table": table.title or table.caption,
                    "column": column,
                    "text": cell.text,
                    "stands": "dash" if cell.stands == "dash" else None,
                    "value": cell.value,
                    "unit": cell.unit,
                    "dated": end is not None and not ahead and str(end.year) in near,
                    "period_end": end.isoformat() if end else None,
                    "months": cell.months,
                    "concept": cell.concept,
                    "kind": table.statement or "note",
                }
                yield Key(number, fields)


def _balances(table: Table) -> str:
    return " ".join(row.label for row in table.rows if "20" in row.label) if table.statement == "equity" else ""


def places(tables: Sequence[Table], pages: Sequence[Counter[str]]) -> dict[int, int]:
    """For each table, the PDF page from which on most of its numbers stand; of equal pages, the first behind the table
    before."""
    found: dict[int, int] = {}
    last = 0
    for number, table in enumerate(tables):
        numbers = Counter(word for row in table.rows for word in _numbers(row))
        shared = [
            sum((numbers & (page + following)).values()) + 0.5 * sum((numbers & page).values())
            for page, following in zip(pages, (*pages[1:], Counter()), strict=True)
        ]
        best = max(shared)
        found[number] = last = min(
            (at for at, score in enumerate(shared) if score == best), key=lambda at: (at < last, abs(at - last))
        )
    return found


def _numbers(row: Row) -> list[str]:
    return [word for cell in row.cells for word in _WORD.findall(cell.text)]


def grades(html: Path, pdf: bytes) -> Iterator[Graded]:
    """The grades of each key of ``html``, read from ``pdf``."""
    settings = FilingSettings()
    tables = parse_filing(html.read_bytes(), str(html), settings).tables
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        pages = [
            Counter(word for each in page.get_text("words") for word in _WORD.findall(each[4])) for page in document
        ]
    place = places(tables, pages)
    read: dict[int, list[LineItem]] = {}
    for item in parse_filing(pdf, f"{html.stem}.pdf", settings).line_items:
        read.setdefault(item.page, []).append(item)
    for key in keys(tables):
        first = place[key.table]
        near = [item for page in range(first, first + _PAGES) for item in read.get(page, ())]
        found = (
            graded({**key.fields, "label": label, "doc_name": html.stem, "page": first}, near)
            for label in labels(key.fields["label"])
        )
        yield max(found, key=lambda each: sum(each.right.values()))


def labels(label: str) -> list[str]:
    """``label``, and what it may be without the texts of further columns, which the HTML parser joins to it: "Notes
    due 2027 Level 2", "Forward contracts Other assets". The lines of a wrapped label begin in lower case."""
    words = label.split()
    cuts = (at for at in range(2, len(words)) if not words[at][:1].islower())
    return [label, *(" ".join(words[:at]) for at in cuts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("html", type=Path, help="folder of EDGAR's HTML files")
    parser.add_argument("--split", choices=("develop", "validate"), default="develop")
    parser.add_argument("--layouts", type=int, default=1, help="layouts of each filing, at most %(choices)s",
                        choices=range(1, len(LAYOUTS) + 1))  # fmt: skip
    parser.add_argument("--chromium", default="chromium", help="the browser's command")
    parser.add_argument("--keep", type=Path, help="folder that keeps the PDFs, which are then not printed again")
    parser.add_argument("--examples", action="store_true", help="print the cells that are not all right")
    options = parser.parse_args()
    chromium = shutil.which(options.chromium)
    if chromium is None:
        print(f"skipped: no {options.chromium!r} here; install chromium or name it with --chromium", file=sys.stderr)
        return
    filings = [
        path
        for path in sorted(options.html.iterdir())
        if path.name.startswith(VALIDATE) == (options.split == "validate") and _TAGGED in path.read_bytes().lower()
    ]
    results: list[Graded] = []
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep or Path(folder)
        keep.mkdir(parents=True, exist_ok=True)
        for number, html in enumerate(filings):
            for step in range(options.layouts):
                style = LAYOUTS[(number + step) % len(LAYOUTS)]
                results += grades(html, printed(html, style, chromium, keep))
    print("\n".join(shares(results)))
    for each in results if options.examples else ():
        if not each.right["all right"]:
            print([grade for grade in GRADES if not each.right[grade]], each.key, each.read)


if __name__ == "__main__":
    main()
