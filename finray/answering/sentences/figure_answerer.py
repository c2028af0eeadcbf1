"""Answers with a figure that a sentence of the retrieved pages states, if nothing else gives one and the choice is sure
enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from finray.answering.cells.flow_lengths import flow_lengths, states_part, states_year
from finray.answering.plans.coverage import fitting_period
from finray.answering.qualifiers import contradicts_text, sides_of
from finray.answering.sentences.figure_choice import FigureModel, question_signals, shipped_figure_model
from finray.answering.sentences.figure_features import MOVES, FigureCandidates, figure_candidates, tells_move
from finray.answering.sentences.in_words import cited_sentences
from finray.answering.sentences.kinds import asked_kind
from finray.answering.sentences.read import SentenceFinder
from finray.core.arrays import Floats
from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.core.vocabulary import SCALES
from finray.filings.pages.sentences import Sentence, page_sentences
from finray.filings.prose.figures import ProseFigure
from finray.filings.prose.scales import unspoken_scale
from finray.index.reading.facts import FilingFacts, IndexedPage

_CENTS = re.compile(r"\.\d\d$")
_SCALES: Final[Mapping[int, str]] = {factor: word for word, factor in SCALES.items()}


class FigureAnswerer:
    """Chooses by ``model``, by default the one that comes with finray."""

    def __init__(self, facts: FilingFacts, sentences: SentenceFinder, model: FigureModel | None = None) -> None:
        self._facts = facts
        self._sentences = sentences
        self._model = model

    def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer | None:
        """The figure with its sentence, quoted; None if no sentence surely states it."""
        model = self._model or shipped_figure_model()
        found, asked = self.candidates(query, curation)
        choice = model.choose(found, asked)
        if choice is None:
            return None
        figure, number = found.figures[choice.number], found.sentences[choice.number]
        sentence, page = found.source.sentences[number], found.source.pages[found.source.numbers[number]]
        printed = sentence.text[figure.start : figure.end]
        journal.note(f"answer: of {len(found.figures)} figures in sentences {printed!r} with {choice.probability:.2f}")
        if choice.probability < model.threshold:
            return None
        stated, filing = f"{sentence.heading} {sentence.text}", self._facts.filing(page.filing_id)
        if states_year(stated, filing, flow_lengths(query)) or states_part(stated, filing, query):
            journal.note("answer: the figure is of a year and a part of one is asked for, or the reverse")
            return None
        if not asked_kind(query).may_be(sentence.text, figure) or (
            not query.intents & MOVES and tells_move(sentence.text, figure)
        ):
            journal.note("answer: the figure is of another kind than asked for, or a change and no level")
            return None
        if contradicts_text(sides_of(query), sentence.text):
            journal.note("answer: the sentence tells of another line than asked for")
            return None
        if not _is_of_asked_year(query, stated, filing):
            journal.note("answer: the sentence tells of its filing's own year, and another one is asked for")
            return None
        cited, evidence = cited_sentences(query, found.source, (number,), curation.kept)
        scale = _scale(figure, sentence, page)
        text = f"{printed}{f' {_SCALES[scale]}' if scale in _SCALES else ''}: {cited}"
        confidence = round(choice.probability, 3)
        return Answer(text, "answered", figure.value * scale, figure.unit, evidence=evidence, confidence=confidence)

    def candidates(self, query: Query, curation: Curation) -> tuple[FigureCandidates, Floats]:
        """The figures that compete, none if the question asks for a cause, and its :func:`question_signals`."""
        passages = () if "cause" in query.intents else fitting_period(query, curation.kept, self._facts)
        found = figure_candidates(query, self._sentences.find(query, passages))
        operands = len(curation.plans[0].operands) if curation.plans else 0
        return found, question_signals(query, found.unprinted, operands)


def _is_of_asked_year(query: Query, stated: str, filing: Filing) -> bool:
    """Whether what a sentence of ``filing`` ``stated`` may be of a year asked for: a sentence without a year tells of
    its filing's own."""
    closes = filing.closes.year if filing.closes is not None else None
    own = filing.fiscal_year if filing.fiscal_year is not None else closes
    fits = (period.year == (own if period.date is None else closes) for period in query.filed)
    return not query.filed or any(fits) or any(str(year) in stated for year in query.years)


def _scale(figure: ProseFigure, sentence: Sentence, page: IndexedPage) -> int:
    """By how much the amount is multiplied: the scale that the page's title announces ("in millions"), if no sentence
    states one. Prices with cents are in full. A table's scale proves nothing: a fee of $45 may stand beside it."""
    if figure.kind != "money" or _CENTS.search(sentence.text, figure.start, figure.end):
        return 1
    return unspoken_scale(page.text, (each.text for each in page_sentences(page.text, page.headings)))
