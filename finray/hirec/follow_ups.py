"""Finds what a model asks for after its first evidence: another question, a statement, the neighbors of a passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import FollowUp
from finray.index.reading.facts import FilingFacts
from finray.index.reading.reader import IndexReader
from finray.question.rule_reader import RuleReader, described, with_measures
from finray.question.spelled import resolved

_FILINGS = 2
"""Filings whose statements are looked up: the best of the follow-up's."""
_STATEMENT_PAGES = 3
"""Pages of one statement; a parenthetical page follows some."""


class IndexFollowUps:
    """Reads follow-ups by ``rules`` and the fields that the model fills in; nothing of its wording is shortened."""

    def __init__(self, rules: RuleReader, reader: IndexReader, facts: FilingFacts) -> None:
        self._rules = rules
        self._reader = reader
        self._facts = facts

    async def read(self, follow_up: FollowUp, before: Query, journal: Journal) -> Query:
        query = resolved(follow_up.spelled.text, follow_up.spelled, self._rules, journal)
        if not query.companies and not query.unknown_companies:
            query = with_measures(replace(query, companies=before.companies))
        if not query.periods:
            query = with_measures(replace(query, periods=before.periods))
        for line in described(query):
            journal.note(line)
        return query

    async def near(self, follow_up: FollowUp, documents: Sequence[Document], journal: Journal) -> Sequence[Passage]:
        """What surrounds each passage, then the pages of the statements in the best of ``documents``."""
        found = [*self._around(follow_up.neighbors), *self._statements(follow_up, documents)]
        if found:
            pages = dict.fromkeys(f"{passage.doc_name} p. {passage.page + 1}" for passage in found)
            journal.note(f"passages: as asked, {', '.join(pages)}")
        return tuple(dict.fromkeys(found))

    def _around(self, passages: Sequence[Passage]) -> Iterator[Passage]:
        """The chunks before and after each passage, then the nearest ones of the pages before and after: a table often
        begins on the next page."""
        for passage in passages:
            page = self._facts.passages_of(passage.filing_id, passage.page)
            yield from [chunk for chunk in page if chunk.start < passage.start][-1:]
            yield from [chunk for chunk in page if chunk.start > passage.start][:1]
            yield from self._facts.passages_of(passage.filing_id, passage.page + 1)[:1]
            if passage.page:
                yield from self._facts.passages_of(passage.filing_id, passage.page - 1)[-1:]

    def _statements(self, follow_up: FollowUp, documents: Sequence[Document]) -> Iterator[Passage]:
        wanted = follow_up.spelled.statements
        if not wanted:
            return
        for document in documents[:_FILINGS]:
            filing_id = document.filing.filing_id
            pages = self._reader.pages([filing_id], ["page", "statement"]).to_pylist()
            for statement in wanted:
                printed = [row["page"] for row in pages if row["statement"] == statement]
                for page in printed[:_STATEMENT_PAGES]:
                    yield from self._facts.passages_of(filing_id, page)
