"""Reads questions by rules, from their words and the catalog of the index, without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from finray.core.journal import Journal
from finray.core.query import Query, Span
from finray.filings.tables.canonical import canonical_items
from finray.question.companies.catalog import CompanyCatalog, Mentions
from finray.question.forms import forms_asked
from finray.question.intents import intents_of
from finray.question.labels import labels
from finray.question.measures.definitions import defined_formula, defined_name
from finray.question.measures.formulas import line_items_of
from finray.question.measures.mentions import mentions
from finray.question.measures.named import measures_of
from finray.question.measures.shape import asked_shape
from finray.question.periods.named import last_years_in
from finray.question.periods.relative_periods import with_counted
from finray.question.periods.sources import asked_again, source_periods
from finray.question.periods.written_out import written_out
from finray.question.wording import statements_named, unexplained_words, without_instructions

_EXPLAINED = frozenset({"company", "metric", "definition", "statement"})
"""Kinds of spans whose words do not narrow the question further."""

_ALL = 3
"""As many companies as a question over all of the index counts as naming: more than two."""

_TRANSITION = re.compile(r"\btransition(?:al)? period\b", re.I)
Settle = Callable[[Mentions, str], Mentions]


class PlainReader:
    """Ablation without query transformation: the question as asked, without companies, periods and forms."""

    async def read(self, question: str, journal: Journal) -> Query:
        return plain_query(question)


class RuleReader:
    """Reads companies of the catalog, periods, forms, metrics, and the statements that print those metrics."""

    def __init__(self, catalog: CompanyCatalog, settle: Settle | None = None, *, anywhere: bool = False) -> None:
        """``settle`` searches unidentified filings for names that are not in the catalog. ``anywhere`` is that of the
        queries: true if a model judges the evidence."""
        self._catalog = catalog
        self._settle = settle
        self._anywhere = anywhere

    async def read(self, question: str, journal: Journal) -> Query:
        plain = written_out(question)
        query = replace(self.understand(plain, without_instructions(plain)), question=question)
        for line in described(query):
            journal.note(line)
        return query

    def understand(self, question: str, text: str) -> Query:
        """The query for ``question``. ``text`` is the same without instructions, or what a model made of it."""
        named = statements_named(question)
        metrics = tuple(dict.fromkeys(span.value for span in mentions(question)))
        items = [canonical_items()[key] for key in line_items_of(metrics)]
        searched, companies = text, self._catalog.mentions(text)
        if not companies.known and text != question:
            searched, companies = question, self._catalog.mentions(question)
        companies = self._settled(companies, searched)
        named_here = companies.spans if searched == text else ()
        spans = [*named_here, *labels(text), *_defined(question, text)]
        periods = with_counted(question)
        if _TRANSITION.search(question):
            periods = self._catalog.meant_periods(periods, companies.known)
        return with_measures(
            Query(
                question=question,
                text=text,
                companies=companies.known,
                unknown_companies=companies.unknown,
                periods=periods,
                last_years=last_years_in(text),
                shape=asked_shape(question),
                forms=forms_asked(question),
                metrics=metrics,
                statements=tuple(dict.fromkeys((*named, *(item.statement for item in items)))),
                statements_named=named,
                names=tuple(searched[span.start : span.end] for span in companies.spans),
                unexplained=unexplained_words(text, [span for span in spans if span.kind in _EXPLAINED]),
                terms=tuple(item.names[0] for item in items),
                spans=tuple(sorted(spans, key=lambda span: span.start)),
                anywhere=self._anywhere,
                own_names=companies.own_names,
                unclear=companies.unclear,
                over_all=companies.over_all,
            )
        )

    def companies(self, text: str) -> Mentions:
        return self._settled(self._catalog.mentions(text), text)

    def _settled(self, mentions: Mentions, text: str) -> Mentions:
        return mentions if self._settle is None else self._settle(mentions, text)


def plain_query(question: str) -> Query:
    """The query for ``question`` as worded, with its intents and what it may measure, but without companies, periods
    and forms."""
    return with_measures(Query(question=question, text=question, spans=labels(question), shape=asked_shape(question)))


def with_measures(query: Query, *, also: frozenset[str] = frozenset(), figure: bool | None = None) -> Query:
    """``query`` with the intents of its text and what it may measure.

    ``also`` are further intents; ``figure`` is whether a number is wanted, None if only the words tell.
    """
    metrics = [span for span in query.spans if span.kind == "metric"]
    question, text = (_without_names(words, query.names) for words in (query.question, query.text))
    companies = _ALL if query.over_all else len(query.companies)
    intents = also | intents_of(question, text, metrics, companies, len(query.periods))
    if figure is not None:
        intents = intents - {"words"} | {"amount"} if figure else intents - {"amount"} | {"words", "not_an_amount"}
    source = source_periods(query.question, intents)
    again = asked_again(query.question, source) if "ahead" not in intents else ()
    query = replace(query, intents=intents, source=source, again=again)
    return replace(query, measures=measures_of(query))


def _without_names(text: str, names: Sequence[str]) -> str:
    """``text`` with each name replaced by as many letters: "Income & Growth Fund V" does not ask for growth."""
    for name in names:
        text = text.replace(name, "X" * len(name))
    return text


def with_text(query: Query, text: str) -> Query:
    """``query`` with ``text`` as its wording, and what that measures. Companies and periods are kept."""
    return with_measures(replace(query, text=text, spans=labels(text)))


def described(query: Query) -> tuple[str, ...]:
    """Lines for the trace: what the question names, the labels of its words, and whose its names are."""
    spans = ", ".join(f"{query.text[s.start : s.end]!r} is {s.kind} {s.value}" for s in query.spans)
    read_in = f"read in {[str(p) for p in query.source]}, " if query.source else ""
    return (
        f"transform: companies {list(query.companies)}, periods {[str(p) for p in query.periods]}, "
        f"{read_in}forms {list(query.forms)}, metrics {list(query.metrics)}, "
        f"statements {list(query.statements)}, "
        f"unexplained {list(query.unexplained)}",
        f"transform: {spans or 'no words read'}; intents {sorted(query.intents)}",
        *(f"transform: {own.name!r} is {own.company}, {own.relation}: {own.sentence!r}" for own in query.own_names),
    )


def _defined(question: str, text: str) -> list[Span]:
    """Where ``text`` names a metric that the question defines."""
    name = defined_name(question)
    if name is None or (formula := defined_formula(question)) is None:
        return []
    return [Span("definition", *match.span(), formula) for match in re.finditer(re.escape(name), text, re.I)]
