"""Reading a question by rules: the words of the question and the catalog of the index, no model."""

from __future__ import annotations

import re

from finray.core.journal import Journal
from finray.core.query import Query
from finray.filings.canonical import canonical_items
from finray.question.companies import CompanyCatalog
from finray.question.definitions import defined_formula, defined_name
from finray.question.forms import forms_asked
from finray.question.formulas import formulas
from finray.question.mentions import mentions
from finray.question.periods import last_years_in, periods_in
from finray.question.wording import statements_named, unexplained_words, without_instructions


class PlainReader:
    """The ablation without query transformation: the question as asked, no structure."""

    async def read(self, question: str, journal: Journal) -> Query:
        return Query(question=question, text=question)


class RuleReader:
    """Companies from the index's own catalog, periods, forms, metrics and the statements that hold them."""

    def __init__(self, catalog: CompanyCatalog) -> None:
        self._catalog = catalog

    async def read(self, question: str, journal: Journal) -> Query:
        text = without_instructions(question)
        named = statements_named(question)
        items = canonical_items()
        metrics = tuple(dict.fromkeys(mention.key for mention in mentions(question)))
        lines = tuple(
            dict.fromkeys(
                line for key in metrics for line in (formulas()[key].line_items if key in formulas() else (key,))
            )
        )
        implied = tuple(dict.fromkeys(items[line].statement for line in lines))
        searched = text
        companies = self._catalog.mentions(text)
        if not companies.known and text != question:
            searched, companies = question, self._catalog.mentions(question)
        named_here = companies.spans if searched == text else ()
        spans = [*named_here, *((mention.start, mention.end) for mention in mentions(text)), *_defined(question, text)]
        query = Query(
            question=question,
            text=text,
            companies=companies.known,
            unknown_companies=companies.unknown,
            periods=periods_in(question),
            last_years=last_years_in(text),
            forms=forms_asked(question),
            metrics=metrics,
            statements=tuple(dict.fromkeys((*named, *implied))),
            statements_named=named,
            names=tuple(searched[start:end] for start, end in companies.spans),
            unexplained=unexplained_words(text, spans),
            terms=tuple(items[line].names[0] for line in lines),
        )
        journal.note(
            f"transform: companies {list(query.companies)}, periods {[str(p) for p in query.periods]}, "
            f"forms {list(query.forms)}, metrics {list(query.metrics)}, statements {list(query.statements)}, "
            f"unexplained {list(query.unexplained)}"
        )
        return query


def _defined(question: str, text: str) -> list[tuple[int, int]]:
    """Where ``text`` says the name of a metric that the question defines itself."""
    name = defined_name(question)
    if name is None or defined_formula(question) is None:
        return []
    return [match.span() for match in re.finditer(re.escape(name), text, re.I)]
