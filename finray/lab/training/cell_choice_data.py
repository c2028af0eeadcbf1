"""Training data of the choice of a cell: the cells that compete for each question that no plan answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from finray.answering.cell_answerer import CellAnswerer, value_of
from finray.answering.page_cells import PageCell
from finray.answering.presence import absence
from finray.core.query import Query
from finray.core.roles import Curation
from finray.core.types import Prediction, Question
from finray.engine import Engine
from finray.index.facts import FilingFacts
from finray.lab.evaluation import metrics
from finray.lab.evaluation.numbers import Number
from finray.lab.training.cell_choice import CellQuestion
from finray.lab.training.page_ranking_data import Progress
from finray.lab.training.recorded import group_of, recorded_answers
from finray.question.companies import CompanyCatalog
from finray.question.synonyms import words_of

_NAMED = 0.5
"""Share of a row's words that a quotation of it has."""
_FEW_DIGITS = 3
"""A figure with fewer digits may stand elsewhere by chance, so it must be on a gold page."""


async def cell_questions(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[CellQuestion]:
    """One for each question that reached the answerer; groups are companies, qids get the prefix ``source``. ``engine``
    must not choose cells itself (``loop.cells = false``)."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    chooser = CellAnswerer(facts)
    owners = {filing.doc_name: facts.company_of(filing.filing_id) for filing in engine.reader.filings()}
    return [
        cell_question(each.question, each.prediction, each.query, each.curation, chooser, facts, owners, source)
        async for each in recorded_answers(questions, engine, progress)
    ]


def cell_question(
    question: Question,
    prediction: Prediction,
    query: Query,
    curation: Curation,
    chooser: CellAnswerer,
    facts: FilingFacts,
    owners: Mapping[str, str],
    source: str,
) -> CellQuestion:
    """``prediction`` is the answer without a choice of cells; ``owners`` has the company of each filing by name."""
    found, asked = chooser.candidates(query, curation)
    reference = None if metrics.is_unanswerable(question) else metrics.numeric_reference(question)
    right = [reference is not None and _states(question, query, cell, reference, facts) for cell in found.cells]
    gold = [states and is_evidence(question, cell) for states, cell in zip(right, found.cells, strict=True)]
    return CellQuestion(
        f"{source}:{question.qid}",
        group_of(question, query, owners),
        found,
        asked,
        np.asarray(gold, dtype=bool),
        np.asarray(right, dtype=bool),
        figure=reference is not None,
        taken=prediction.value is not None or absence(query, curation.kept, facts) is not None,
    )


def _states(question: Question, query: Query, cell: PageCell, reference: Number, facts: FilingFacts) -> bool:
    """Whether an answer with ``cell`` states the gold figure."""
    wanted, own = _digits(str(reference.face)), _digits(cell.item.text)
    if own[:2] != wanted[:2] and not _may_round(own, wanted):
        return False
    stated = value_of(cell, query, facts)
    if stated is None:
        return False
    prediction = Prediction(question.qid, question.question, "", "answered", value=stated[0], unit=stated[1])
    return metrics.numeric_accuracy(question, prediction, reference)


def is_evidence(question: Question, cell: PageCell) -> bool:
    """Whether ``cell`` is quoted in the gold evidence, or its row is and the figure is too long to be there by chance;
    without a quotation, whether it is on a gold page."""
    place = (cell.filing.doc_name, cell.item.page)
    for each in question.evidence:
        if not each.text:
            if place in each.places:
                return True
            continue
        label, quoted = set(words_of(cell.item.label)), set(words_of(each.text))
        named = not label or len(label & quoted) >= _NAMED * len(label)
        prints = cell.item.text.strip("$ ()%") in each.text
        if named and prints and (place in each.places or len(_digits(cell.item.text)) >= _FEW_DIGITS):
            return True
    return False


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text).lstrip("0").rstrip("0")


def _may_round(own: str, wanted: str) -> bool:
    """Whether a rounded ``own`` may start as ``wanted`` does: 2.98 and 3.0."""
    return abs(float(f"0.{own or 0}") - float(f"0.{wanted or 0}")) < 0.06 or {own[:1], wanted[:1]} == {"1", "9"}
