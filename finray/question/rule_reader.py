"""Reads questions by rules, from their words and the catalog of the index, without a model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from finray.core.journal import Journal
from finray.core.query import Query, Span
from finray.filings.canonical import canonical_items
from finray.question.companies import CompanyCatalog, Mentions
from finray.question.definitions import defined_formula, defined_name
from finray.question.forms import forms_asked
from finray.question.formulas import formulas, line_items
from finray.question.intents import intents_of
from finray.question.labels import labels
from finray.question.measures import measures_of
from finray.question.mentions import mentions
from finray.question.periods import last_years_in, periods_in
from finray.question.shape import asked_shape
from finray.question.wording import statements_named, unexplained_words, without_instructions

_EXPLAINED = frozenset({"company", "metric", "definition", "statement"})
"""Kinds of spans whose words do not narrow the question further."""

Settle = Callable[[Mentions, str], Mentions]


class PlainReader:
    """The ablation without query transformation: the question as asked, without companies, periods and forms."""

    async def read(self, question: str, journal: Journal) -> Query:
        return with_measures(
            Query(question=question, text=question, spans=labels(question), shape=asked_shape(question))
        )


class RuleReader:
    """Reads companies of the catalog, periods, forms, metrics and the statements that print them."""

    def __init__(self, catalog: CompanyCatalog, settle: Settle | None = None) -> None:
        """``settle`` searches unidentified filings for names that are not in the catalog."""
        self._catalog = catalog
        self._settle = settle

    async def read(self, question: str, journal: Journal) -> Query:
        text = without_instructions(question)
        named = statements_named(question)
        items, known = canonical_items(), formulas()
        metrics = tuple(dict.fromkeys(span.value for span in mentions(question)))
        lines = dict.fromkeys(line for key in metrics for line in (line_items(known[key]) if key in known else (key,)))
        implied = (items[line].statement for line in lines)
        searched, companies = text, self._companies(text)
        if not companies.known and text != question:
            searched, companies = question, self._companies(question)
        named_here = companies.spans if searched == text else ()
        spans = [*named_here, *labels(text), *_defined(question, text)]
        query = with_measures(
            Query(
                question=question,
                text=text,
                companies=companies.known,
                unknown_companies=companies.unknown,
                periods=periods_in(question),
                last_years=last_years_in(text),
                shape=asked_shape(question),
                forms=forms_asked(question),
                metrics=metrics,
                statements=tuple(dict.fromkeys((*named, *implied))),
                statements_named=named,
                names=tuple(searched[span.start : span.end] for span in companies.spans),
                unexplained=unexplained_words(text, [span for span in spans if span.kind in _EXPLAINED]),
                terms=tuple(items[line].names[0] for line in lines),
                spans=tuple(sorted(spans, key=lambda span: span.start)),
            )
        )
        for line in described(query):
            journal.note(line)
        return query

    def _companies(self, text: str) -> Mentions:
        mentions = self._catalog.mentions(text)
        return mentions if self._settle is None else self._settle(mentions, text)


def with_measures(query: Query) -> Query:
    """``query`` with the intents of its text and what it may measure."""
    metrics = [span for span in query.spans if span.kind == "metric"]
    intents = intents_of(query.question, query.text, metrics, len(query.companies), len(query.periods))
    query = replace(query, intents=intents)
    return replace(query, measures=measures_of(query))


def with_text(query: Query, text: str) -> Query:
    """``query`` with ``text`` as its wording, and what that measures; companies and periods stay."""
    return with_measures(replace(query, text=text, spans=labels(text)))


def described(query: Query) -> tuple[str, str]:
    """Two lines for the trace: what the question names, and the labels of its words."""
    spans = ", ".join(f"{query.text[s.start : s.end]!r} is {s.kind} {s.value}" for s in query.spans)
    return (
        f"transform: companies {list(query.companies)}, periods {[str(p) for p in query.periods]}, "
        f"forms {list(query.forms)}, metrics {list(query.metrics)}, statements {list(query.statements)}, "
        f"unexplained {list(query.unexplained)}",
        f"transform: {spans or 'no words read'}; intents {sorted(query.intents)}",
    )


def _defined(question: str, text: str) -> list[Span]:
    """Where ``text`` names a metric that the question defines."""
    name = defined_name(question)
    if name is None or (formula := defined_formula(question)) is None:
        return []
    return [Span("definition", *match.span(), formula) for match in re.finditer(re.escape(name), text, re.I)]
