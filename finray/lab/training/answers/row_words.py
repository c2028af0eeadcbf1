"""Fits ``finray.answering.table_reader.row_words`` to the rows of each question's retrieved pages, some of which have
its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.cells.page_cells import PageCells
from finray.answering.plans.coverage import fitting_period
from finray.answering.table_reader.series import Series
from finray.answering.table_reader.shortlist import rows_of
from finray.core.arrays import Floats
from finray.core.questions import Question
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation import metrics
from finray.lab.evaluation.figure_errors import digits, gold_operands
from finray.lab.evaluation.numbers import find_numbers
from finray.lab.training.answers.evidence_cells import is_evidence
from finray.lab.training.answers.recorded import Recorded, recorded_answers
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog


@dataclass(frozen=True)
class RowQuestion:
    """``features`` is float64 [rows, features of row_words], ``gold`` bool [rows]: which print an operand. Folds do not
    split a ``group``."""

    qid: str
    group: str
    features: Floats
    gold: npt.NDArray[np.bool_]


async def row_questions(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[RowQuestion]:
    """The rows of each question for a figure of which a retrieved page prints the value or an operand. Groups are
    companies, qids get the prefix ``source``."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    cells = PageCells(facts)
    found = [
        row_question(recorded, cells, facts, source) async for recorded in recorded_answers(questions, engine, progress)
    ]
    return [each for each in found if each is not None]


def row_question(recorded: Recorded, cells: PageCells, facts: FilingFacts, source: str) -> RowQuestion | None:
    """The rows of one question, or None if no row has a figure of it."""
    question, query = recorded.question, recorded.query
    if metrics.is_unanswerable(question):
        return None
    rows = rows_of(query, cells.read(fitting_period(query, recorded.curation.kept, facts)), facts)
    wanted = _figures(question, rows.series)
    gold = np.asarray([_prints(question, row, wanted) for row in rows.series], dtype=bool)
    if not gold.any():
        return None
    return RowQuestion(f"{source}:{question.qid}", recorded.group, rows.features, gold)


def _figures(question: Question, rows: Sequence[Series]) -> set[str]:
    """The digits of the gold program's operands, or of the gold figure."""
    operands = gold_operands(question, [cell.item for row in rows for cell in row.cells])
    if operands:
        return set(operands)
    reference = metrics.numeric_reference(question)
    return {digits(reference.face)} if reference is not None else set()


def _prints(question: Question, row: Series, wanted: set[str]) -> bool:
    return any(
        any(digits(number.face) in wanted for number in find_numbers(cell.item.text)) and is_evidence(question, cell)
        for cell in row.cells
    )


def fit_row_words(questions: Sequence[RowQuestion], l2: float) -> Floats:
    """Fit the weights of row_words. Raises ValueError without a question."""
    return conditional_logit([(each.features, each.gold.astype(np.float64)) for each in questions], l2)


def held_out_ranks(questions: Sequence[RowQuestion], l2: float) -> list[int]:
    """For each question the rank, from 0, of its last gold row, by weights fitted without its company."""
    ranks: list[int] = []
    for rest, own in folds_by_group(questions, lambda question: question.group):
        weights = fit_row_words(rest, l2)
        ranks += [last_rank(question, weights) for question in own]
    return ranks


def last_rank(question: RowQuestion, weights: Floats) -> int:
    """The rank, from 0, of the last gold row."""
    order = np.argsort(-(question.features @ weights), kind="stable")
    return int(np.flatnonzero(question.gold[order]).max())
