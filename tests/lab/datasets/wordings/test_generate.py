"""Questions in many wordings over the sample's filings: reproducible, right, and split."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from finray.core.questions import Question
from finray.core.settings import FilingSettings
from finray.lab.datasets.wordings.facts import askable
from finray.lab.datasets.wordings.generate import distinct_facts, paraphrases, part_of_company
from finray.lab.datasets.wordings.patterns import PARTS, Part, load_wordings
from finray.lab.datasets.xbrl.asked import settled_facts
from finray.lab.datasets.xbrl.sources import read_filings
from finray.lab.datasets.xbrl.tagged import TaggedFiling


@pytest.fixture(scope="module")
def tagged(sample_folder: Path) -> tuple[TaggedFiling, ...]:
    """One tagged annual report of each of the sample's companies."""
    found = sorted((sample_folder / "filings").glob("*-10k.htm"))
    newest = {path.name.split("-20")[0]: path for path in found}
    return read_filings([str(path) for path in newest.values()], FilingSettings()).tagged


@pytest.fixture(scope="module")
def made(tagged: tuple[TaggedFiling, ...]) -> dict[Part, list[Question]]:
    return paraphrases(tagged, count=200, seed=1)


def test_the_same_seed_writes_the_same_questions(
    tagged: tuple[TaggedFiling, ...], made: dict[Part, list[Question]]
) -> None:
    assert paraphrases(tagged, count=200, seed=1) == made
    assert paraphrases(tagged, count=200, seed=2) != made


def test_no_company_is_in_two_parts(tagged: tuple[TaggedFiling, ...], made: dict[Part, list[Question]]) -> None:
    part = {each.filing.doc_name: part_of_company(each) for each in tagged}
    assert any(made.values())
    for name, questions in made.items():
        assert len({q.qid for q in questions}) == len({q.question for q in questions}) == len(questions)
        assert {part[gold.doc_name] for q in questions for gold in q.evidence} <= {name}
        assert all(q.answer and q.value is not None and q.unit and q.program for q in questions)
        assert not any(re.search(r"[{}]", q.question) for q in questions)
    facts = distinct_facts(tagged)
    assert [bool(facts[name]) for name in PARTS] == [bool(made[name]) for name in PARTS]


def test_wordings_of_the_last_part_are_seen_nowhere_else(made: dict[Part, list[Question]]) -> None:
    only = load_wordings("final").patterns["before"]
    elsewhere = [q.question.lower() for part in ("develop", "validate") for q in made[part]]
    assert not [text for text in only if any(text.lower() in question for question in elsewhere)]


def test_pages_print_the_figure(tagged: tuple[TaggedFiling, ...], made: dict[Part, list[Question]]) -> None:
    pages = {(each.filing.doc_name, page.page): page.text for each in tagged for page in each.pages}
    for question in (question for questions in made.values() for question in questions):
        for gold in question.evidence:
            assert gold.page is not None and gold.text
            numbers = set(re.findall(r"\d[\d,.]*", gold.text))
            assert numbers & set(re.findall(r"\d[\d,.]*", pages[gold.doc_name, gold.page])), question


def test_rows_have_one_meaning(tagged: tuple[TaggedFiling, ...]) -> None:
    settled = settled_facts(tagged)
    for each in tagged:
        found = askable(each, settled.get(each.filing.filing_id, frozenset()))
        meanings = {(row.label.lower(), row.period): row.fact.value for row in found.rows}
        assert all(meanings[row.label.lower(), row.period] == row.fact.value for row in found.rows)
        assert all(candidate.fact.value > 0 for candidate in (*found.values, *found.parts))
        assert all(row.fact.value > 0 for row in found.rows)
        assert not any("beginning" in row.label for row in found.rows)
