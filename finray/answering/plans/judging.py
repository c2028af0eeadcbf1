"""Answers judgements ("is liquidity healthy?") from ratios, before another answerer quotes a sentence."""

from __future__ import annotations

from finray.answering.plans.coverage import fitting_period, latest_period
from finray.answering.plans.customers import SEARCHED, judged_customers
from finray.answering.plans.judged import JudgedCompany
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Answerer, Curation
from finray.index.reading.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.question.measures.formulas import formulas
from finray.question.plans.judgements import Prototypes, concentration_of, doubts, judgement_of
from finray.question.plans.operations import in_order


class JudgingAnswerer:
    """Judges what the statements can decide. Leaves every other question to ``inner``, such as one that a plan of the
    curation already answers, or one whose figures are missing."""

    def __init__(self, inner: Answerer, facts: FilingFacts, encoder: Encoder) -> None:
        self._inner = inner
        self._facts = facts
        self._prototypes = Prototypes(encoder)

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        judged = self._judged(query, curation, journal)
        return judged if judged is not None else await self._inner.answer(query, curation, journal)

    def _judged(self, query: Query, curation: Curation, journal: Journal) -> Answer | None:
        passages = fitting_period(query, curation.kept, self._facts) or curation.kept
        doubted = [formulas()[key] for key in query.metrics if key in formulas()] if doubts(query.question) else []
        coverage = curation.coverage
        planned = coverage is not None and not coverage.absent and coverage.plan.kind != "trend"
        judgement = None if planned else judgement_of(query, self._prototypes)
        if not passages or len(query.companies) > 1:
            return None
        if judgement is None and not planned and (concentration := concentration_of(query)) is not None:
            about = self._facts.passages_about(passages[0].filing_id, concentration.search, SEARCHED)
            return judged_customers(concentration, about)
        if judgement is None and not doubted:
            return None
        company = next(iter(query.companies), None) or self._facts.company_of(passages[0].filing_id)
        latest = latest_period(passages, (company,), self._facts)
        periods = in_order(query.asked) or ([latest] if latest is not None else [])
        if not periods:
            return None
        figures = JudgedCompany(query, company, periods, passages, self._facts)
        if judgement is None:
            return figures.meaningless(doubted)
        topic = judgement.topic.name if judgement.topic is not None else "metrics"
        journal.note(f"answer: a judgement on {topic}: {', '.join(r.formula.names[0] for r in judgement.ratios)}")
        return figures.answer(judgement)
