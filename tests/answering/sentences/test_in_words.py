"""Answers in words, with pages and weights made up here; test_statements asks through the whole preset."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from finray.answering.sentences.features import FEATURES
from finray.answering.sentences.in_words import WordsAnswerer
from finray.answering.sentences.model import SIGNALS, SentenceModel, read_sentence_model, sentence_model_json
from finray.answering.sentences.read import SentenceFinder
from finray.core.errors import ModelUnavailableError
from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts, IndexedPage
from finray.models.hash_encoder import HashEncoder
from finray.question.rule_reader import with_measures

PAGE = """Cost of Sales
Cost of sales increased $441 million in fiscal 2022 compared with fiscal 2021, to $8.7 billion in all.
The increase was primarily due to higher freight rates and a weaker dollar in most of our markets.
Weather
The weather was pleasant in most of the places that our people visited in the year.
Revenue | $1,200 | $1,100
Cost of sales | $441 | $400
"""
WEIGHTS = {"best_words": 3.0, "near": 2.0, "cause": 2.0, "page": 1.0}


def model(threshold: float = 0.0) -> SentenceModel:
    weights = np.asarray([WEIGHTS.get(name, 0.0) for name in FEATURES])
    answers = np.asarray([{"constant": -1.0, "mass": 1.0, "words": 2.0}.get(name, 0.0) for name in SIGNALS])
    return SentenceModel(weights, answers, threshold, threshold)


class _Facts(FilingFacts):
    def __init__(self, *texts: str) -> None:
        encoder = HashEncoder()
        self._indexed = [
            IndexedPage(
                "f", n, text, "Cost of Sales\nWeather", "7", None, ((0, len(text)),), encoder.encode_passages([text])
            )
            for n, text in enumerate(texts)
        ]

    def filing(self, filing_id: str) -> Filing:
        return Filing(filing_id, "ACME", "", "", "Acme", "10-K")

    def indexed_pages(self, places: object) -> list[IndexedPage]:
        return self._indexed


def ask(question: str, *texts: str, threshold: float = 0.0, amount: bool = False) -> Answer:
    passages = [Passage("ACME", "f", n, 0, 9, text[:9], 0.5 / (n + 1)) for n, text in enumerate(texts)]
    query = with_measures(Query(question=question, text=question))
    facts = _Facts(*texts)
    answerer = WordsAnswerer(facts, SentenceFinder(facts, HashEncoder()), model(threshold))
    return answerer.answer(query, passages, Journal(), amount=amount)


def test_the_cause_comes_with_what_it_explains() -> None:
    answer = ask("Why did cost of sales rise in fiscal 2022?", PAGE)
    assert answer.status == "answered"
    assert answer.value is None
    assert "higher freight rates" in answer.text
    assert "pleasant" not in answer.text
    assert answer.text.endswith("(ACME, p. 1)")


def test_quotations_are_in_the_evidence_and_no_table_is_quoted() -> None:
    answer = ask("What drove the change of cost of sales and revenue?", PAGE, PAGE.replace("freight", "energy"))
    assert " | " not in answer.text
    printed = " ".join(" ".join(passage.text.split()) for passage in answer.evidence)
    quoted = [part.partition("”")[0] for part in answer.text.split("“")[1:]]
    assert quoted
    assert all(quote in printed for quote in quoted)
    assert sum(quote.count(". ") + 1 for quote in quoted) <= 3
    for passage in answer.evidence:
        assert passage.text == (PAGE, PAGE.replace("freight", "energy"))[passage.page][passage.start : passage.end]


def test_without_a_sentence_that_answers_the_closest_pages_stand_apart() -> None:
    answer = ask("Why did the chairman resign?", PAGE, threshold=0.99)
    assert (answer.status, answer.evidence) == ("unanswerable", ())
    assert answer.text == "Not found in the filings: a sentence that answers 'Why did the chairman resign?'."
    assert answer.nearest == ("Cost of Sales (ACME, p. 1)",)


def test_a_page_of_figures_has_no_sentence() -> None:
    assert ask("Why did revenue rise?", "Revenue\n1,200\n1,100\nCosts\n400\n").status == "unanswerable"


def test_the_figure_that_is_asked_for_is_the_value() -> None:
    text = "We own our plants.\nAs of December 31, 2022, we had approximately 5,450 employees in nine countries.\n"
    answer = ask("How many employees were there?", text, amount=True)
    assert (answer.value, answer.unit) == (5450.0, "count")


def test_the_model_is_saved_and_read_back() -> None:
    text = sentence_model_json(model(0.25), {"questions": 3})
    again = read_sentence_model(text, "here")
    assert again.threshold == pytest.approx(0.25)
    assert again.weights.tolist() == model().weights.tolist()
    with pytest.raises(ModelUnavailableError, match="fit it again"):
        read_sentence_model(text.replace('"near"', '"nearby"'), "here")


def test_sentences_are_found_once_for_the_same_pages() -> None:
    facts = _Facts(PAGE)
    finder = SentenceFinder(facts, HashEncoder())
    passage = Passage("ACME", "f", 0, 0, 9, PAGE[:9], 0.5)
    query = Query(question="Why did cost of sales rise?", text="Why did cost of sales rise?")
    found = finder.find(query, [passage])
    assert finder.find(query, [passage, replace(passage, start=9)]) is found
    assert finder.find(replace(query, text="What fell?"), [passage]) is not found
    assert finder.find(query, [replace(passage, score=0.1)]) is not found
