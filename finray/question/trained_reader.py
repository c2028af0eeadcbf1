"""Reads a question by rules, and what it measures also by two small models: a tagger and a metric recognizer."""

from __future__ import annotations

from dataclasses import replace

from finray.core.journal import Journal
from finray.core.query import PIECES, Query
from finray.question.labels import labels
from finray.question.measures.definitions import defined_formula, unread_definition
from finray.question.measures.formulas import usual_names
from finray.question.measures.measure_tagger import Measured, MeasureTagger, Span, words_at
from finray.question.measures.mentions import mentions
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.measures.named import divides_rate, tagged_measures
from finray.question.periods.named import period_spans
from finray.question.periods.written_out import written_out
from finray.question.rule_reader import RuleReader, with_measures
from finray.question.usual_words import in_usual_words, recognized, surely_meant

_KNOWN = frozenset({"unit", "form", "statement", "operator"})
_OF_NO_FIGURE = frozenset({"words", "which", "yesno", "date"})
"""Operations of questions whose answer is no figure, or more than one."""


_QUOTIENTS = frozenset({"share", "ratio"})


class TrainedReader:
    """Reads a question by rules, after replacing other words for a metric by its usual name, and adds the measures that
    the tagger finds."""

    def __init__(self, rules: RuleReader, tagger: MeasureTagger, recognizer: MetricRecognizer) -> None:
        self._rules = rules
        self._tagger = tagger
        self._recognizer = recognizer

    async def read(self, question: str, journal: Journal) -> Query:
        question = written_out(question)
        defined = defined_formula(question) is not None or unread_definition(question) is not None
        measured = self._tagger.measured(question, marks(question, self._rules))
        query = await self._read(question, measured, journal, defined=defined)
        quantities = measured.quantities if measured is not None and not defined else ()
        meant = surely_meant(question, query, recognized(question, quantities, self._recognizer))
        if not meant:
            return query
        plain = in_usual_words(question, meant)
        named = ", ".join(f"{each.metric} ({each.probability:.2f})" for each in meant)
        journal.note(f"transform: {named} asked for, read again as {plain!r}")
        measured = self._tagger.measured(plain, marks(plain, self._rules))
        again = await self._read(plain, measured, journal, defined=False)
        usual = usual_names()[meant[0].metric] if len(meant) == 1 else ""
        return replace(again, own_words=query.text, usual_name=usual)

    async def _read(self, question: str, found: Measured | None, journal: Journal, *, defined: bool) -> Query:
        query = await self._rules.read(question, journal)
        no_amount = "not_an_amount" in query.intents and "which" not in query.intents
        if found is None:
            return replace(query, operation="defined" if defined else "")
        if "words" in query.intents and "cause" not in query.intents and found.operation not in _OF_NO_FIGURE:
            query = with_measures(query, figure=True)  # rules take "which figure" for a question for words
        quantities = words_at(question, found.quantities)
        words = [PIECES.join(pieces) for pieces in quantities]
        journal.note(f"transform: {found.operation} of {words} by the trained tagger")
        operation = "defined" if defined else found.operation
        query = replace(query, operation=operation, quantities=tuple(words))
        if defined or not quantities:
            return query
        if found.operation in _QUOTIENTS and divides_rate(quantities):
            query = replace(query, measures=tuple(each for each in query.measures if each.phrases))
        more = tagged_measures(query, quantities, found.operation)
        named = bool(more) and not any(each.phrases for each in more)
        if not named and (no_amount or "words" in query.intents):
            return query
        if named:  # a name is surer than a phrase of other words
            return replace(query, measures=(*more, *(each for each in query.measures if each not in more)))
        return replace(query, measures=(*query.measures, *(each for each in more if each not in query.measures)))


def marks(question: str, rules: RuleReader) -> list[list[Span]]:
    """The places of known words for the tagger: companies; periods; metrics; units, forms, statements and operators."""
    return [[(span.start, span.end) for span in rules.companies(question).spans], *nameless_marks(question)]


def nameless_marks(question: str) -> list[list[Span]]:
    """The :func:`marks` without companies."""
    return [
        [(start, end) for start, end, _ in period_spans(question)],
        [(span.start, span.end) for span in mentions(question)],
        [(span.start, span.end) for span in labels(question) if span.kind in _KNOWN],
    ]
