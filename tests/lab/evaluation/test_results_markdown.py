"""The tables of docs/results.md from two runs over one set."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.evaluate import evaluate
from finray.lab.evaluation.results_markdown import coverage_chart, results_markdown
from finray.lab.evaluation.runs import Run

ASKED = [
    Question("a", "How much?", "5", "cell", (GoldEvidence("D", 3),)),
    Question("b", "How much?", "7", "cell", (GoldEvidence("D", 3),)),
    Question("c", "How much?", None, "unanswerable"),
]
FOUND = (Passage("D", "D", 3, 0, 1, "x", 1.0),)
BEFORE = Run(
    "before",
    (
        Prediction("a", "How much?", "", "unanswerable", passages=FOUND, seconds=2.0),
        Prediction("b", "How much?", "8", "answered", 8.0, passages=FOUND, confidence=0.4, seconds=2.0),
        Prediction("c", "How much?", "9", "answered", 9.0, confidence=0.3, seconds=2.0),
    ),
    (),
)
NOW = Run(
    "now",
    (
        replace(BEFORE.predictions[0], answer="5", status="answered", value=5.0, confidence=0.9, seconds=0.5),
        BEFORE.predictions[1],
        replace(BEFORE.predictions[2], answer="", status="unanswerable", value=None, confidence=None),
    ),
    (),
)


def test_one_run() -> None:
    evaluations = {"now": evaluate(NOW.predictions, ASKED)}
    text = results_markdown(evaluations, [NOW], ASKED)
    assert "| figures right, as a value | .500 [.000, 1.00] n 2 |" in text
    assert "| unanswerable, figure made up | .000 [.000, .000] n 1 |" in text
    assert "| cell | 2 | 1.00 [1.00, 1.00] |" in text
    assert "| figures | 0.90 | 0.333 | 1.00 [1.00, 1.00] n 1 |" in text


def test_before_and_after() -> None:
    evaluations = {run.name: evaluate(run.predictions, ASKED) for run in (NOW, BEFORE)}
    text = results_markdown(evaluations, [NOW, BEFORE], ASKED)
    assert "|  | now | before | now minus before |" in text
    assert "| answerable refused | .000 [.000, .000] n 2 | .500 [.000, 1.00] n 2 | -.500 [-1.000, +.000] |" in text
    assert "| p50, seconds | 2.00 | 2.00 |  |" in text
    assert "By kind (`now`):" in text


def test_the_curve_is_an_svg_file() -> None:
    root = ElementTree.fromstring(coverage_chart([NOW, BEFORE], ASKED))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path[@class='line']")) <= 4
