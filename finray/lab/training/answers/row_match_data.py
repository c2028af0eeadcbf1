"""Training data of the row match: the cells of the gold filing that compete for the phrase of a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from finray.answering.cells.cell_words import Rarity, concept_words
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.lookup import comparable, standing
from finray.answering.cells.operands import phrase_periods, printed_amount
from finray.answering.cells.row_match import Matcher
from finray.answering.cells.row_weights import (
    Reading,
    Standing,
    fitted_row_weights,
    row_weights,
    standing_factor,
    weigh,
)
from finray.core.filing import Filing, LineItem
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.plan import Operand, Phrase
from finray.core.query import Query
from finray.core.questions import Question
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.training.answers.row_match import WEAK_WORDS, CellReadings, RowChoice
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.lab.training.stored import stored_arrays
from finray.question.companies.catalog import CompanyCatalog
from finray.question.measures.phrase import phrase_of
from finray.question.plans.operations import plans_of

MOST_CELLS, MOST_READINGS = 16, 3
"""Cells of a choice, and readings of a cell, that are kept: the best by the prior weights. Others rarely win."""
_SAME_VALUE = 0.006


async def row_choices(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[RowChoice]:
    """One choice for each question about a single figure of a single filing in the engine's index, if a cell prints the
    figure; qids get the prefix ``source``."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    by_name = {filing.doc_name: filing for filing in engine.reader.filings()}
    choices: list[RowChoice] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        names = {evidence.doc_name for evidence in question.evidence} & by_name.keys()
        if question.value is None or len(names) != 1:
            continue
        filing = by_name[names.pop()]
        query = await engine.roles.reader.read(question.question, Journal())
        asked = _single_operand(query, filing, facts)
        if asked is None:
            continue
        choice = _choice(question, *asked, filing, facts, source)
        if choice is not None:
            choices.append(choice)
    progress(len(questions), len(questions))
    return choices


def _single_operand(query: Query, filing: Filing, facts: FilingFacts) -> tuple[Operand, Phrase] | None:
    """The operand of a question without a computation, else None."""
    latest = Period(filing.fiscal_year, filing.fiscal_period) if filing.fiscal_year is not None else None
    plans = plans_of(query, (facts.company_of(filing.filing_id),), latest)
    if not plans or plans[0].kind != "value" or len(plans[0].operands) != 1:
        return None
    (operand,) = plans[0].operands
    phrase = operand.phrase or phrase_of(operand.wording)
    return None if phrase is None or plans[0].program != operand.name else (operand, phrase)


def _choice(
    question: Question, operand: Operand, phrase: Phrase, filing: Filing, facts: FilingFacts, source: str
) -> RowChoice | None:
    period = next(phrase_periods(operand, phrase, [filing]), None)
    if period is None or question.value is None:
        return None
    _, end, months = period
    items = facts.line_items([filing.filing_id])[filing.filing_id]
    cells = list(comparable(phrase, FilingCells(items), end, months))
    tagged = any(item.concept is not None for item in items)
    weights = row_weights(fitted_row_weights().prior)
    matcher = Matcher(phrase, Rarity(items, weights.weak_word), weights)
    scored = [
        (matcher.fit(item).score * standing_factor(standing(item, months, tagged), weights), item) for item in cells
    ]
    best = sorted(scored, key=lambda each: -each[0])[:MOST_CELLS]
    value = question.value / 100 if question.unit == "percent" else question.value
    readers = [Matcher(phrase, Rarity(items, weak_word), weights) for weak_word in WEAK_WORDS]
    competing = [
        _cell(item, readers, standing(item, months, tagged), gold=_alike(printed_amount(phrase, item), value))
        for score, item in best
        if score > 0
    ]
    if not any(cell.gold for cell in competing):
        return None
    return RowChoice(
        f"{source}:{question.qid}", facts.company_name(facts.company_of(filing.filing_id)), tuple(competing)
    )


def _cell(item: LineItem, readers: Sequence[Matcher], own: Standing, *, gold: bool) -> CellReadings:
    plain, tagged = (
        best_readings(list(zip(*parts, strict=True)))
        for parts in zip(*(reader.readings(item) for reader in readers), strict=True)
    )
    return CellReadings(plain, tagged, bool(concept_words(item.concept)), own, gold)


def best_readings(pairs: Sequence[tuple[Reading, Reading]]) -> tuple[tuple[Reading, Reading], ...]:
    """The best readings by the prior weights, at most MOST_READINGS."""
    weights = row_weights(fitted_row_weights().prior)
    return tuple(sorted(dict.fromkeys(pairs), key=lambda pair: -weigh(pair[0], weights).score)[:MOST_READINGS])


def _alike(a: float, b: float) -> bool:
    return abs(abs(a) - abs(b)) <= _SAME_VALUE * abs(b)


def save_row_choices(path: Path, choices: Sequence[RowChoice]) -> None:
    """Save numbers only, without text of questions or filings."""
    cells = [cell for choice in choices for cell in choice.cells]
    readings = [pair for cell in cells for pair in (*cell.plain, *cell.tagged)]
    arrays = {
        "reading_names": np.asarray(Reading._fields),
        "qids": np.asarray([choice.qid for choice in choices]),
        "groups": np.asarray([choice.group for choice in choices]),
        "n_cells": np.asarray([len(choice.cells) for choice in choices], dtype=np.int32),
        "cells": np.asarray(
            [[len(cell.plain), len(cell.tagged), cell.has_concept, cell.gold, *cell.standing] for cell in cells],
            dtype=np.int16,
        ).reshape(len(cells), 4 + len(Standing._fields)),
        "readings": np.asarray(readings, dtype=np.float16).reshape(len(readings), 2, len(Reading._fields)),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_row_choices(path: Path) -> list[RowChoice]:
    """Load a file of ``save_row_choices``. Raises UsageError for any other file, or one with other readings."""
    with stored_arrays(path, "row match") as arrays:
        if arrays["reading_names"].tolist() != list(Reading._fields):
            raise ValueError("its readings are of another version")
        pairs = iter([(Reading(*first), Reading(*second)) for first, second in arrays["readings"].tolist()])
        counts = arrays["n_cells"].tolist()
        if sum(counts) != len(arrays["cells"]):
            raise ValueError(f"it has {len(arrays['cells'])} cells instead of {sum(counts)}")
        cells = iter(arrays["cells"].tolist())
        return [
            RowChoice(qid, group, tuple(_read_cell(cell, pairs) for cell in islice(cells, count)))
            for qid, group, count in zip(arrays["qids"].tolist(), arrays["groups"].tolist(), counts, strict=True)
        ]


def _read_cell(cell: list[int], pairs: Iterator[tuple[Reading, Reading]]) -> CellReadings:
    plain, tagged, has_concept, gold, *own = cell
    first = tuple(islice(pairs, plain))
    return CellReadings(first, tuple(islice(pairs, tagged)), bool(has_concept), Standing(*own), bool(gold))
