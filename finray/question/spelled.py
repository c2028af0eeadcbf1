"""Resolves how a model spelled out a question: names to companies of the catalog, words to periods and forms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.spelled import Spelled
from finray.filings.tables.canonical import canonical_items
from finray.question.forms import forms_asked
from finray.question.measures.definitions import defined_formula
from finray.question.measures.formulas import line_items_of
from finray.question.measures.mentions import mentions
from finray.question.periods.named import periods_in
from finray.question.rule_reader import RuleReader, with_measures
from finray.question.wording import without_instructions

_INTENTS: dict[str, frozenset[str]] = {
    "change": frozenset({"growth", "change"}),
    "growth": frozenset({"growth", "change", "percent", "percent_anywhere"}),
    "average": frozenset({"average", "aggregate"}),
    "sum": frozenset({"total", "aggregate"}),
    "cagr": frozenset({"cagr", "growth", "change"}),
}
_OTHER_NAME = re.compile(
    r"\s*[()/;]\s*|,?\s+(?:formerly|now|aka|a\.k\.a\.|also known as|previously|f/k/a|d/b/a)\s+", re.I
)
"""Between two names of one company: "Meta Platforms (formerly Facebook)"."""


def resolved(question: str, spelled: Spelled, rules: RuleReader, journal: Journal) -> Query:
    """The query for ``question`` as ``spelled``. What the catalog or the rules do not recognize is dropped and noted; a
    form that the question itself names takes precedence over the model's.

    ``unknown_companies`` are names that neither the question's words nor the model's lead to a company of the index.
    """
    read = rules.understand(question, spelled.text or without_instructions(question))
    companies, unknown = _companies(spelled.companies, read, rules, journal)
    named = [span.value for item in spelled.items for span in mentions(item)]
    metrics = tuple(dict.fromkeys((*read.metrics, *named)))
    implied = (canonical_items()[item].statement for item in line_items_of(metrics))
    query = replace(
        read,
        companies=companies,
        unknown_companies=unknown,
        unclear="" if companies or unknown else read.unclear,
        names=tuple(dict.fromkeys((*read.names, *spelled.companies))),
        periods=_periods(spelled.periods, read, journal),
        forms=forms_asked(question) or _forms(spelled.form, journal) or read.forms,
        metrics=metrics,
        statements=tuple(dict.fromkeys((*read.statements_named, *spelled.statements, *implied))),
        statements_named=tuple(dict.fromkeys((*read.statements_named, *spelled.statements))),
        terms=tuple(dict.fromkeys((*read.terms, *spelled.items))),
    )
    query = with_measures(query, also=_INTENTS.get(spelled.operation, frozenset()), figure=spelled.figure)
    if spelled.periods:
        # The model names the period of the report, even if the report looks ahead.
        query = replace(query, intents=query.intents - {"looks_ahead"})
    if query.measures and defined_formula(question) is not None:
        # The question's own definition takes precedence over what the model made of it.
        own = rules.understand(question, without_instructions(question)).measures
        query = replace(query, measures=(*own, *query.measures))
    return query


def _companies(
    names: Iterable[str], read: Query, rules: RuleReader, journal: Journal
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys of the companies with ``names``, else of those that the rules read; and the names that no company has."""
    known: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for name in names:
        keys = _company(name, rules)
        known.update(dict.fromkeys(keys))
        if not keys:
            unknown.setdefault(name)
            journal.note(f"transform: no company of the index is called {excerpt(name, 80)!r}")
    if not known and read.companies:
        if unknown:
            journal.note(f"transform: companies {list(read.companies)} are read from the question's words instead")
        return read.companies, ()
    return tuple(known), tuple(unknown)


def _company(name: str, rules: RuleReader) -> tuple[str, ...]:
    """The companies called ``name``, or one of the names in it; empty if there are none."""
    for candidate in dict.fromkeys((name, *_OTHER_NAME.split(name))):
        candidate = candidate.strip()
        capital = candidate if any(map(str.isupper, candidate)) else candidate.title()
        found = rules.companies(capital)
        if found.known and found.spans and found.spans[0].start <= len("The "):
            return found.known
    return ()


def _periods(wordings: Iterable[str], read: Query, journal: Journal) -> tuple[Period, ...]:
    """The periods in ``wordings``; without any, the fiscal periods and days that the rules read: a bare year may be a
    maturity or a model year."""
    found: dict[Period, None] = {}
    for wording in wordings:
        periods = periods_in(wording)
        found.update(dict.fromkeys(periods))
        if not periods:
            journal.note(f"transform: dropped period {excerpt(wording, 60)!r}: no fiscal year, quarter or date in it")
    return tuple(found) or tuple(p for p in read.periods if p.part is not None or p.date is not None)


def _forms(form: str, journal: Journal) -> tuple[str, ...]:
    forms = forms_asked(form)
    if form and not forms:
        journal.note(f"transform: dropped form {excerpt(form, 40)!r}: no form of the index")
    return forms
