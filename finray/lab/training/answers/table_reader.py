"""Fits ``finray.answering.table_reader.reading_choice`` to the readings of tables that compete for each question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np

from finray.answering.plans.wording import asked_value, shown_move
from finray.answering.presence import absence
from finray.answering.table_reader.operations import NAMING, Reading
from finray.answering.table_reader.reading_choice import SIGNALS, signals
from finray.answering.table_reader.reading_features import unit_of
from finray.answering.table_reader.readings import Readings
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.core.questions import Question
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation import metrics
from finray.lab.evaluation.figure_errors import digits, gold_operands
from finray.lab.evaluation.numbers import Number
from finray.lab.training.answers.evidence_cells import is_evidence
from finray.lab.training.answers.recorded import Recorded, recorded_answers
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog

ReadingQuestion: TypeAlias = ChoiceQuestion[Readings]

READINGS: Final = ChoiceTask[Readings](SIGNALS, signals, wrong=0.03)
_MOVES: Final = frozenset({"difference", "growth"})
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


async def reading_questions(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[ReadingQuestion]:
    """The readings of each question that reached the answerer and has tables on its pages; groups are companies, qids
    get the prefix ``source``. ``engine`` must not read tables itself (``loop.tables = false``)."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    chooser = TableAnswerer(facts)
    found = [
        reading_question(recorded, chooser, facts, source)
        async for recorded in recorded_answers(questions, engine, progress)
    ]
    return [each for each in found if each is not None]


def reading_question(
    recorded: Recorded, chooser: TableAnswerer, facts: FilingFacts, source: str
) -> ReadingQuestion | None:
    """The readings that compete for one question, or None if there is none."""
    question, query = recorded.question, recorded.query
    competing = chooser.competing(query, recorded.curation)
    if competing is None or not competing.found.readings:
        return None
    found = competing.found
    reference = None if metrics.is_unanswerable(question) else metrics.numeric_reference(question)
    right = _right(question, query, found, reference)
    gold = [states and _is_meant(question, found, at) for at, states in enumerate(right)]
    return ReadingQuestion(
        f"{source}:{question.qid}",
        recorded.group,
        found,
        competing.asked,
        np.asarray(gold, dtype=bool),
        np.asarray(right, dtype=bool),
        figure=reference is not None,
        taken=recorded.prediction.value is not None or absence(query, recorded.curation.kept, facts) is not None,
    )


def _right(question: Question, query: Query, found: Readings, reference: Number | None) -> list[bool]:
    """Whether an answer with each reading states the gold figure."""
    if reference is None:
        return [False] * len(found.readings)
    known: dict[tuple[float, str, str], bool] = {}
    result = []
    for reading, value in zip(found.readings, found.values, strict=True):
        if reading.operation in NAMING:
            result.append(False)
            continue
        unit = unit_of(reading.operation, found.cells_of(reading))
        moves = reading.operation in _MOVES
        text = shown_move(float(value), unit, query.shape, query.intents) if moves else ""
        given = (*asked_value(float(value), unit, query.shape), text)
        if given not in known:
            prediction = Prediction(question.qid, question.question, text, "answered", value=given[0], unit=given[1])
            known[given] = bool(metrics.numeric_accuracy(question, prediction, reference))
        result.append(known[given])
    return result


def _is_meant(question: Question, found: Readings, at: int) -> bool:
    """Whether the reading has the operands of the gold program, or is one printed figure without one, and the evidence
    quotes its cells."""
    reading: Reading = found.readings[at]
    cells = found.cells_of(reading)
    operands = set(gold_operands(question, [cell.item for cell in found.shortlist.cells]))
    if operands and operands != {digits(Decimal(each)) for cell in cells for each in _figures(cell.item.text)}:
        return False
    if not operands and len(cells) > 1:
        return False
    return all(is_evidence(question, cell) for cell in cells)


def _figures(text: str) -> list[str]:
    return [match.replace(",", "") for match in _FIGURE.findall(text)]
