"""Reads a question by rules, and what it measures also by a trained tagger."""

from __future__ import annotations

from dataclasses import replace

from finray.core.journal import Journal
from finray.core.query import PIECES, Query
from finray.question.labels import labels
from finray.question.measures.definitions import defined_formula, unread_definition
from finray.question.measures.measure_tagger import MeasureTagger, Span
from finray.question.measures.mentions import mentions
from finray.question.measures.named import tagged_measures
from finray.question.periods.named import period_spans
from finray.question.rule_reader import RuleReader

_KNOWN = frozenset({"unit", "form", "statement", "operator"})


class TrainedReader:
    """The rules' query; after the measures that the rules read come those that the tagger does."""

    def __init__(self, rules: RuleReader, tagger: MeasureTagger) -> None:
        self._rules = rules
        self._tagger = tagger

    async def read(self, question: str, journal: Journal) -> Query:
        query = await self._rules.read(question, journal)
        defined = defined_formula(question) is not None or unread_definition(question) is not None
        no_amount = "not_an_amount" in query.intents and "which" not in query.intents
        found = self._tagger.measured(question, marks(question, self._rules))
        if found is None:
            return replace(query, operation="defined" if defined else "")
        named = [PIECES.join(pieces) for pieces in found.quantities]
        journal.note(f"transform: {found.operation} of {named} by the trained tagger")
        operation = "defined" if defined else found.operation
        query = replace(query, operation=operation, quantities=tuple(named))
        if defined or no_amount or "words" in query.intents:
            return query
        more = tagged_measures(query, found.quantities, found.operation)
        return replace(query, measures=(*query.measures, *(each for each in more if each not in query.measures)))


def marks(question: str, rules: RuleReader) -> list[list[Span]]:
    """The spans of companies, periods, metrics, and of units, forms, statements and operators."""
    return [
        [(span.start, span.end) for span in rules.companies(question).spans],
        [(start, end) for start, end, _ in period_spans(question)],
        [(span.start, span.end) for span in mentions(question)],
        [(span.start, span.end) for span in labels(question) if span.kind in _KNOWN],
    ]
