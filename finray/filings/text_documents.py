"""The documents of a text file: the main one, and those exhibits of its submission that hold results.

Regulation S-K, Item 601, numbers the exhibits: 13 is the annual report to holders, whose statements a 10-K may
incorporate; 99 holds releases and whatever has no number of its own. A statement may be in others, too: 19 and 20 in
the 1990s, 1 of a 6-K.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from finray.core.errors import FilingError
from finray.core.filing import FactSource, Filing, FiscalPeriod, LineItem, Statement
from finray.core.forms import CURRENT
from finray.core.settings import FilingSettings
from finray.filings.cover.fiscal import fiscal_quarter, fiscal_year
from finray.filings.cover.release import read_release
from finray.filings.cover.submission import Document
from finray.filings.html import inline_xbrl
from finray.filings.html.grid import table_grid
from finray.filings.html.pages import HtmlPage, check_paging, parse_html, split_pages
from finray.filings.html.tagged_facts import facts_beside_tables
from finray.filings.html.tree import Element
from finray.filings.plain_text import TypedPage, typed_pages
from finray.filings.sniff import decode, is_markup
from finray.filings.tables.grids import Grid
from finray.filings.tables.statements import MAIN_KINDS, label_statements
from finray.filings.tables.tags import Context, Tags
from finray.filings.typed_tables import typed_grids

_RESULTS = re.compile(r"EX-(?:13|99)(?![0-9])", re.IGNORECASE)
"""Types of exhibits that are read whatever they hold."""
_NEVER = re.compile(r"EX-(?:27|31|32)(?![0-9])", re.IGNORECASE)
"""Types that are never read: financial data schedules, which repeat figures of the statements, and certifications."""
_TITLE = re.compile(
    r"balance\s{1,9}sheets?|statements?\s{1,9}of\s{1,9}(?:consolidated\s{1,9})?(?:net\s{1,9})?"
    r"(?:operations|income|earnings|loss|financial|cash)|income\s{1,9}statements?",
    re.IGNORECASE,
)
_ROW = re.compile(r"total\s{1,9}assets|net\s{1,9}(?:income|loss|earnings|\(loss\)|cash)|profit", re.IGNORECASE)
_LONGEST_DELAY = 200
"""Days after the end of a period in which its results are announced."""
_SPACED = "   "


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A document as it is read. ``kind`` is the type of an exhibit, None for the main document."""

    kind: str | None
    pages: tuple[HtmlPage, ...]
    statements: tuple[Statement | None, ...]
    root: Element | None = None
    """The element tree of HTML."""
    typed: tuple[TypedPage, ...] = ()
    """The pages of a typed document."""

    @property
    def texts(self) -> list[str]:
        return [page.text for page in self.pages]

    def grids(self, number: int) -> list[Grid]:
        """The tables of page ``number`` of this document."""
        if self.typed:
            return typed_grids(self.typed[number].typed, number)
        read = self.pages[number]
        if not read.tables and _SPACED in read.text:  # typed text in HTML: <PRE>
            return typed_grids(read.text, number)
        found = (table_grid(table, number, above) for table, above in zip(read.tables, read.captions, strict=True))
        return [grid for grid in found if grid is not None]

    def tagged(self, tags: Tags, first: int, read: Sequence[LineItem]) -> list[LineItem]:
        """Its tagged numbers that are not among the line items ``read`` from its tables; ``first`` is the number of its
        first page in the filing."""
        if self.root is None or not tags.contexts:
            return []
        found = facts_beside_tables(self.root, self.pages, tags, read)
        return [replace(item, page=first + item.page) for item in found]


def read_document(body: bytes, settings: FilingSettings, *, html: bool, kind: str | None = None) -> TextDocument:
    """Read the text of one document, in HTML or typed. Raises FilingError (stage "parse")."""
    if html:
        root = parse_html(body)
        pages = tuple(split_pages(root, settings))
        return TextDocument(kind, pages, tuple(label_statements([page.text for page in pages])), root)
    typed = tuple(typed_pages(decode(body)))
    pages = tuple(HtmlPage(page.text) for page in typed)
    check_paging(pages, settings)
    return TextDocument(kind, pages, tuple(label_statements([page.text for page in pages])), typed=typed)


