"""Training data of the choice of a cell: the cells that compete for each question that no plan answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from finray.answering.cell_answerer import CellAnswerer, value_of
from finray.answering.page_cells import PageCell
from finray.answering.presence import absence
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import Answerer, Curation
from finray.core.types import Answer, Prediction, Question
from finray.engine import Engine
from finray.index.facts import FilingFacts
from finray.lab.evaluation import metrics
from finray.lab.evaluation.evaluate import score
from finray.lab.evaluation.numbers import Number
from finray.lab.training.cell_choice import CellQuestion
from finray.lab.training.page_ranking_data import Progress
from finray.question.companies import CompanyCatalog

_FEW_DIGITS = 3
"""A figure with fewer digits may stand elsewhere by chance, so it must be on a gold page."""


@dataclass(slots=True)
class _Recorder:
    """Notes what the answerer was asked."""

    inner: Answerer
    query: Query | None = None
    curation: Curation | None = None

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        self.query, self.curation = query, curation
        return await self.inner.answer(query, curation, journal)


async def cell_questions(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[CellQuestion]:
    """One for each question that reached the answerer; groups are companies, qids get the prefix ``source``. ``engine``
    must not choose cells itself (``loop.cells = false``)."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    chooser = CellAnswerer(facts)
    result: list[CellQuestion] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        recorder = _Recorder(engine.roles.answerer)
        recorded = Engine(replace(engine.roles, answerer=recorder), engine.reader, engine.settings)
        prediction = await recorded.answer(question)
        if recorder.query is not None and recorder.curation is not None:
            found = cell_question(question, prediction, recorder.query, recorder.curation, chooser, facts, source)
            result.append(found)
    progress(len(questions), len(questions))
    return result


def cell_question(
    question: Question,
    prediction: Prediction,
    query: Query,
    curation: Curation,
    chooser: CellAnswerer,
    facts: FilingFacts,
    source: str,
) -> CellQuestion:
    """``prediction`` is the answer without a choice of cells."""
    found, asked = chooser.candidates(query, curation)
    reference = None if metrics.is_unanswerable(question) else metrics.numeric_reference(question)
    gold = [
        reference is not None and _is_gold(question, query, cell, reference, facts) for cell in found.cells
    ]
    scores = score(question, prediction)
    named = {evidence.doc_name for evidence in question.evidence}
    companies = (facts.company_of(c.filing.filing_id) for c in found.cells if c.filing.doc_name in named)
    group = next(companies, None) or next(iter(query.companies), question.qid)
    return CellQuestion(
        f"{source}:{question.qid}",
        group,
        found,
        asked,
        np.asarray(gold, dtype=bool),
        figure=reference is not None,
        taken=prediction.value is not None or absence(query, curation.kept, facts) is not None,
        wrong=bool(scores.get("wrong_figure", 0.0)),
    )


def _is_gold(question: Question, query: Query, cell: PageCell, reference: Number, facts: FilingFacts) -> bool:
    """Whether ``cell`` prints the gold figure: on a gold page, or, if chance is unlikely, in a gold filing."""
    wanted, own = _digits(str(reference.face)), _digits(cell.item.text)
    if own[:2] != wanted[:2] and not _may_round(own, wanted):
        return False
    doc_name = cell.filing.doc_name
    if (doc_name, cell.item.page) not in {place for each in question.evidence for place in each.places}:
        near = any(each.doc_name == doc_name for each in question.evidence)
        if not near or len(own) < _FEW_DIGITS:
            return False
    stated = value_of(cell, query, facts)
    if stated is None:
        return False
    prediction = Prediction(question.qid, question.question, "", "answered", value=stated[0], unit=stated[1])
    return metrics.numeric_accuracy(question, prediction, reference)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text).lstrip("0").rstrip("0")


def _may_round(own: str, wanted: str) -> bool:
    """Whether a rounded ``own`` may start as ``wanted`` does: 2.98 and 3.0."""
    return abs(float(f"0.{own or 0}") - float(f"0.{wanted or 0}")) < 0.06 or {own[:1], wanted[:1]} == {"1", "9"}
