"""Prints a draft to a file, and records the page of each keyed item."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from finray.core.filing import FiscalPeriod
from finray.lab.sample.blocks import Para, Placed, Sheet, WordTable
from finray.lab.sample.cover import Draft, hidden_facts
from finray.lab.sample.inline_xbrl import Tagger
from finray.lab.sample.layout import number_contents, paginate
from finray.lab.sample.render_html import render_html
from finray.lab.sample.render_pdf import render_pdf
from finray.lab.sample.render_submission import render_submission

Format = Literal["pdf", "html", "txt"]
SUFFIX: dict[Format, str] = {"pdf": ".pdf", "html": ".htm", "txt": ".txt"}


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a printed item: 0-based page, and its words."""

    page: int
    text: str


@dataclass(frozen=True, slots=True)
class PrintedFiling:
    """One file of the sample. ``spots`` maps ``"income:revenue"`` (table and row) or the key of a paragraph to its
    place."""

    doc_name: str
    file_name: str
    cik: str
    form: str
    fiscal_year: int
    fiscal_period: FiscalPeriod | None
    end: dt.date
    filed_at: dt.date
    amends: str | None
    pages: int
    spots: dict[str, Spot]


def print_filing(draft: Draft, formats: Sequence[Format], seed: int) -> tuple[PrintedFiling, bytes]:
    """Print the file and its record. The format is drawn from ``formats`` and depends only on seed and filing."""
    sheets = number_contents(paginate(draft.blocks), _first_numbered(draft))
    kind = random.Random(f"{seed}:format:{draft.doc_name}").choice(sorted(formats))
    if draft.form.startswith("EX-") and kind == "txt":
        # An exhibit is never a submission of its own.
        kind = "html" if "html" in formats else "pdf"
    name = draft.accession if kind == "txt" else draft.doc_name
    filing = PrintedFiling(
        name,
        name + SUFFIX[kind],
        draft.company.cik,
        draft.form,
        draft.fiscal_year,
        draft.fiscal_period,
        draft.end,
        draft.filed_at,
        draft.amends,
        len(sheets),
        _spots(sheets, draft.texts),
    )
    return filing, _content(draft, sheets, kind)


def write_file(path: Path, content: bytes) -> None:
    """Write the file atomically, so that a killed run leaves no partial filing, and create its folder if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _content(draft: Draft, sheets: Sequence[Sheet], kind: Format) -> bytes:
    title = f"{draft.registrant} {draft.form}"
    if kind == "pdf":
        return render_pdf(sheets, title=title, running_head=draft.periodic, first_numbered=_first_numbered(draft))
    # The smallest filers have no inline XBRL: their covers must be read as text.
    tagged = draft.company.scale != "dollars" and not draft.form.startswith("EX-")
    tagger = Tagger(draft.company, draft.start, draft.end, enabled=tagged)
    html = render_html(
        sheets,
        tagger,
        title=title,
        running_head=draft.periodic,
        first_numbered=_first_numbered(draft),
        hidden=hidden_facts(draft),
    )
    return (render_submission(draft, html) if kind == "txt" else html).encode()


def _first_numbered(draft: Draft) -> int:
    """Printed page numbers start after the cover and, in an annual report, its table of contents."""
    return 2 if draft.form == "10-K" else 1


def _spots(sheets: Sequence[Sheet], texts: dict[str, str]) -> dict[str, Spot]:
    spots: dict[str, Spot] = {}
    for page, sheet in enumerate(sheets):
        for placed in sheet:
            for key, text in _keyed(placed, texts):
                spots.setdefault(key, Spot(page, text))
    return spots


def _keyed(placed: Placed, texts: dict[str, str]) -> list[tuple[str, str]]:
    block = placed.block
    if block.key is None:
        return []
    if isinstance(block, Para):
        return [(block.key, texts.get(block.key, block.text))]
    if isinstance(block, WordTable):
        return [(block.key, "\n".join(" ".join(row) for row in block.rows))]
    return [(block.key, "")] + [
        (f"{block.key}:{row.key}", " ".join([row.label, *(cell.printed for cell in row.cells if cell)]))
        for row in block.rows
        if row.key
    ]
