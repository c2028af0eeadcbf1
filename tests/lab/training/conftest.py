from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion, Unit

TOPICS = ("revenue", "inventories", "leases", "pensions", "goodwill", "dividends", "debt", "taxes")


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """Eight filings of four pages, a question about one page of each."""
    units: dict[str, tuple[Unit, ...]] = {}
    questions = []
    for topic in TOPICS:
        pages = []
        for number in range(4):
            table = number % 2 == 0
            text = f"{topic} {number} " + ("12 34 56 78 90 " * 3 if table else "words of the management ")
            pages.append(Unit(f"{topic}#{number}", f"{topic}#{number}", text, is_table=table))
        units[topic] = tuple(pages)
        gold = f"{topic}#1"
        question = TrainingQuestion(
            f"q-{topic}", f"what about {topic} 1", "made-up", (topic,), (gold,), frozenset({gold})
        )
        questions.append(question)
    return Corpus(units=units, sources=dict.fromkeys(units, "made-up"), questions=tuple(questions))


@pytest.fixture
def tatqa_file(tmp_path: Path) -> Callable[..., str]:
    """Writes a TAT-QA file with the given number of contexts, each with a question on the table and on a paragraph."""

    def write(contexts: int = 6, **changes: Any) -> str:
        records = []
        for number in range(contexts):
            topic = TOPICS[number % len(TOPICS)]
            record = {
                "table": {"uid": f"t{number}", "table": [["", "2019"], [f"{topic} cost", f"$ {number}1.5"]]},
                "paragraphs": [
                    {"uid": f"p{number}1", "order": 1, "text": f"The table shows {topic}."},
                    {"uid": f"p{number}2", "order": 2, "text": f"We measure {topic} at fair value."},
                ],
                "questions": [
                    {
                        "uid": f"q{number}t",
                        "question": f"What was the {topic} cost in 2019?",
                        "answer": [f"$ {number}1.5"],
                        "answer_type": "span",
                        "scale": "",
                        "answer_from": "table",
                        "rel_paragraphs": [],
                    },
                    {
                        "uid": f"q{number}p",
                        "question": f"How is {topic} measured?",
                        "answer": ["at fair value"],
                        "answer_type": "span",
                        "scale": "",
                        "answer_from": "text",
                        "rel_paragraphs": ["2"],
                    },
                ],
            }
            records.append(record | changes)
        path = tmp_path / "tatqa.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        return str(path)

    return write
