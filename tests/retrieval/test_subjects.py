"""Standard subjects: from the words of a question to the headings that treat them."""

from __future__ import annotations

import pytest

from finray.question.terms import content_terms
from finray.retrieval.item_lexicon import item_affinity
from finray.retrieval.subjects import subjects, subjects_asked


@pytest.mark.parametrize(
    ("question", "key", "heading"),
    [
        ("Did Acme face any lawsuits?", "legal", "Item 3. Legal Proceedings"),
        ("In which regions does Acme sell?", "geography", "Note 20 - Geographic Information"),
        ("What businesses did Acme acquire?", "acquisitions", "Note 5 - Acquisitions and Divestitures"),
        ("How much did Acme pay in dividends?", "dividends", "Dividends and Share Repurchases"),
        (
            "Who audited the accounts? Name the auditor.",
            "auditor",
            "Report of Independent Registered Public Accounting",
        ),
    ],
)
def test_a_subject_leads_to_its_heading(question: str, key: str, heading: str) -> None:
    (asked,) = (subject for subject in subjects_asked(question) if subject.key == key)
    assert asked.printed.search(heading)
    assert not asked.printed.search("Commission file number")


def test_a_question_may_have_no_subject() -> None:
    assert subjects_asked("xyzzy") == ()


def test_every_subject_has_items_or_places() -> None:
    for subject in subjects():
        assert subject.items or subject.places, subject.key


def test_items_use_their_own_words() -> None:
    assert item_affinity(content_terms("litigation"), "3") > 0.3
    assert item_affinity(content_terms("litigation"), "5") < 0
    assert item_affinity(content_terms("xyzzy"), "3") == 0.0
    assert item_affinity(content_terms("litigation"), None) == 0.0
