"""Answers of an engine with what its answerer was given, to train the models that choose answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from finray.core.journal import Journal
from finray.core.predictions import Answer, Prediction
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.roles import Answerer, Curation
from finray.engine import Engine
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog


@dataclass(slots=True)
class _Recorder:
    """Keeps what the answerer was last given, and its answer."""

    inner: Answerer
    last: tuple[Query, Curation, Answer] | None = None

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        answer = await self.inner.answer(query, curation, journal)
        self.last = (query, curation, answer)
        return answer


@dataclass(frozen=True, slots=True)
class Recorded:
    """A prediction, the query and curation that it was made from, and the answerer's ``answer``. ``group`` is the
    company of the gold filing, else that of the query, else the question itself: folds do not split it."""

    question: Question
    prediction: Prediction
    query: Query
    curation: Curation
    answer: Answer
    group: str


async def recorded_answers(
    questions: Sequence[Question], engine: Engine, progress: Progress
) -> AsyncIterator[Recorded]:
    """Yields the answers of ``engine`` to the questions that reach its answerer."""
    catalog = CompanyCatalog(engine.reader.filings())
    owners = {filing.doc_name: catalog.company_of_filing[filing.filing_id] for filing in engine.reader.filings()}
    for done, question in enumerate(questions):
        progress(done, len(questions))
        recorder = _Recorder(engine.roles.answerer)
        recorded = Engine(replace(engine.roles, answerer=recorder), engine.reader, engine.catalog, engine.settings)
        prediction = await recorded.answer(question)
        if recorder.last is not None:
            query, curation, answer = recorder.last
            companies = (owners[each.doc_name] for each in question.evidence if each.doc_name in owners)
            group = next(companies, None) or next(iter(query.companies), question.qid)
            yield Recorded(question, prediction, query, curation, answer, group)
    progress(len(questions), len(questions))