def read_exhibits(
    main: TextDocument, others: Sequence[Document], form: str, settings: FilingSettings
) -> tuple[list[TextDocument], list[str]]:
    """The documents among ``others`` that hold results, and the types of those that are left out.

    If a periodic report prints its statements itself, those of an exhibit 99 are another company's (Regulation S-X,
    Rule 3-09) or a plan's, so they are not its primary statements. An exhibit that cannot be read is left out.
    """
    read: list[TextDocument] = []
    left_out: list[str] = []
    pages, characters = len(main.pages), sum(map(len, main.texts))
    stated = _has_statements(main) and not form.startswith(CURRENT)
    for other in others:
        document = _read_exhibit(other, settings)
        size = sum(map(len, document.texts)) if document is not None else 0
        if document is None or (
            pages + len(document.pages) > settings.max_pages or characters + size > settings.max_characters
        ):
            left_out.append(other.kind or "without type")
            continue
        pages, characters = pages + len(document.pages), characters + size
        if stated and not other.kind.startswith("EX-13"):
            document = replace(document, statements=(None,) * len(document.pages))
        read.append(document)
    return read, left_out


def _read_exhibit(other: Document, settings: FilingSettings) -> TextDocument | None:
    """The exhibit, if it holds results and can be read."""
    expected = _RESULTS.match(other.kind) is not None
    if _NEVER.match(other.kind) or not (expected or (_TITLE.search(other.body) and _ROW.search(other.body))):
        return None
    body = other.body.encode()
    try:
        document = read_document(body, settings, html=is_markup(body), kind=other.kind)
    except FilingError:
        return None
    return document if document.pages and (expected or _has_statements(document)) else None


def _has_statements(document: TextDocument) -> bool:
    return any(statement in MAIN_KINDS for statement in document.statements)


def tags_of(documents: Sequence[TextDocument]) -> Tags:
    """The contexts and units of all ``documents``: the tags of an exhibit may refer to those of the main document."""
    contexts: dict[str, Context] = {}
    units: dict[str, str] = {}
    for document in documents:
        if document.root is not None and inline_xbrl.has_inline_xbrl(document.root):
            contexts |= inline_xbrl.contexts(document.root)
            units |= inline_xbrl.units(document.root)
    return Tags(contexts, units)


def dated_by(document: TextDocument, filing: Filing) -> Filing:
    """``filing`` with the period that the exhibit ``document`` of a current report is about, for the columns of its
    tables: the report's own date is that of the announcement."""
    if document.kind is None or not filing.form.startswith(CURRENT):
        return filing
    facts = read_release(document.texts)
    if facts is None:
        return filing
    return replace(
        filing,
        period_end=facts.period_end or filing.period_end,
        fiscal_year=facts.fiscal_year,
        fiscal_period=facts.fiscal_period,
        fiscal_year_end=facts.fiscal_year_end or filing.fiscal_year_end,
    )


def with_results(filing: Filing, exhibits: Sequence[TextDocument], items: Sequence[LineItem]) -> Filing:
    """A current report with the fiscal period whose results its ``exhibits`` announce, as a release says or else as
    their statements are dated; ``items`` are the line items."""
    if not exhibits or filing.fiscal_period is not None or not filing.form.startswith(CURRENT):
        return filing
    for document in exhibits:
        dated = dated_by(document, filing)
        if dated.fiscal_period is not None and dated.period_end != filing.period_end:
            return _announcing(filing, dated.period_end, dated.fiscal_year, dated.fiscal_period)
    last = filing.period_end or filing.filed_at or dt.date.max
    ends = {item.period_end for item in items if item.statement in MAIN_KINDS and item.period_end is not None}
    end = max((end for end in ends if end <= last), default=None)
    if end is None or filing.fiscal_year_end is None or (last - end).days > _LONGEST_DELAY:
        return filing
    year, quarter = fiscal_year(end, filing.fiscal_year_end), fiscal_quarter(end, filing.fiscal_year_end)
    return _announcing(filing, end, year, quarter)


def _announcing(filing: Filing, end: dt.date | None, year: int | None, period: FiscalPeriod | None) -> Filing:
    provenance: dict[str, FactSource] = {**filing.provenance, "fiscal_period": "text"}
    if year is not None:
        provenance["fiscal_year"] = "text"
    return replace(filing, results_end=end, fiscal_year=year, fiscal_period=period, provenance=provenance)
