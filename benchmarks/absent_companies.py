"""Asks for figures of organizations that filings name but that filed none of them.

For each name of ``company_names/names.jsonl`` whose relation is that of another company, asks for four metrics; any
figure is wrong. For the names of parts and other names of the filers themselves, ``questions.jsonl`` has figures that a
filing prints for them. Print both for one part of the names:

    finray index FINANCEBENCH_PDFS EDGAR_HTML EDGAR_SUBMISSIONS --index INDEX
    python benchmarks/absent_companies.py --index INDEX --split develop [--examples]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from finray import Prediction, Question, load_settings, open_index
from finray.core.bootstrap import estimate
from finray.lab.evaluation.report import shown

FOLDER = Path(__file__).parent / "company_names"
OTHERS = frozenset(
    {"rival", "customer", "supplier", "lender", "auditor", "partner", "investee", "sold_business", "other_org"}
)
METRICS = ("revenue", "operating income", "net income", "total assets")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TOLERANCE = 0.006
"""A figure in billions with two digits may differ from the one in millions."""


def probes(names: Sequence[dict[str, Any]], metrics: Sequence[str]) -> list[Question]:
    """A question for each metric of each of ``names``, in the year of the filing that prints it."""
    asked = []
    for number, entry in enumerate(names):
        found = _YEAR.search(entry["doc_name"])
        year = found[0] if found else "2023"
        for metric in metrics:
            verb = "were" if metric == "total assets" else "was"
            name = entry["name"]
            own = f"{name}'" if name.endswith("s") else f"{name}'s"
            asked.append(Question(f"{number}-{metric}", f"What {verb} {own} {metric} in {year}?"))
    return asked


def is_right(prediction: Prediction, gold: dict[str, Any]) -> bool:
    """Whether the value is the gold one, or another that the key accepts."""
    if prediction.value is None:
        return False
    accepted = [gold["value"], *gold.get("alt_values", ())]
    return any(abs(prediction.value - value) <= _TOLERANCE * abs(value) for value in accepted)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--index", required=True)
    arguments.add_argument("--split", choices=("develop", "validate"), required=True)
    arguments.add_argument("--metrics", type=int, default=len(METRICS), help="metrics asked for each name")
    arguments.add_argument("--examples", action="store_true", help="print each wrong figure")
    options = arguments.parse_args()
    index = open_index(options.index, load_settings("local"))
    names = [json.loads(line) for line in (FOLDER / "names.jsonl").read_text().splitlines()]
    others = [n for n in names if n["split"] == options.split and n["relation"] in OTHERS and not n["is_filer"]]
    outcomes = Counter[str]()
    figures = []
    for question in probes(others, METRICS[: options.metrics]):
        prediction = index.ask(question.question)
        figures.append(float(prediction.value is not None))
        outcomes[prediction.status] += 1
        if prediction.value is not None and options.examples:
            print(f"FIGURE {prediction.confidence} {question.question} -> {prediction.answer[:200]}")
        elif prediction.status == "answered" and options.examples:
            print(f"words  {prediction.confidence} {question.question} -> {prediction.answer[:200]!r}")
    print(
        f"{len(others)} other companies, {len(figures)} questions: figure {shown(estimate(figures))}, {dict(outcomes)}"
    )
    golds = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text().splitlines()]
    for kind in ("alias", "part", "part_absent"):
        own = [gold for gold in golds if gold["split"] == options.split and gold["kind"] == kind]
        counted = Counter[str]()
        for gold in own:
            prediction = index.ask(gold["question"])
            right = gold["value"] is not None and is_right(prediction, gold)
            outcome = "right" if right else "wrong figure" if prediction.value is not None else prediction.status
            counted[outcome] += 1
            if options.examples and outcome != "right":
                said = f"{prediction.answer[:160]!r} ({gold['answer']})"
                print(f"{kind} {outcome} {prediction.confidence} {gold['question']} -> {said}")
        print(f"{kind}, {len(own)} questions: {dict(counted)}")


if __name__ == "__main__":
    main()
