"""The report as a browser and as a screen reader meet it; what it draws is looked at by people."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.core.passages import PageRef, Passage
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.analysis import Analysis, analyze
from finray.lab.evaluation.html.page import render
from finray.lab.evaluation.known_filings import KnownFilings

FILINGS = [Filing("A", "A", "", "", "Acme Inc.", "10-K"), Filing("B", "B", "", "", "Bolt Inc.", "10-Q")]
KNOWN = KnownFilings(FILINGS)
QUESTIONS = [
    Question("right", "What was revenue?", "5", "numeric", (GoldEvidence("A", 1, "It was 5."),)),
    Question("wrong", "What was profit?", "5", "ratio", (GoldEvidence("B", 1, "It was 5."),)),
    Question("textual", "Why?", "Because.", "textual", (GoldEvidence("A", 1),)),
]
VOID = {"meta", "br", "hr", "img", "input", "link"}


def prediction(qid: str, question: str, answer: str = "5", doc: str = "A", text: str = "It was 5.") -> Prediction:
    found = (Passage(doc, doc, 1, 0, len(text), text, 1.0),)
    return Prediction(
        qid, question, answer, "answered", passages=found, evidence=found, seconds=0.02, iterations=1,
        rounds=((PageRef(doc, doc, 1),),), usage={"answer": TokenUsage(100, 10)}, settings_hash="h1",
    )  # fmt: skip


PREDICTIONS = [prediction(q.qid, q.question, "7" if q.qid == "wrong" else "5") for q in QUESTIONS]


class Page(HTMLParser):
    """Elements with their attributes, checked for balance on the way, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def count(self) -> Counter[str]:
        return Counter(tag for tag, _ in self.elements)

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name)) is not None]


def analyzed(predictions: list[Prediction] = PREDICTIONS, questions: list[Question] = QUESTIONS) -> Analysis:
    return analyze(predictions, questions, KNOWN)


def shown(runs: dict[str, Analysis], worst: int = 10) -> str:
    return render(runs, KNOWN, title="A title", questions="questions.jsonl", worst=worst)


ONE = shown({"run": analyzed()})
TWO = shown({"run": analyzed(), "other": analyzed(PREDICTIONS[:2])})


@pytest.mark.parametrize("html", [ONE, TWO])
def test_it_needs_nothing_but_itself(html: str) -> None:
    page = Page(html)
    assert not {"script", "link", "iframe", "img", "object", "form"} & set(page.count())
    assert all(target.startswith("#") for target in page.values("href"))
    assert page.values("src") == []
    assert not re.search(r"url\(|@import|https?:", html)
    assert "default-src 'none'" in html
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


@pytest.mark.parametrize("html", [ONE, TWO])
def test_a_screen_reader_finds_its_way(html: str) -> None:
    page = Page(html)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {target.removeprefix("#") for target in page.values("href")} <= set(ids)
    assert {one for names in page.values("aria-labelledby") for one in names.split()} <= set(ids)
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert all(attributes.get("scope") for tag, attributes in page.elements if tag == "th")
    drawings = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert all(a.get("aria-hidden") == "true" or a.get("role") == "img" for a in drawings)
    scrolling = [a for _, a in page.elements if a.get("role") == "region"]
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in scrolling)
    assert "lang" in dict(page.elements)["html"]


def test_one_run() -> None:
    text = " ".join(Page(ONE).text)
    for expected in ("A title", "Page recall @5", "0.667", "Acme Inc.", "10-Q", "wrong company", "p. 2", "It was 5."):
        assert expected in text, expected
    assert "Differences" not in ONE
    assert "1 textual answers were not judged" in text
    for section in ("curves", "iterations", "errors", "by-1", "by-3", "latency", "worst"):
        assert f'id="{section}"' in ONE, section


def test_several_runs_stand_side_by_side() -> None:
    text = " ".join(Page(TWO).text)
    assert "minus each other run" in text
    assert "1 questions have no prediction" in text
    assert text.count("textual answers were not judged") == 1
    assert TWO.count("<caption") == 1
    assert TWO.count('class="legend"') > ONE.count('class="legend"')


def test_what_does_not_apply_is_not_drawn() -> None:
    bare = [Question("q", "q?", "5")]
    html = shown({"run": analyze([Prediction("q", "q?", "", "error", error="boom")], bare, KNOWN)})
    for section in ("curves", "iterations", "by-1", "latency"):
        assert f'id="{section}"' not in html
    assert "boom" in html
    assert "Nothing was retrieved" in html
    assert "None: every question" in shown({"run": analyzed(PREDICTIONS[:1])})
    assert Page(shown({"run": analyzed([])})).count()["h1"] == 1


def test_a_run_without_passages_or_iterations_leaves_the_others_their_colors() -> None:
    failed = [Prediction(q.qid, q.question, "", "error", error="boom") for q in QUESTIONS]
    html = shown({"failed": analyze(failed, QUESTIONS, KNOWN), "run": analyzed()})
    for key in ("k-page_recall", "iteration-page_recall"):
        drawing = html.partition(f'id="{key}-title"')[2].partition("</svg>")[0]
        series = drawing.split('class="series ')[1:]
        assert [part.partition('"')[0] for part in series if 'class="dot"' in part] == ["run-1"], key


def test_the_number_of_worst_questions_is_the_readers_choice() -> None:
    assert Page(ONE).count()["article"] == 1
    assert Page(shown({"run": analyzed()}, worst=0)).count()["article"] == 0


HOSTILE = (
    "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}{% raw %}&lt;\x00\u202e\ud800\"'"
)
NO_NUMBERS = st.characters(exclude_categories=["Nd", "Nl", "No"])  # a gold number would be marked on its page


def hostile(text: str) -> str:
    question = Question(
        "wrong", text + "?", text, text + "type", (GoldEvidence(text + "doc", 1, text), GoldEvidence("A", 7))
    )
    answer = replace(
        prediction("wrong", text + "?", text + "no", text + "B", text), status="error", error=text, program=text,
        missing=(text,), settings_hash=text,
    )  # fmt: skip
    known = KnownFilings([*FILINGS, Filing(text + "doc", text + "doc", "", "", text + " Inc.", text + "K")])
    runs = {text + "run": analyze([answer, PREDICTIONS[0]], [question, QUESTIONS[0]], known)}
    return render(runs, known, title=text, questions=text)


@settings(deadline=None, max_examples=10)
@given(st.text(NO_NUMBERS, max_size=60))
def test_hostile_text_stays_text(text: str) -> None:
    assert Page(hostile(text + "x")).count() == Page(hostile("x")).count()


def test_an_attack_stays_text() -> None:
    html = hostile(HOSTILE)
    assert Page(html).count() == Page(hostile("x")).count()
    assert "<script" not in html
    assert "{{ 7 * 7 }}" in html
    html.encode("utf-8")
    assert not re.search(r"[\x00\u202e]", html)


def test_gold_filings_without_a_page() -> None:
    asked = [replace(QUESTIONS[1], evidence=(GoldEvidence("B"),)), QUESTIONS[0]]
    page = render({"run": analyze(PREDICTIONS, asked, KNOWN)}, KNOWN, title="t", questions="q")
    Page(page)
    assert "Gold page" not in page
