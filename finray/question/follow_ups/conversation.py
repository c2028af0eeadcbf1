"""Resolves the follow-up questions of a conversation by rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.question_fields import single_spaced
from finray.core.roles import Resolution
from finray.question.follow_ups.completed import follow
from finray.question.follow_ups.parts import Parts
from finray.question.rule_reader import RuleReader


class RuleConversation:
    """Completes each question of a conversation from those before it, as ``rules`` read them."""

    def __init__(self, rules: RuleReader) -> None:
        self._rules = rules

    async def resolve(self, question: str, earlier: Sequence[str], journal: Journal) -> Resolution:
        return self.resolved(question, earlier)

    def resolved(self, question: str, earlier: Sequence[str]) -> Resolution:
        """``question`` completed from the questions ``earlier``, oldest first.

        Earlier questions that are unclear or name nothing are skipped.
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
        """The questions ``earlier`` as read, from the last one that is complete in itself on."""
        read: list[Query] = []
        for each in reversed(earlier):
            read.insert(0, self._read(single_spaced(each)))
            if self._is_complete(read[0]):
                break
        return read

    def _is_complete(self, query: Query) -> bool:
        parts = Parts(query)
        has_company = bool(parts.names) or parts.any_company
        return has_company and parts.has_subject and parts.has_period and not (parts.refers or parts.relative)

    def agrees(self, resolved: str, question: str, earlier: Sequence[str]) -> bool:
        """Whether ``resolved`` keeps the companies and periods that ``question`` names, and adds none that no question
        names."""
        read, asked = self._read(single_spaced(resolved)), self._read(single_spaced(question))
        named = [asked, *(self._read(single_spaced(each)) for each in earlier)]
        return (
            _keeps_named(read, asked)
            and set(read.companies) <= {company for query in named for company in query.companies}
            and (bool(Parts(asked).relative) or set(read.periods) <= {p for query in named for p in query.periods})
            and set(asked.unknown_companies) <= set(read.unknown_companies)
        )

    def _followed(self, query: Query, before: Query | None) -> Resolution:
        if before is None:
            return Resolution(query.question)
        query = self._capitalized(query)
        found = follow(query, before)
        return found if found.unclear or found.question == query.question else self._checked(found, query, before)

    def _checked(self, found: Resolution, query: Query, before: Query) -> Resolution:
        """``found`` if it keeps what ``query`` names, else that the question is unclear."""
        read = self._read(found.question)
        kept = (
            _keeps_named(read, query)
            and set(read.companies) <= {*query.companies, *before.companies}
            and set(query.metrics) <= set(read.metrics)
        )
        return found if kept else Resolution(query.question, "how it continues the earlier question")

    def _capitalized(self, query: Query) -> Query:
        """``query`` read with capitals, if it is a fragment without company and metric that then names a company."""
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


def _keeps_named(completed: Query, asked: Query) -> bool:
    """Whether ``completed`` has the companies and periods that ``asked`` names, and no others beside those unless it
    compares."""
    compares = "difference" in asked.intents
    return _keeps(completed.companies, asked.companies, compares) and _keeps(completed.periods, asked.periods, compares)


def _keeps(read: Collection[object], named: Collection[object], compares: bool) -> bool:
    """Whether ``read`` has all that is ``named``, and nothing else if anything is and the question does not compare."""
    return set(named) <= set(read) and (compares or not named or set(named) == set(read))
