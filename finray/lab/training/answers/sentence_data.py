"""Training data of the sentence model: sentences of the retrieved pages, and how much of the evidence each holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from finray.answering.plans.coverage import fitting_period
from finray.answering.sentences.features import Candidates
from finray.answering.sentences.read import SentenceFinder
from finray.core.query import Query
from finray.core.questions import GoldEvidence, Question
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.training.answers.sentences import SentenceQuestion
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.models.encoder import Encoder
from finray.question.companies.catalog import CompanyCatalog

IN_WORDS = ("open_words", "open_prose_figure")
"""Types of questions that sentences answer; questions of other types show when no sentence does."""
_WORD = re.compile(r"[a-z0-9]+")
_GRAM = 3
SAME = 0.8


async def sentence_questions(
    questions: Sequence[Question], engine: Engine, encoder: Encoder, source: str, progress: Progress
) -> list[SentenceQuestion]:
    """The sentences that retrieval finds for each question; groups are companies, qids get the prefix ``source``."""
    catalog = CompanyCatalog(engine.reader.filings())
    facts = FilingFacts(engine.reader, catalog)
    finder = SentenceFinder(facts, encoder, read=engine.settings.loop.sentences)
    result: list[SentenceQuestion] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        query, _, passages = await engine.retrieve(question.question)
        fitting = fitting_period(query, passages, facts)
        found = finder.find(query, fitting)
        result.append(sentence_question(question, query, found, facts, source))
    progress(len(questions), len(questions))
    return result


def sentence_question(
    question: Question, query: Query, found: Candidates, facts: FilingFacts, source: str
) -> SentenceQuestion:
    names = [facts.filing(page.filing_id).doc_name for page in found.pages]
    gold = [
        max((_held(each, names[n], found.pages[n].page, s.text) for each in question.evidence), default=0.0)
        for n, s in zip(found.numbers, found.sentences, strict=True)
    ]
    named = {evidence.doc_name for evidence in question.evidence}
    companies = (facts.company_of(p.filing_id) for p, name in zip(found.pages, names, strict=True) if name in named)
    group = next(companies, None) or next(iter(query.companies), question.qid)
    return SentenceQuestion(
        f"{source}:{question.qid}", group, found, np.asarray(gold), question.question_type in IN_WORDS
    )


def _held(gold: GoldEvidence, doc_name: str, page: int, text: str) -> float:
    """Share of the gold quotation that a sentence holds: 0 if it is on another page, unless it is nearly the same,
    because filings repeat themselves."""
    held = overlap(gold.text or "", text)
    return held if (doc_name, page) in gold.places or held >= SAME else 0.0


def overlap(gold: str, text: str) -> float:
    """The larger of two shares: of the gold quotation's word triples in ``text``, and of those of ``text`` in it."""
    one, other = _grams(gold), _grams(text)
    if not one or not other:
        return 0.0
    common = len(set(one) & set(other))
    return max(common / len(set(one)), common / len(set(other)) if len(other) > _GRAM else 0.0)


def _grams(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    size = min(_GRAM, len(words))
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)] if size else []
