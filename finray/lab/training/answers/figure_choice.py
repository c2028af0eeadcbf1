"""Fits ``finray.answering.sentences.figure_choice`` to the figures of sentences that compete for each question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from finray.answering.presence import absence
from finray.answering.sentences.figure_answerer import FigureAnswerer
from finray.answering.sentences.figure_choice import SIGNALS, signals
from finray.answering.sentences.figure_features import FigureCandidates
from finray.answering.sentences.read import SentenceFinder
from finray.core.digits import digits
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.engine import Engine
from finray.filings.prose.figures import ProseFigure
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation import metrics
from finray.lab.evaluation.numbers import Number, find_numbers
from finray.lab.training.answers.recorded import Recorded, recorded_answers
from finray.lab.training.choices import ChoiceQuestion, ChoiceTask
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.models.encoder import Encoder
from finray.question.companies.catalog import CompanyCatalog

FigureQuestion: TypeAlias = ChoiceQuestion[FigureCandidates]

FIGURES: Final = ChoiceTask[FigureCandidates](SIGNALS, signals, wrong=0.02)


async def figure_questions(
    questions: Sequence[Question], engine: Engine, encoder: Encoder, source: str, progress: Progress
) -> list[FigureQuestion]:
    """The figures of each question that reached the answerer; groups are companies, qids get the prefix ``source``.
    ``engine`` must not choose figures of sentences itself (``loop.figures = false``)."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    chooser = FigureAnswerer(facts, SentenceFinder(facts, encoder, read=engine.settings.loop.sentences))
    found = [
        figure_question(recorded, chooser, facts, source)
        async for recorded in recorded_answers(questions, engine, progress)
    ]
    return [each for each in found if each is not None]


def figure_question(
    recorded: Recorded, chooser: FigureAnswerer, facts: FilingFacts, source: str
) -> FigureQuestion | None:
    """The figures that compete for one question. None if the gold answer is in words and states one of them: it may or
    may not be what is asked for."""
    question, query = recorded.question, recorded.query
    found, asked = chooser.candidates(query, recorded.curation)
    unanswerable = metrics.is_unanswerable(question)
    reference = None if unanswerable else metrics.numeric_reference(question)
    told = find_numbers(question.answer or "") if reference is None and not unanswerable else ()
    if any(_states(question, figure, number) for number in told for figure in found.figures):
        return None
    right = [reference is not None and _states(question, figure, reference) for figure in found.figures]
    gold = [
        states and any(_holds(evidence, found, at, facts) for evidence in question.evidence)
        for at, states in enumerate(right)
    ]
    return FigureQuestion(
        f"{source}:{question.qid}",
        recorded.group,
        found,
        asked,
        np.asarray(gold, dtype=bool),
        np.asarray(right, dtype=bool),
        figure=reference is not None,
        taken=recorded.prediction.value is not None or absence(query, recorded.curation.kept, facts) is not None,
    )


def _states(question: Question, figure: ProseFigure, number: Number) -> bool:
    """Whether an answer with ``figure`` states ``number``."""
    given = Prediction(question.qid, question.question, "", "answered", value=figure.value, unit=figure.unit)
    return metrics.numeric_accuracy(question, given, number)


def _holds(evidence: GoldEvidence, found: FigureCandidates, at: int, facts: FilingFacts) -> bool:
    """Whether figure ``at`` is on a page of ``evidence`` and in its quotation, if it has one."""
    figure, number = found.figures[at], found.sentences[at]
    page = found.source.pages[found.source.numbers[number]]
    printed = digits(found.source.sentences[number].text[figure.start : figure.end])
    there = (facts.filing(page.filing_id).doc_name, page.page) in evidence.places
    return there and (not evidence.text or printed in digits(evidence.text))
