"""Fitting which company is meant, on made-up candidates."""

from __future__ import annotations

import numpy as np

from finray.core.filing import Filing
from finray.lab.training.choices import HeldOutChoice
from finray.lab.training.retrieval.company_choice import COMPANIES, CompanyQuestion, measured, wordings
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.company_features import FEATURES, CompanyCandidates

BM25 = list(FEATURES).index("bm25")


def question(number: int, *, probe: bool = False) -> CompanyQuestion:
    """The first of three companies has the best chunk, by far unless the question is a probe."""
    features = np.zeros((3, len(FEATURES)))
    features[:, BM25] = (0.5, 0.5, 0.49) if probe else (1.0, 0.2, 0.1)
    found = CompanyCandidates(("a", "b", "c"), features, unknown=probe, nameless=False, described=False, absent=0.0)
    gold = np.asarray([not probe, False, False])
    name = f"{'probes' if probe else 'develop'}:{number}:asked"
    return CompanyQuestion(name, f"group {number % 7}", found, np.zeros(0), gold, gold, figure=True, taken=False)


def test_the_best_company_is_sure_and_most_probes_get_none() -> None:
    questions = [question(number, probe=number % 3 == 0) for number in range(60)]
    model = COMPANIES.fit(questions, 0.1)
    figures = measured(COMPANIES.held_out(questions, 0.1), questions, model.thresholds["threshold"])
    assert figures["as asked"]["sure"] == figures["as asked"]["n"] == 40
    assert figures["as asked"]["sure and wrong"] == 0
    assert figures["probes"]["sure"] < figures["probes"]["n"] == 20


def test_a_question_is_asked_without_the_names_that_the_catalog_knows() -> None:
    catalog = CompanyCatalog([Filing("f", "f", "", "", "Grevandor Systems Inc", "10-K")])
    assert list(wordings("What was Grevandor Systems' revenue?", catalog)) == [("nameless", "What was revenue?")]
    assert list(wordings("What was Glowick's revenue?", catalog)) == [("asked", "What was Glowick's revenue?")]


def test_wrong_companies_are_counted() -> None:
    given = [question(1)]
    wrong = HeldOutChoice(given[0].qid, 0.9, right=False, figure=True)
    assert measured([wrong], given, 0.5)["as asked"]["sure and wrong"] == 1
