"""Which pages stand beside a question, and what of them is marked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.analysis import Case
from finray.lab.evaluation.html.excerpts import (
    SHOWN_CHARACTERS,
    excerpt,
    given_excerpt,
    gold_excerpt,
    page_texts,
    readable,
)
from finray.lab.evaluation.known_filings import KnownFilings

KNOWN = KnownFilings([Filing("id-A", "A", "", "", "Acme Inc.", "10-K")])
PAGE = "Net revenue was $1,577 in 2018"


def case(answer: str | None = "1577", *gold: GoldEvidence, passages: tuple[Passage, ...] = ()) -> Case:
    question = Question("q", "q?", answer, None, gold)
    return Case(question, Prediction("q", "q?", "x", "answered", passages=passages), {}, "wrong page")


def passage(page: int, start: int = 0, text: str = "revenue") -> Passage:
    return Passage("A", "id-A", page, start, start + len(text), text, 1.0)


@given(st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 20_000))
def test_an_excerpt_holds_what_is_marked_and_is_of_the_page(length: int, one: int, two: int) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(length))  # no character twice
    start, end = sorted((min(one, length), min(two, length)))
    shown = excerpt("A", 0, text, start, end)
    whole = shown.before + shown.marked + shown.after
    assert shown.marked == text[start:end]
    assert whole in text
    assert len(whole) <= max(SHOWN_CHARACTERS, end - start)
    assert shown.cut_before == (not text.startswith(whole)) or not whole
    assert len(whole) == length or shown.cut_before or shown.cut_after


def test_the_gold_page_that_was_missed_is_shown_with_its_number() -> None:
    missed = case("$1577.00", GoldEvidence("A", 1), GoldEvidence("A", 2), passages=(passage(1),))
    shown = gold_excerpt(missed, {("id-A", 2): PAGE}, KNOWN)
    assert shown is not None
    assert (shown.page, shown.marked) == (2, "1,577")


@pytest.mark.parametrize(
    ("answer", "marked"),
    [("1,577", "1,577"), ("1577.0", "1,577"), ("57", ""), ("157", ""), ("2018", "2018"), ("It rose", ""), (None, "")],
)
def test_only_the_gold_number_itself_is_marked(answer: str | None, marked: str) -> None:
    shown = gold_excerpt(case(answer, GoldEvidence("A", 2)), {("id-A", 2): PAGE}, KNOWN)
    assert shown is not None
    assert shown.marked == marked


def test_decimals_are_told_apart() -> None:
    text = "a 65.41 b 65.4 c"
    shown = gold_excerpt(case("65.4%", GoldEvidence("A", 2)), {("id-A", 2): text}, KNOWN)
    assert shown is not None
    assert shown.before == "a 65.41 b "


def test_without_an_index_the_questions_text_stands_in() -> None:
    shown = gold_excerpt(case("5", GoldEvidence("A", 2, "It was 5.")), {}, KNOWN)
    assert shown is not None
    assert (shown.before, shown.marked) == ("It was ", "5")
    nothing = gold_excerpt(case("5", GoldEvidence("A", 2)), {}, KNOWN)
    assert nothing is not None
    assert "not available" in nothing.note
    assert gold_excerpt(case("5"), {}, KNOWN) is None


def test_the_answers_own_page_comes_before_the_best_ranked() -> None:
    found = case("5", passages=(passage(3),))
    rests = replace(found, prediction=replace(found.prediction, evidence=(passage(2, 4),)))
    shown = given_excerpt(rests, {("id-A", 2): "Net revenue rose", ("id-A", 3): "x"})
    assert shown is not None
    assert (shown.page, shown.before, shown.marked, shown.after) == (2, "Net ", "revenue", " rose")
    ranked = given_excerpt(found, {})
    assert ranked is not None
    assert (ranked.page, ranked.after, ranked.note) == (3, "revenue", "Only the passage is available.")
    assert given_excerpt(case(), {}) is None


def test_a_passage_that_has_moved_marks_nothing() -> None:
    shown = given_excerpt(case("5", passages=(passage(2, 1),)), {("id-A", 2): "Net revenue rose"})
    assert shown is not None
    assert (shown.before, shown.marked) == ("", "")


def test_pages_come_from_the_index(reader: IndexReader) -> None:
    filing = reader.filings()[0]
    gold = GoldEvidence(filing.doc_name, 1)
    found = case("5", gold, passages=(Passage(filing.doc_name, filing.filing_id, 0, 0, 1, "x", 1.0),))
    texts = page_texts([found], KnownFilings(reader.filings()), reader)
    assert sorted(texts) == [(filing.filing_id, 0), (filing.filing_id, 1)]
    assert all(texts.values())
    assert page_texts([found], KNOWN, None) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cash\n$\n5,794\n $\n(4,225)\nOther", "Cash   $   5,794   $   (4,225)\nOther"),
        ("a\n \n\nb", "a\nb"),
        ("In fiscal\n2019 we grew", "In fiscal\n2019 we grew"),
        ("", ""),
    ],
)
def test_cells_of_a_row_stand_on_one_line(text: str, expected: str) -> None:
    assert readable(text) == expected


@given(st.text(st.sampled_from("ab1$,. \n\t—")))
def test_only_space_changes(text: str) -> None:
    assert readable(text).split() == text.split()
