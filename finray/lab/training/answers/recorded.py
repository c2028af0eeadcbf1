"""Answers of an engine with what their answerer was given, as training data of what chooses answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from finray.core.journal import Journal
from finray.core.predictions import Answer, Prediction
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.roles import Answerer, Curation
from finray.engine import Engine
from finray.lab.training.retrieval.page_ranking_data import Progress


@dataclass(slots=True)
class _Recorder:
    """Notes what the answerer was asked."""

    inner: Answerer
    query: Query | None = None
    curation: Curation | None = None

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        self.query, self.curation = query, curation
        return await self.inner.answer(query, curation, journal)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An answer, and the query and curation that it was made from."""

    question: Question
    prediction: Prediction
    query: Query
    curation: Curation


async def recorded_answers(
    questions: Sequence[Question], engine: Engine, progress: Progress
) -> AsyncIterator[Recorded]:
    """The answers of ``engine``, without questions that did not reach the answerer."""
    for done, question in enumerate(questions):
        progress(done, len(questions))
        recorder = _Recorder(engine.roles.answerer)
        recorded = Engine(replace(engine.roles, answerer=recorder), engine.reader, engine.settings)
        prediction = await recorded.answer(question)
        if recorder.query is not None and recorder.curation is not None:
            yield Recorded(question, prediction, recorder.query, recorder.curation)
    progress(len(questions), len(questions))


def group_of(question: Question, query: Query, owners: Mapping[str, str]) -> str:
    """The company of the gold filing, else that of the query; ``owners`` has the company of each filing by name."""
    companies = (owners[each.doc_name] for each in question.evidence if each.doc_name in owners)
    return next(companies, None) or next(iter(query.companies), question.qid)
