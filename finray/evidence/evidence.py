"""Turns retrieved passages into evidence that can be read, for a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from finray.core.filing import LineItem
from finray.core.passages import Passage, RenderedBlock
from finray.core.plan import Coverage
from finray.core.predictions import Answer, CitedCell
from finray.core.query import Query
from finray.core.settings import EvidenceSettings
from finray.evidence import markdown
from finray.evidence.blocks import Evidence, EvidenceBlock, EvidenceCell
from finray.evidence.candidates import Candidate, Prose, candidates
from finray.evidence.cells import fitting_cells
from finray.evidence.relevance import Relevance
from finray.evidence.rendering import prose_text, shortened, table_text
from finray.evidence.repeats import repeated
from finray.evidence.selection import Scored, scored_part, select
from finray.evidence.tables import Table
from finray.index.reading.facts import FilingFacts

Rows = dict[tuple[str, int], set[int]]
"""Rows of line items by the (filing_id, page) that prints them."""
MAX_SOURCE = 16_000
"""Characters of page text that a block gives as its source."""
_CHARACTERS = 4
_CELL_TOKENS = 32
_USUAL_CELLS = 8
"""Cells that are listed for a question without a plan, about."""


def evidence_blocks(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    settings: EvidenceSettings,
    *,
    coverage: Coverage | None = None,
) -> Evidence:
    """What ``passages`` and the operands of ``coverage`` show, as tables and prose of their pages.

    Pages are taken in the order of ``passages``, those with operands first. Within a page, rows and sentences nearest
    to the question come first, then whole tables; at most ``settings.max_tokens`` in all, the cells included.
    Signatures, contents, consents and exhibit indexes are left out.
    """
    covered: Rows = {}
    for each in coverage.found.values() if coverage is not None else ():
        covered.setdefault((each.filing.filing_id, each.line_item.page), set()).add(each.line_item.row)
    shown = _shown(query, passages, facts, covered, coverage)
    room = settings.max_tokens - _CELL_TOKENS * _expected_cells(coverage, settings.max_cells)
    chosen = _chosen(query, shown, facts, room)
    blocks = dict(_within(_blocks(shown.pages, chosen), settings.max_tokens))
    evidence = Evidence(tuple(blocks.values()))
    ids = {key: block.id for key, block in blocks.items()}
    cells = fitting_cells(query, coverage, shown.pages, shown.scored, chosen, ids, settings.max_cells)
    rest = settings.max_tokens - evidence.tokens
    kept = takewhile(lambda total: total[0] <= rest, _running(cells))
    return Evidence(evidence.blocks, tuple(cell for _, cell in kept))


def shown_evidence(
    query: Query, answer: Answer, *, facts: FilingFacts, settings: EvidenceSettings
) -> tuple[RenderedBlock, ...]:
    """The evidence of ``answer`` for a person: the tables and prose that its passages and operands are from, at most
    ``settings.shown_tokens``."""
    covered: Rows = {}
    for cell in answer.operands:
        items = facts.line_items([cell.filing_id])[cell.filing_id]
        if (row := next((item.row for item in items if _prints(item, cell)), None)) is not None:
            covered.setdefault((cell.filing_id, cell.page), set()).add(row)
    shown = _shown(query, answer.evidence, facts, covered, None, only_passages=True)
    blocks = _blocks(shown.pages, _chosen(query, shown, facts, settings.shown_tokens))
    return tuple(block.rendered for _, block in _within(blocks, settings.shown_tokens))


def _prints(item: LineItem, cell: CitedCell) -> bool:
    return (item.page, item.label, item.text, item.statement, item.section, item.period_end) == (
        cell.page,
        cell.label,
        cell.text,
        cell.statement,
        cell.section,
        cell.period_end,
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """The pages to choose from, and the relevance of what is on them."""

    pages: Sequence[Candidate]
    scored: Mapping[tuple[int, int], Scored]
    covered: Rows


def _shown(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    covered: Rows,
    coverage: Coverage | None,
    *,
    only_passages: bool = False,
) -> _Shown:
    """With ``only_passages`` the tables and prose that ``passages`` or ``covered`` rows are in, else whole pages."""
    pages = candidates(passages, facts, covered)
    pages.sort(key=lambda each: (each.place not in covered, each.rank))
    relevance = _relevance(query, coverage, pages, facts)
    scored = {
        (number, at): scored_part(candidate, part, relevance, query.years, covered.get(candidate.place, ()))
        for number, candidate in enumerate(pages)
        for at, part in enumerate(candidate.parts)
        if not only_passages or _is_retrieved(candidate, part, covered.get(candidate.place, ()))
    }
    return _Shown(pages, scored, covered)


def _is_retrieved(candidate: Candidate, part: Table | Prose, covered: Collection[int]) -> bool:
    if isinstance(part, Table) and covered:
        return any(item.row in covered for row in part.rows for item in row.items.values())
    whole = range(len(part.rows) if isinstance(part, Table) else len(part.sentences))
    start, end = _span(part, whole)
    return any(passage.start < end and start < passage.end for passage in candidate.passages)


def _chosen(query: Query, shown: _Shown, facts: FilingFacts, tokens: int) -> dict[tuple[int, int], set[int]]:
    """What fits ``tokens``, figures that two filings print once."""
    chosen = select(shown.pages, shown.scored, _CHARACTERS * tokens)
    if banned := repeated(query, shown.pages, chosen, shown.covered, facts):
        chosen = select(shown.pages, shown.scored, _CHARACTERS * tokens, banned)
    return chosen


def _running(cells: Sequence[EvidenceCell]) -> Iterator[tuple[int, EvidenceCell]]:
    """Each cell with the tokens up to and with it."""
    total = 0
    for cell in cells:
        total += markdown.tokens(cell.text)
        yield total, cell


def _expected_cells(coverage: Coverage | None, most: int) -> int:
    if coverage is not None and not coverage.absent:
        return min(len(coverage.found), most)
    return min(most, _USUAL_CELLS)


def _relevance(query: Query, coverage: Coverage | None, found: Sequence[Candidate], facts: FilingFacts) -> Relevance:
    names = [*query.names, *(facts.company_name(company) for company in query.companies if facts.has_company(company))]
    return Relevance(query, coverage, names, _texts(found))


def _texts(found: Sequence[Candidate]) -> Iterator[str]:
    for candidate in found:
        for part in candidate.parts:
            if isinstance(part, Prose):
                yield from (sentence.text for sentence in part.sentences)
            else:
                yield from (f"{row.label}" for row in part.rows)
                yield f"{part.title} {' '.join(part.heads)}"


def _blocks(
    found: Sequence[Candidate], chosen: Mapping[tuple[int, int], set[int]]
) -> Iterator[tuple[tuple[int, int], EvidenceBlock]]:
    """The chosen parts, by the page's rank and in the order of the page."""
    for count, key in enumerate(sorted(chosen), start=1):
        candidate, part = found[key[0]], found[key[0]].parts[key[1]]
        start, end = _span(part, chosen[key])
        page = candidate.page
        end = min(end, start + MAX_SOURCE)
        doc_name, score = candidate.filing.doc_name, max((p.score for p in candidate.passages), default=0.0)
        source = Passage(doc_name, candidate.filing.filing_id, page.page, start, end, page.text[start:end], score)
        yield (
            key,
            EvidenceBlock(
                id=f"e{count}",
                doc_name=doc_name,
                filing_id=candidate.filing.filing_id,
                page=page.page,
                kind="table" if isinstance(part, Table) else "prose",
                heading=shortened(part.title if isinstance(part, Table) else part.heading),
                text=table_text(part, chosen[key]) if isinstance(part, Table) else prose_text(part, chosen[key]),
                source=source,
                passages=tuple(p for p in candidate.passages if p.start < end and start < p.end),
            ),
        )


def _within(
    blocks: Iterable[tuple[tuple[int, int], EvidenceBlock]], tokens: int
) -> Iterator[tuple[tuple[int, int], EvidenceBlock]]:
    """The first blocks that fit: escaped text may be longer than it was when it was chosen."""
    for key, block in blocks:
        tokens -= block.tokens
        if tokens < 0:
            return
        yield key, block


def _span(part: Table | Prose, chosen: Collection[int]) -> tuple[int, int]:
    """Where the page's text prints what is chosen."""
    if isinstance(part, Table):
        return part.start, part.end
    return part.sentences[min(chosen)].start, max(part.sentences[number].end for number in chosen)
