"""The tagged numbers of one filing as distinct facts, with the pages that print them."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from finray.core.errors import FilingError
from finray.core.filing import Filing, Page
from finray.core.settings import FilingSettings
from finray.filings.cover.submission import parse_submission
from finray.filings.html import inline_xbrl
from finray.filings.html.pages import HtmlPage, parse_html, split_pages
from finray.filings.html.table_text import row_cells
from finray.filings.html.tree import Element, text_content
from finray.filings.read import parse_filing
from finray.filings.sniff import is_markup, sniff

Members = tuple[tuple[str, str], ...]
FactKey = tuple[str, dt.date | None, dt.date, Members]
"""Concept, start, end, members."""

_EXACT = 99
_PRECISION = Decimal("0.004")
_OPERATING = ("srt:ConsolidationItemsAxis", "us-gaap:OperatingSegmentsMember")
"""Marks a segment's value as that of a segment; the value is the same with and without it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A page that prints a fact. ``printed`` is the printed number, ``line`` its row or paragraph, ``label`` the first
    cell of that row ("" in prose)."""

    page: int
    printed: str
    line: str
    label: str


@dataclass(frozen=True, slots=True)
class Fact:
    """``value`` is exact, in base units of ``unit`` ("usd", "usd/shares", "shares", "pure"; 0.21 is 21%).

    ``decimals`` is its precision as in XBRL: -6 is rounded to millions. For an instant ``start`` is None and ``months``
    0. ``members`` are (axis, member), empty for the whole company. ``places`` are the pages that print the value at
    full precision, in reading order.
    """

    concept: str
    start: dt.date | None
    end: dt.date
    months: int
    members: Members
    unit: str
    value: Decimal
    decimals: int
    places: tuple[Place, ...]

    @property
    def key(self) -> FactKey:
        return self.concept, self.start, self.end, self.members

    @property
    def operand(self) -> str:
        """The fact in a gold program: "us-gaap:Assets[2024-12-31]"."""
        members = "".join(f", {member}" for _, member in self.members)
        period = f"{self.end}" if self.start is None else f"{self.start}..{self.end}"
        return f"{self.concept}[{period}{members}]"

    @property
    def precise(self) -> bool:
        """Whether the value is precise enough for calculations: its rounding error is at most a fifth of a percent."""
        return Decimal(1).scaleb(-self.decimals) <= abs(self.value) * _PRECISION

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(place.page for place in self.places))


@dataclass(frozen=True, slots=True)
class TaggedFiling:
    filing: Filing
    pages: tuple[Page, ...]
    facts: tuple[Fact, ...]


def read_tagged_filing(content: bytes, source_uri: str, settings: FilingSettings) -> TaggedFiling:
    """The filing and its visible facts, in reading order; no facts for a filing without tags.

    Zeros, nils and facts with two different values (one restated or wrong) are left out; values that differ only in
    precision are the same. Raises FilingError like :func:`parse_filing`.
    """
    parsed = parse_filing(content, source_uri, settings)
    markup = _markup(content, settings)
    if markup is None:
        return TaggedFiling(parsed.filing, parsed.pages, ())
    root = parse_html(markup)
    if not inline_xbrl.has_inline_xbrl(root):
        return TaggedFiling(parsed.filing, parsed.pages, ())
    pages = split_pages(root, settings)
    if [page.text for page in pages] != [page.text for page in parsed.pages if page.document is None]:
        raise FilingError("parse", "pages_differ", "two readings of the filing gave different pages; report this file")
    return TaggedFiling(parsed.filing, parsed.pages, _facts(root, pages))


def _markup(content: bytes, settings: FilingSettings) -> bytes | None:
    kind = sniff(content, settings)
    if kind == "submission":
        content = parse_submission(content).body.encode()
        return content if is_markup(content) else None
    return content if kind == "html" else None


@dataclass(frozen=True, slots=True)
class _Tagged:
    """One tagged value at the precision of its ``decimals`` attribute."""

    value: Decimal
    decimals: int
    place: Place


_Key = tuple[str, dt.date | None, dt.date, int, Members, str]


def _facts(root: Element, pages: Sequence[HtmlPage]) -> tuple[Fact, ...]:
    page_of = {element: number for number, page in enumerate(pages) for element in page.tagged}
    contexts = inline_xbrl.contexts(root)
    tagged: dict[_Key, list[_Tagged]] = defaultdict(list)
    for tag in inline_xbrl.numeric_facts(root):
        context, page = contexts.get(tag.context), page_of.get(tag.element)
        if context is None or page is None:
            continue
        printed = " ".join(text_content(tag.element).split())
        value = Decimal(repr(tag.value))
        members = tuple(member for member in context.members if len(context.members) == 1 or member != _OPERATING)
        key = (tag.concept, context.start, context.end, context.months, members, tag.unit)
        tagged[key].append(_Tagged(value, _decimals(tag.element), _place(tag.element, page, printed)))
    facts = []
    for (concept, start, end, months, members, unit), values in tagged.items():
        best = max(values, key=lambda each: each.decimals)
        if best.value == 0 or not all(_agree(best, each) for each in values):
            continue
        places = tuple(dict.fromkeys(each.place for each in values if each.value == best.value))
        facts.append(Fact(concept, start, end, months, members, unit, best.value, best.decimals, places))
    return tuple(facts)


def _decimals(element: Element) -> int:
    text = (element.get("decimals") or "INF").strip()
    return int(text) if re.fullmatch(r"[+-]?\d{1,2}", text) else _EXACT


def _agree(best: _Tagged, other: _Tagged) -> bool:
    """Whether the more precise value, rounded or truncated to the other's digits, is the other."""
    if best.value == other.value:
        return True
    try:
        return abs(best.value - other.value) < Decimal(1).scaleb(-other.decimals) and other.decimals != best.decimals
    except InvalidOperation:
        return False


def _place(element: Element, page: int, printed: str) -> Place:
    row = next(element.iterancestors("tr"), None)
    if row is not None:
        cells = row_cells(row)
        label = cells[0] if cells and printed not in cells[0] else ""
        return Place(page, printed, " | ".join(cells), label)
    block = next(element.iterancestors("p", "div", "td", "li", "body"), element)
    return Place(page, printed, " ".join(text_content(block).split())[:1000], "")


def by_key(facts: Sequence[Fact]) -> Mapping[FactKey, Fact]:
    """Facts by concept, period and members, without those that have two units (dollars and shares)."""
    counts = Counter(fact.key for fact in facts)
    return {fact.key: fact for fact in facts if counts[fact.key] == 1}
