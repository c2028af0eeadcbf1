"""Resolves the follow-up questions of a conversation by rules."""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.question_fields import single_spaced
from finray.core.roles import Resolution
from finray.question.follow_ups.completed import follow
from finray.question.follow_ups.parts import Parts
from finray.question.rule_reader import RuleReader


class RuleConversation:
    """Reads the questions of a conversation by ``rules``."""

    def __init__(self, rules: RuleReader) -> None:
        self._rules = rules

    async def resolve(self, question: str, earlier: Sequence[str], journal: Journal) -> Resolution:
        return self.resolved(question, earlier)

    def resolved(self, question: str, earlier: Sequence[str]) -> Resolution:
        """``question`` complete in itself, after the questions ``earlier``, oldest first.

        An earlier question that is unclear, or that names nothing, is passed over.
        """
        before: Query | None = None
        for each in self._since_complete(earlier):
            found = self._followed(each, before)
            query = self._read(found.question)
            if not found.unclear and (query.companies or query.unknown_companies or query.metrics or query.periods):
                before = query
        return self._followed(self._read(single_spaced(question)), before)

    def is_complete(self, question: str) -> bool:
        """Whether ``question`` names company, subject and period, and refers to no other question."""
        return self._is_complete(self._read(single_spaced(question)))

    def _since_complete(self, earlier: Sequence[str]) -> Sequence[Query]:
        """The questions from the last one that is complete in itself."""
        read: list[Query] = []
        for each in reversed(earlier):
            read.insert(0, self._read(single_spaced(each)))
            if self._is_complete(read[0]):
                break
        return read

    def _is_complete(self, query: Query) -> bool:
        parts = Parts(query)
        named = (parts.names or parts.any_company) and parts.has_subject and parts.has_period
        return bool(named) and not (parts.refers or parts.relative)

    def agrees(self, resolved: str, question: str, earlier: Sequence[str]) -> bool:
        """Whether ``resolved`` keeps the companies and periods that ``question`` names, and adds none that no question
        names."""
        read, asked = self._read(single_spaced(resolved)), self._read(single_spaced(question))
        named = [asked, *(self._read(single_spaced(each)) for each in earlier)]
        compares = "difference" in asked.intents
        companies, periods = set(read.companies), set(read.periods)
        relative = bool(Parts(asked).relative)
        return (
            (
                set(asked.companies) <= companies
                if compares or not asked.companies
                else set(asked.companies) == companies
            )
            and (set(asked.periods) <= periods if compares or not asked.periods else set(asked.periods) == periods)
            and companies <= {company for query in named for company in query.companies}
            and (relative or periods <= {period for query in named for period in query.periods})
            and set(asked.unknown_companies) <= set(read.unknown_companies)
        )

    def _followed(self, query: Query, before: Query | None) -> Resolution:
        if before is None:
            return Resolution(query.question)
        query = self._capitalized(query)
        found = follow(query, before)
        return found if found.unclear or found.question == query.question else self._checked(found, query, before)

    def _checked(self, found: Resolution, query: Query, before: Query) -> Resolution:
        """``found``, unless it reads as something else than ``query`` names: then it is unclear."""
        read, compares = self._read(found.question), "difference" in query.intents
        kept = (
            set(query.companies) <= set(read.companies) <= {*query.companies, *before.companies}
            and set(query.periods) <= set(read.periods)
            and set(query.metrics) <= set(read.metrics)
            and (compares or not query.companies or set(read.companies) == set(query.companies))
            and (compares or not query.periods or set(read.periods) == set(query.periods))
        )
        return found if kept else Resolution(query.question, "how it continues the earlier question")

    def _capitalized(self, query: Query) -> Query:
        """``query`` with a company that is written in lower case, if a fragment names nothing else."""
        parts = Parts(query)
        if query.companies or query.metrics or parts.is_sentence or not parts.content:
            return query
        text = list(query.text)
        for start, _ in parts.content:
            text[start] = text[start].upper()
        capitalized = self._read("".join(text))
        return capitalized if capitalized.companies else query

    def _read(self, question: str) -> Query:
        return self._rules.understand(question, question)
