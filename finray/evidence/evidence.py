"""Turns retrieved passages into readable evidence within a budget of tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter

from finray.core.filing import LineItem, Page
from finray.core.passages import Passage, RenderedBlock
from finray.core.plan import Coverage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.settings import EvidenceSettings
from finray.evidence.blocks import EvidenceBlock
from finray.evidence.candidates import Candidate, candidates
from finray.evidence.prose import Prose
from finray.evidence.relevance import Relevance
from finray.evidence.rendering import figures_of, letters, prose_text, table_text
from finray.evidence.repeats import repeated
from finray.evidence.selection import Chosen, ScoredPages, scored_part, select
from finray.evidence.tables import ShownTable, shortened
from finray.filings.prose.figures import ProseFigure
from finray.filings.prose.scales import is_scaled
from finray.index.reading.facts import FilingFacts

Rows = dict[tuple[str, int], set[int]]
"""Rows of line items by the (filing_id, page) that prints them."""
MAX_SOURCE = 16_000
"""Characters of page text that a block gives as its source."""
_CHARACTERS_PER_TOKEN = 4
MAX_LABEL = 200
"""Characters of a sentence that label its figures."""
IN_SENTENCE = -1
"""``LineItem.row`` of a figure in a sentence."""
_printed = attrgetter("page", "label", "text", "statement", "section", "period_end")
"""What a line item and a cited cell share if they are the same cell of a table."""


def evidence_blocks(
    query: Query,
    passages: Sequence[Passage],
    facts: FilingFacts,
    settings: EvidenceSettings,
    *,
    coverage: Coverage | None = None,
) -> tuple[EvidenceBlock, ...]:
    """What ``passages`` and the operands of ``coverage`` show, as tables and prose of their pages.

    Pages are taken in the order of ``passages``, those with operands first. Within a page, the rows and sentences
    nearest to the question come first, then whole tables; at most ``settings.max_tokens`` in all.
    Signatures, contents, consents and exhibit indexes are left out.
    """
    covered: Rows = {}
    for each in coverage.found.values() if coverage is not None else ():
        covered.setdefault((each.filing.filing_id, each.line_item.page), set()).add(each.line_item.row)
    scored = _scored_pages(query, passages, facts, covered, coverage)
    chosen = _chosen(query, scored, covered, facts, settings.max_tokens)
    return tuple(_within(_blocks(scored, chosen), settings.max_tokens))


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


def _is_retrieved(candidate: Candidate, part: ShownTable | Prose, covered: Collection[int]) -> bool:
    page = candidate.page.page
    if isinstance(part, ShownTable) and covered:
        return any(row.page == page and row.row in covered for row in part.rows)
    return bool(
        candidate.passages_in(
            *_span(part, range(len(part.rows) if isinstance(part, ShownTable) else len(part.sentences)), page)
        )
    )


def _chosen(query: Query, scored: ScoredPages, covered: Rows, facts: FilingFacts, tokens: int) -> Chosen:
    """What fits in ``tokens``; figures that two filings print are chosen once."""
    chosen = select(scored, _CHARACTERS_PER_TOKEN * tokens)
    if banned := repeated(query, scored.pages, chosen, covered, facts):
        chosen = select(scored, _CHARACTERS_PER_TOKEN * tokens, banned)
    return chosen


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
        start, end = _span(part, pieces, page.page)
        end = min(end, start + MAX_SOURCE)
        score = max((passage.score for passage in candidate.passages), default=0.0)
        of_table = isinstance(part, ShownTable)
        yield EvidenceBlock(
            id=f"e{count}",
            doc_name=filing.doc_name,
            filing_id=filing.filing_id,
            page=page.page,
            kind="table" if of_table else "prose",
            heading=part.title if isinstance(part, ShownTable) else shortened(part.heading),
            text=_text(part, pieces),
            filing=filing,
            marked=_text(part, pieces, marked=True),
            cells=dict(_cells(part, pieces, page)),
            source=Passage(filing.doc_name, filing.filing_id, page.page, start, end, page.text[start:end], score),
            passages=candidate.passages_in(start, end),
        )


def _text(part: ShownTable | Prose, pieces: Collection[int], *, marked: bool = False) -> str:
    if isinstance(part, ShownTable):
        return table_text(part, pieces, marked=marked)
    return prose_text(part, pieces, marked=marked)


def _cells(part: ShownTable | Prose, pieces: Collection[int], page: Page) -> Iterator[tuple[str, LineItem]]:
    """Each figure that is shown, by its mark."""
    for number in sorted(pieces):
        if isinstance(part, ShownTable):
            items = part.items_of(part.rows[number])
            for at, column in enumerate(part.table.columns):
                if column.column in items:
                    yield f"{letters(at)}{number + 1}", items[column.column]
        else:
            for at, figure in enumerate(figures_of(part, number)):
                yield f"{letters(at)}{number + 1}", _stated(part, number, figure, page)


def _stated(prose: Prose, number: int, figure: ProseFigure, page: Page) -> LineItem:
    """A figure of a sentence as a line item."""
    text = prose.sentences[number].text
    scale = 1 if figure.kind != "money" or is_scaled(figure, text) else prose.scale
    return LineItem(
        page=page.page,
        statement=None,
        label=excerpt(text, MAX_LABEL),
        value=figure.value * scale,
        text=text[figure.start : figure.end],
        unit="pure" if figure.kind == "count" else figure.unit,
        scale=scale,
        period_end=None,
        months=None,
        section=prose.heading or None,
        row=IN_SENTENCE,
    )


def _within(shown: Iterable[EvidenceBlock], tokens: int) -> Iterator[EvidenceBlock]:
    """The first blocks that fit: escaped text may be longer than it was when it was chosen."""
    for each in shown:
        tokens -= each.tokens
        if tokens < 0:
            return
        yield each


def _span(part: ShownTable | Prose, chosen: Collection[int], page: int) -> tuple[int, int]:
    """The (start, end) of what is chosen in the text of ``page``."""
    if isinstance(part, ShownTable):
        return part.span(page)
    return part.sentences[min(chosen)].start, max(part.sentences[number].end for number in chosen)
