"""Turns retrieved passages into readable evidence within a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import TypeVar

from finray.core.passages import Passage, RenderedBlock
from finray.core.plan import Coverage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.settings import EvidenceSettings
from finray.evidence.blocks import Evidence, EvidenceBlock, EvidenceCell
from finray.evidence.candidates import Candidate, Prose, candidates
from finray.evidence.cells import fitting_cells
from finray.evidence.relevance import Relevance
from finray.evidence.rendering import prose_text, shortened, table_text
from finray.evidence.repeats import repeated
from finray.evidence.selection import Chosen, ScoredPages, scored_part, select
from finray.evidence.tables import Table
from finray.index.reading.facts import FilingFacts

Rows = dict[tuple[str, int], set[int]]
"""Rows of line items by the (filing_id, page) that prints them."""
MAX_SOURCE = 16_000
"""Characters of page text that a block gives as its source."""
_CHARACTERS_PER_TOKEN = 4
_CELL_TOKENS = 32
_USUAL_CELLS = 8
"""About how many cells are listed for a question without a plan."""
_printed = attrgetter("page", "label", "text", "statement", "section", "period_end")
"""What a line item and a cited cell share if they are the same cell of a table."""
_Shown = TypeVar("_Shown", EvidenceBlock, EvidenceCell)


def evidence_blocks(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    settings: EvidenceSettings,
    *,
    coverage: Coverage | None = None,
) -> Evidence:
    """What ``passages`` and the operands of ``coverage`` show, as tables and prose of their pages.

    Pages are taken in the order of ``passages``, those with operands first. Within a page, the rows and sentences
    nearest to the question come first, then whole tables; at most ``settings.max_tokens`` in all, including cells.
    Signatures, contents, consents and exhibit indexes are left out.
    """
    covered: Rows = {}
    for each in coverage.found.values() if coverage is not None else ():
        covered.setdefault((each.filing.filing_id, each.line_item.page), set()).add(each.line_item.row)
    scored = _scored_pages(query, passages, facts, covered, coverage)
    room = settings.max_tokens - _CELL_TOKENS * _expected_cells(coverage, settings.max_cells)
    chosen = _chosen(query, scored, covered, facts, room)
    blocks = tuple(_within(_blocks(scored, chosen), settings.max_tokens))
    shown = {key: block.id for key, block in zip(chosen, blocks, strict=False)}
    cells = fitting_cells(query, coverage, scored, chosen, shown, settings.max_cells)
    return Evidence(blocks, tuple(_within(cells, settings.max_tokens - sum(block.tokens for block in blocks))))


def shown_evidence(
    query: Query, answer: Answer, *, facts: FilingFacts, settings: EvidenceSettings
) -> tuple[RenderedBlock, ...]:
    """The evidence of ``answer`` for a person: the tables and prose that its passages and operands come from, at most
    ``settings.shown_tokens``."""
    covered: Rows = {}
    for cell in answer.operands:
        items = facts.line_items([cell.filing_id])[cell.filing_id]
        if (row := next((item.row for item in items if _printed(item) == _printed(cell)), None)) is not None:
            covered.setdefault((cell.filing_id, cell.page), set()).add(row)
    scored = _scored_pages(query, answer.evidence, facts, covered, only_retrieved=True)
    blocks = _blocks(scored, _chosen(query, scored, covered, facts, settings.shown_tokens))
    return tuple(block.rendered for block in _within(blocks, settings.shown_tokens))


def _scored_pages(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    covered: Rows,
    coverage: Coverage | None = None,
    *,
    only_retrieved: bool = False,
) -> ScoredPages:
    """The pages of ``passages`` and of ``covered`` rows, the latter first. With ``only_retrieved``, only tables and
    prose with a passage or a covered row may be chosen."""
    pages = candidates(passages, facts, covered)
    pages.sort(key=lambda each: (each.place not in covered, each.rank))
    names = [*query.names, *(facts.company_name(company) for company in query.companies if facts.has_company(company))]
    relevance = Relevance(query, coverage, names, _texts(pages))
    parts = {
        (number, at): scored_part(candidate, part, relevance, query.years, covered.get(candidate.place, ()))
        for number, candidate in enumerate(pages)
        for at, part in enumerate(candidate.parts)
        if not only_retrieved or _is_retrieved(candidate, part, covered.get(candidate.place, ()))
    }
    return ScoredPages(pages, parts)


def _is_retrieved(candidate: Candidate, part: Table | Prose, covered: Collection[int]) -> bool:
    if isinstance(part, Table):
        if covered:
            return any(item.row in covered for row in part.rows for item in row.items.values())
        return bool(candidate.passages_in(part.start, part.end))
    return bool(candidate.passages_in(*_span(part, range(len(part.sentences)))))


def _chosen(query: Query, scored: ScoredPages, covered: Rows, facts: FilingFacts, tokens: int) -> Chosen:
    """What fits in ``tokens``; figures that two filings print are chosen once."""
    chosen = select(scored, _CHARACTERS_PER_TOKEN * tokens)
    if banned := repeated(query, scored.pages, chosen, covered, facts):
        chosen = select(scored, _CHARACTERS_PER_TOKEN * tokens, banned)
    return chosen


def _expected_cells(coverage: Coverage | None, most: int) -> int:
    if coverage is not None and not coverage.absent:
        return min(len(coverage.found), most)
    return min(most, _USUAL_CELLS)


def _texts(pages: Sequence[Candidate]) -> Iterator[str]:
    for page in pages:
        for part in page.parts:
            if isinstance(part, Prose):
                yield from (sentence.text for sentence in part.sentences)
            else:
                yield from (row.label for row in part.rows)
                yield f"{part.title} {' '.join(part.heads)}"


def _blocks(scored: ScoredPages, chosen: Chosen) -> Iterator[EvidenceBlock]:
    """A block for each part of which something is chosen."""
    for count, (key, pieces) in enumerate(chosen.items(), start=1):
        candidate, part = scored.pages[key[0]], scored.part(key)
        filing, page = candidate.filing, candidate.page
        start, end = _span(part, pieces)
        end = min(end, start + MAX_SOURCE)
        score = max((passage.score for passage in candidate.passages), default=0.0)
        yield EvidenceBlock(
            id=f"e{count}",
            doc_name=filing.doc_name,
            filing_id=filing.filing_id,
            page=page.page,
            kind="table" if isinstance(part, Table) else "prose",
            heading=shortened(part.title if isinstance(part, Table) else part.heading),
            text=table_text(part, pieces) if isinstance(part, Table) else prose_text(part, pieces),
            source=Passage(filing.doc_name, filing.filing_id, page.page, start, end, page.text[start:end], score),
            passages=candidate.passages_in(start, end),
        )


def _within(shown: Iterable[_Shown], tokens: int) -> Iterator[_Shown]:
    """The first blocks or cells that fit: escaped text may be longer than it was when it was chosen."""
    for each in shown:
        tokens -= each.tokens
        if tokens < 0:
            return
        yield each


def _span(part: Table | Prose, chosen: Collection[int]) -> tuple[int, int]:
    """The (start, end) of what is chosen in the page's text."""
    if isinstance(part, Table):
        return part.start, part.end
    return part.sentences[min(chosen)].start, max(part.sentences[number].end for number in chosen)
