"""The answerer of the ``local`` preset: computes numbers from line items or quotes sentences, each with its page."""

from __future__ import annotations

from collections.abc import Mapping

from finray.answering.plans.computed import Computation
from finray.answering.plans.coverage import fitting_period, printed_instead
from finray.answering.plans.share_classes import each_class, shares_outstanding, with_other_classes
from finray.answering.plans.units import answers_unit, result_unit
from finray.answering.sentences.in_words import WordsAnswerer
from finray.core.journal import Journal
from finray.core.plan import Coverage, Found
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts
from finray.question.arithmetic import ProgramError


class StatementAnswerer:
    """Computes numbers by the program of a plan. Quotes sentences for other questions, and for those whose words no row
    has. Refuses if an operand of a named metric is missing.

    Plans and their coverage come with the curation (:class:`PlannedAnswerer`). :class:`GuardedAnswerer` first checks
    that the index has the company and the period.
    """

    def __init__(self, facts: FilingFacts, words: WordsAnswerer) -> None:
        self._facts = facts
        self._words = words

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        coverage = curation.coverage
        outstanding = shares_outstanding(query, curation.kept, self._facts)
        if outstanding is not None:
            journal.note("answer: shares outstanding, from the cover")
            return outstanding
        if coverage is None:
            return self._in_words(query, curation, journal)
        if not coverage.absent:
            return self._computed(query, coverage, curation)
        plan, absent = coverage.plan, coverage.absent
        instead = printed_instead(coverage, query, curation.kept, self._facts)
        if instead is not None:
            journal.note(f"answer: {instead.label!r} has no figure for {instead.operand.period}")
            return instead.refusal(query, self._facts.company_name(instead.operand.company), self._facts)
        journal.note("answer: no value for " + ", ".join(operand.name for operand in absent))
        if "words" not in query.intents and any(operand.phrase is None for operand in absent):
            return Answer.refused(*(o.described(self._facts.company_name(o.company)) for o in absent))
        # No row has the words of the question: a sentence may, or they do not name a figure at all.
        computed = plan.kind != "value" or any(each.spelled for each in curation.plans)
        return self._in_words(query, curation, journal, amount=bool(query.periods) or computed)

    def _computed(self, query: Query, coverage: Coverage, curation: Curation) -> Answer:
        found = coverage.found.values()
        currencies = sorted({item.currency for item in found if item.currency and item.unit.startswith("USD")})
        if len(currencies) > 1:
            return Answer.refused(f"the figures in one currency: they are in {', '.join(currencies)}")
        if not answers_unit(query, coverage):
            unit = result_unit(query, coverage)
            return Answer.refused(f"{query.shape.unit} for {query.worded!r}: the closest row gives {unit}")
        classes = self._classes(query, coverage)
        if classes is not None:
            return each_class(query, classes, curation.kept, self._facts)
        try:
            answer = Computation(query, coverage, curation.kept, self._facts).answer()
        except ProgramError as error:
            return Answer.refused(f"a defined result: {error}")
        if query.operation == "share" and coverage.plan.kind == "value" and not _is_share(answer):
            return Answer.refused(f"a share for {query.worded!r}: the closest rows give {answer.text}")
        return answer

    def _classes(self, query: Query, coverage: Coverage) -> Mapping[str, Found] | None:
        """The figures of all classes of shares, if the question names none and they differ."""
        found = next(iter(coverage.found.values()))
        items = self._facts.line_items([found.filing.filing_id])[found.filing.filing_id]
        return with_other_classes(query, coverage.plan, found, items)

    def _in_words(self, query: Query, curation: Curation, journal: Journal, *, amount: bool = False) -> Answer:
        passages = fitting_period(query, curation.kept, self._facts) or curation.kept
        return self._words.answer(query, passages, journal, amount=amount)


def _is_share(answer: Answer) -> bool:
    """Whether the answer, if it is a percentage, is between nothing and the whole."""
    return answer.unit != "percent" or answer.value is None or 0 <= answer.value <= 100
