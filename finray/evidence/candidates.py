"""The pages of retrieved passages as tables and prose, read from the index. Evidence is chosen from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from finray.core.filing import Filing, Page, Place
from finray.core.passages import Passage
from finray.core.sized_cache import SizedCache
from finray.evidence.prose import Prose, begins_inside, breaks_off, prose_of
from finray.evidence.tables import ShownTable, is_contents, is_prose
from finray.index.reading.facts import FilingFacts

HEAD_CHARACTERS = 600
EDGE_CHARACTERS = 2_500
"""Characters of the page before or after that are read for the rest of a sentence."""
_NO_EVIDENCE: frozenset[Place | None] = frozenset(("contents", "signatures", "exhibit_index"))
_CONSENT = re.compile(r"\bconsent of (?:the )?independent|\bwe (?:hereby )?consent to the incorporation", re.I)
_POWER = re.compile(r"^[^\w\n]*+(?:power of attorney|signatures?)[^\w\n]*+$", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to choose evidence from. ``passages`` are the retrieved ones on it, best first; ``rank`` (from 0) orders
    pages by the best of them."""

    filing: Filing
    page: Page
    rank: int
    passages: tuple[Passage, ...]
    parts: tuple[ShownTable | Prose, ...]

    @property
    def place(self) -> tuple[str, int]:
        """(filing_id, page)."""
        return self.filing.filing_id, self.page.page

    def passages_in(self, start: int, end: int) -> tuple[Passage, ...]:
        """The passages that overlap the characters ``start`` to ``end`` of the page."""
        return tuple(passage for passage in self.passages if passage.start < end and start < passage.end)


def candidates(
    passages: Sequence[Passage], facts: FilingFacts, more: Collection[tuple[str, int]] = ()
) -> list[Candidate]:
    """The pages of ``passages`` by rank, then ``more`` pages (filing_id, page), without signatures, contents and the
    like."""
    by_place: dict[tuple[str, int], list[Passage]] = {}
    for passage in passages:
        by_place.setdefault((passage.filing_id, passage.page), []).append(passage)
    for place in more:
        by_place.setdefault(place, [])
    read = _read(by_place, facts)
    found: list[Candidate] = []
    seen: set[tuple[str, int, int]] = set()
    for rank, (place, own) in enumerate(by_place.items()):
        if place in read and _may_be_evidence(read[place].page):
            parts = read[place].parts
            keys = {(place[0], *part.table.key) for part in parts if isinstance(part, ShownTable)}
            if keys & seen:  # a table that goes on overleaf is shown once
                parts = tuple(p for p in parts if isinstance(p, Prose) or (place[0], *p.table.key) not in seen)
            seen |= keys
            found.append(Candidate(facts.filing(place[0]), read[place].page, rank, tuple(own), parts))
    return _with_whole_sentences(found, {place: each.page for place, each in read.items()}, facts)


class _ReadPage(NamedTuple):
    page: Page
    parts: tuple[ShownTable | Prose, ...]


_READ: WeakKeyDictionary[FilingFacts, SizedCache[tuple[str, int], _ReadPage]] = WeakKeyDictionary()
"""The pages read last: the rounds and roles of a question show the same ones, and so do questions about a company."""
_KEPT_PAGES = 256
"""About 6 MB."""


def _read(places: Collection[tuple[str, int]], facts: FilingFacts) -> dict[tuple[str, int], _ReadPage]:
    """The pages at ``places`` that the index has."""
    kept = _READ.setdefault(facts, SizedCache(_KEPT_PAGES))
    known = {place: read for place in places if (read := kept.get(place)) is not None}
    if absent := [place for place in places if place not in known]:
        pages, tables = facts.pages(absent), facts.tables(absent)
        first = {(place[0], table.page) for place in absent for table in tables[place]} - pages.keys()
        begun = {**pages, **facts.pages(sorted(first))}
        for place, page in pages.items():
            filing = facts.filing(place[0])
            own = [
                ShownTable.of(table, begun.get((place[0], table.page), page), filing)
                for table in tables[place]
                if not is_contents(table) and not is_prose(table)
            ]
            known[place] = _ReadPage(page, _parts(page, own))
            kept.put(place, known[place], 1)
    return known


def _may_be_evidence(page: Page) -> bool:
    if page.place in _NO_EVIDENCE:
        return False
    return page.place != "exhibit" or not (
        _CONSENT.search(page.text[:2_000]) or _POWER.search(page.text[:HEAD_CHARACTERS])
    )


def _parts(page: Page, tables: Sequence[ShownTable]) -> tuple[ShownTable | Prose, ...]:
    """The ``tables`` and the prose of a page in order."""
    placed: list[tuple[int, ShownTable | Prose]] = [(table.span(page.page)[0], table) for table in tables]
    placed += [(prose.sentences[0].start, prose) for prose in prose_of(page, tables)]
    return tuple(part for _, part in sorted(placed, key=lambda each: each[0]))


def _with_whole_sentences(
    found: Sequence[Candidate], known: Mapping[tuple[str, int], Page], facts: FilingFacts
) -> list[Candidate]:
    """``found`` with the rest of each sentence that begins on the page before or ends on the next."""
    wanted: dict[tuple[str, int], None] = {}
    for each in found:
        filing_id, number = each.place
        if _begun_before(each.parts):
            wanted[filing_id, number - 1] = None
        if _ended_after(each.parts):
            wanted[filing_id, number + 1] = None
    absent = [place for place in wanted if place not in known and place[1] >= 0]
    pages = {**known, **(facts.pages(absent) if absent else {})}
    return [_with_whole_edges(each, pages) for each in found]


def _with_whole_edges(each: Candidate, pages: Mapping[tuple[str, int], Page]) -> Candidate:
    filing_id, number = each.place
    parts = list(each.parts)
    if first := _begun_before(parts):
        rest = _edge(pages.get((filing_id, number - 1)), -1)
        if rest and breaks_off(rest):
            parts[0] = replace(first, before=rest)
    if last := _ended_after(parts):
        rest = _edge(pages.get((filing_id, number + 1)), 0)
        if rest and begins_inside(rest):
            parts[-1] = replace(last, after=rest)
    return replace(each, parts=tuple(parts))


def _begun_before(parts: Sequence[ShownTable | Prose]) -> Prose | None:
    """The first of a page's ``parts`` if it is prose whose first sentence begins on the page before."""
    first = parts[0] if parts else None
    return first if isinstance(first, Prose) and begins_inside(first.sentences[0].text) else None


def _ended_after(parts: Sequence[ShownTable | Prose]) -> Prose | None:
    """The last of a page's ``parts`` if it is prose whose last sentence ends on the next page."""
    last = parts[-1] if parts else None
    return last if isinstance(last, Prose) and breaks_off(last.sentences[-1].text) else None


def _edge(page: Page | None, at: int) -> str:
    """The first (0) or last (-1) sentence of a page that begins or ends with prose; "" for others."""
    if page is None:
        return ""
    text = page.text[-EDGE_CHARACTERS:] if at else page.text[:EDGE_CHARACTERS]
    parts = prose_of(Page(page.page, text), ())
    return parts[at].sentences[at].text if parts else ""
