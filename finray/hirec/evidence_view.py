"""Passages as a language model sees them: rendered evidence, with the cells that fit the question's plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.plans.computed import cited_cell
from finray.answering.plans.coverage import cover, plans_for
from finray.core.passages import Passage
from finray.core.plan import Coverage
from finray.core.query import Query
from finray.core.settings import EvidenceSettings
from finray.evidence.blocks import EvidenceBlock
from finray.evidence.evidence import evidence_blocks
from finray.hirec.shown import Shown, ShownCell, ShownPart
from finray.index.reading.facts import FilingFacts

COVERED_SHARE = 0.6
"""Share of the tokens that suffices if every operand of the plan is found: little else is needed."""


class EvidenceView:
    """Shows passages as tables and prose within ``settings.max_tokens``. Operands of a plan are looked for in the whole
    filings, so that a figure on a page that was not retrieved is shown too."""

    def __init__(self, facts: FilingFacts, settings: EvidenceSettings) -> None:
        self._facts = facts
        self._settings = settings

    def __call__(self, query: Query, passages: Sequence[Passage], kept: int, asked: Query | None = None) -> Shown:
        """``passages`` for ``query``, and for what was ``asked`` after it; the first ``kept`` are of earlier rounds."""
        coverage = self._coverage(query, passages)
        if asked is not None and coverage is not None and coverage.absent:
            more = self._coverage(asked, passages)
            coverage = replace(coverage, found={**more.found, **coverage.found}) if more is not None else coverage
        share = COVERED_SHARE if coverage is not None and not coverage.absent and asked is None else 1.0
        settings = self._settings.model_copy(update={"max_tokens": round(share * self._settings.max_tokens)})
        blocks = evidence_blocks(_both(query, asked), passages, self._facts, settings, coverage=coverage)
        earlier = set(passages[:kept])
        blocks = tuple(sorted(blocks, key=lambda block: not earlier & set(_passages(block))))
        cells = {
            name: ShownCell(cited_cell(name, item.value, item, block.filing), item.unit, _passages(block)[:1])
            for number, block in enumerate(blocks, start=1)
            for name, item in ((f"c{number}{mark}", item) for mark, item in block.cells.items())
        }
        return Shown(tuple(map(_part, blocks)), cells, sum(bool(earlier & set(_passages(block))) for block in blocks))

    def _coverage(self, query: Query, passages: Sequence[Passage]) -> Coverage | None:
        """The coverage of the first plan with all its operands, else of the first plan; None without a plan."""
        tried = [
            cover(query, plan, passages, self._facts, anywhere=True) for plan in plans_for(query, passages, self._facts)
        ]
        return next((each for each in tried if not each.absent), tried[0] if tried else None)


def _both(query: Query, asked: Query | None) -> Query:
    """``query`` with the words and periods of ``asked``, for choosing rows and sentences."""
    if asked is None:
        return query
    return replace(
        query,
        question=f"{query.question} {asked.question}",
        text=f"{query.text} {asked.text}",
        periods=tuple(dict.fromkeys((*query.periods, *asked.periods))),
        metrics=tuple(dict.fromkeys((*query.metrics, *asked.metrics))),
        statements=tuple(dict.fromkeys((*query.statements, *asked.statements))),
        names=tuple(dict.fromkeys((*query.names, *asked.names))),
        terms=tuple(dict.fromkeys((*query.terms, *asked.terms))),
    )


def _part(block: EvidenceBlock) -> ShownPart:
    return ShownPart(block.marked, f"{block.doc_name}, p. {block.page + 1}", _passages(block), block.text)


def _passages(block: EvidenceBlock) -> tuple[Passage, ...]:
    return block.passages or (block.source,)
