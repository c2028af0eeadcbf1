"""The pages of retrieved passages as tables and prose, from the index: what evidence is chosen from."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from finray.core.filing import Filing, LineItem, Page, Place
from finray.core.passages import Passage
from finray.evidence.page_parts import ProsePart, TablePart, is_contents, page_parts
from finray.evidence.sentences import Sentence, begins_inside, breaks_off, sentences
from finray.evidence.tables import ItemRows, Table, aligned, of_items
from finray.index.reading.facts import FilingFacts

MIN_MATCHED = 0.5
"""Share of the rows of line items that must be found in the page's text; else the text is not in reading order."""
MIN_ITEM_ROWS = 4
HEAD_CHARACTERS = 600
EDGE_CHARACTERS = 2_500
"""How much of a page is read for the rest of a sentence."""
_NO_EVIDENCE: frozenset[Place | None] = frozenset(("contents", "signatures", "exhibit_index"))
_CONSENT = re.compile(r"\bconsent of (?:the )?independent|\bwe (?:hereby )?consent to the incorporation", re.I)
_POWER = re.compile(r"^[^\w\n]*+(?:power of attorney|signatures?)[^\w\n]*+$", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences of a page in order. ``before`` and ``after`` are the rest of the first and the last sentence if they
    are on the pages beside it."""

    heading: str
    sentences: tuple[Sentence, ...]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One retrieved page. ``passages`` are those on it, best first; ``rank`` that of the best among all pages."""

    filing: Filing
    page: Page
    rank: int
    passages: tuple[Passage, ...]
    parts: tuple[Table | Prose, ...]

    @property
    def place(self) -> tuple[str, int]:
        return self.filing.filing_id, self.page.page


def candidates(
    passages: Sequence[Passage], facts: FilingFacts, more: Collection[tuple[str, int]] = ()
) -> list[Candidate]:
    """The pages of ``passages`` by rank, then ``more`` pages, without signatures, contents and the like."""
    by_place: dict[tuple[str, int], list[Passage]] = {}
    for passage in passages:
        by_place.setdefault((passage.filing_id, passage.page), []).append(passage)
    for place in more:
        by_place.setdefault(place, [])
    read = _read(by_place, facts)
    found = [
        Candidate(facts.filing(place[0]), read[place].page, rank, tuple(own), read[place].parts)
        for rank, (place, own) in enumerate(by_place.items())
        if place in read and _may_be_evidence(read[place].page)
    ]
    return _joined_over_pages(found, {place: each.page for place, each in read.items()}, facts)


def tables_of(page: Page, items: Sequence[LineItem], filing: Filing) -> list[Table]:
    """The tables of a page of ``filing`` in reading order, without contents. ``items`` are the page's line items."""
    return [part for part in _parts(page, items, filing) if isinstance(part, Table)]


class _ReadPage(NamedTuple):
    page: Page
    parts: tuple[Table | Prose, ...]


_READ: WeakKeyDictionary[FilingFacts, OrderedDict[tuple[str, int], _ReadPage]] = WeakKeyDictionary()
"""Pages read last: the rounds and roles of one question show the same ones."""
_KEPT_PAGES = 128


def _read(places: Collection[tuple[str, int]], facts: FilingFacts) -> dict[tuple[str, int], _ReadPage]:
    """The pages at ``places`` that the index has."""
    kept = _READ.setdefault(facts, OrderedDict())
    known = {place: kept[place] for place in places if place in kept}
    if absent := [place for place in places if place not in known]:
        items = _items_of(absent, facts)
        for place, page in facts.pages(absent).items():
            known[place] = _ReadPage(page, _parts(page, items[place], facts.filing(place[0])))
    for place, each in known.items():
        kept[place] = each
        kept.move_to_end(place)
    while len(kept) > _KEPT_PAGES:
        kept.popitem(last=False)
    return known


def _items_of(places: Collection[tuple[str, int]], facts: FilingFacts) -> dict[tuple[str, int], list[LineItem]]:
    """The line items of each page."""
    found: dict[tuple[str, int], list[LineItem]] = {place: [] for place in places}
    for filing_id, items in facts.line_items(dict.fromkeys(filing_id for filing_id, _ in places)).items():
        numbers = {page for other, page in places if other == filing_id}
        for item in items:
            if item.page in numbers:
                found[filing_id, item.page].append(item)
    return found


def _may_be_evidence(page: Page) -> bool:
    if page.place in _NO_EVIDENCE:
        return False
    return page.place != "exhibit" or not (
        _CONSENT.search(page.text[:2_000]) or _POWER.search(page.text[:HEAD_CHARACTERS])
    )


def _parts(page: Page, items: Sequence[LineItem], filing: Filing) -> tuple[Table | Prose, ...]:
    headings = frozenset(line.strip() for line in page.headings.split("\n") if line.strip())
    rows = ItemRows(items)
    parts: list[Table | Prose] = []
    for part in page_parts(page.text, headings):
        if isinstance(part, TablePart):
            parts += [] if is_contents(part) else [aligned(part, rows, filing)]
        elif found := sentences(part, headings):
            parts.append(Prose(part.heading, tuple(found)))
    if len(rows) >= MIN_ITEM_ROWS and rows.matched < MIN_MATCHED * len(rows):
        table = of_items(rows, page, filing)
        if table is not None:
            return (table, *(part for part in parts if isinstance(part, Prose)))
    return tuple(parts)


def _joined_over_pages(
    found: Sequence[Candidate], known: Mapping[tuple[str, int], Page], facts: FilingFacts
) -> list[Candidate]:
    """``found`` with the rest of the sentences that run over from the page before or on to the next."""
    wanted: dict[tuple[str, int], None] = {}
    for each in found:
        filing_id, number = each.place
        if each.parts and isinstance(each.parts[0], Prose) and begins_inside(each.parts[0].sentences[0].text):
            wanted[filing_id, number - 1] = None
        if each.parts and isinstance(each.parts[-1], Prose) and breaks_off(each.parts[-1].sentences[-1].text):
            wanted[filing_id, number + 1] = None
    absent = [place for place in wanted if place not in known and place[1] >= 0]
    pages = {**known, **(facts.pages(absent) if absent else {})}
    return [_continued(each, pages) for each in found]


def _continued(each: Candidate, pages: Mapping[tuple[str, int], Page]) -> Candidate:
    filing_id, number = each.place
    parts = list(each.parts)
    before, after = pages.get((filing_id, number - 1)), pages.get((filing_id, number + 1))
    first, last = (parts[0], parts[-1]) if parts else (None, None)
    if isinstance(first, Prose) and before is not None and begins_inside(first.sentences[0].text):
        rest = _edge(before, -1)
        if rest and breaks_off(rest):
            parts[0] = first = Prose(first.heading, first.sentences, rest, first.after)
    last = parts[-1] if parts else None
    if isinstance(last, Prose) and after is not None and breaks_off(last.sentences[-1].text):
        rest = _edge(after, 0)
        if rest and begins_inside(rest):
            parts[-1] = Prose(last.heading, last.sentences, last.before, rest)
    return Candidate(each.filing, each.page, each.rank, each.passages, tuple(parts))


def _edge(page: Page, at: int) -> str:
    """The first (0) or last (-1) sentence of a page that begins or ends with prose, else ""."""
    text = page.text[-EDGE_CHARACTERS:] if at else page.text[:EDGE_CHARACTERS]
    parts = page_parts(text)
    part = parts[at] if parts else None
    found = sentences(part, ()) if isinstance(part, ProsePart) else []
    return found[at].text if found else ""
