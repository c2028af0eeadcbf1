"""Questions that differ in one word that adds or excludes something: gross or net, the current portion, attributable to
noncontrolling interests; counts, persons and ratios. How many are right, wrong or refused.

    python benchmarks/line_questions.py INDEX [--split develop|validate] [--show]

benchmarks/line_questions/README.md describes the questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine

QUESTIONS = Path(__file__).parent / "line_questions" / "questions.jsonl"
_TOLERANCE = 0.006
"""Of a figure that is rounded to three digits."""
Gold = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--split", choices=("develop", "validate"), default="develop")
    parser.add_argument("--show", action="store_true", help="Print each answer that is not right.")
    options = parser.parse_args()
    gold = [each for line in QUESTIONS.read_text("utf-8").splitlines() if (each := json.loads(line))]
    gold = [each for each in gold if each["split"] == options.split]
    engine = open_engine(options.index, load_settings("local"))
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for question in gold:
        prediction = asyncio.run(_answer(engine, question))
        verdict = _verdict(question, prediction)
        by_kind[question["kind"]][verdict] += 1
        if options.show and verdict != "right":
            print(f"{question['id']} {verdict}: {question['question']}\n  {prediction.answer[:300]}\n")
    for kind, counts in sorted(by_kind.items()):
        print(f"{kind:12} {_listed(counts)}")
    total = sum(by_kind.values(), Counter[str]())
    print(f"{options.split} {total.total()}: {_listed(total)}")


async def _answer(engine: Engine, question: Gold) -> Prediction:
    return await engine.answer(Question(question["id"], question["question"]))


def _verdict(question: Gold, prediction: Prediction) -> str:
    if prediction.status != "answered":
        return "right" if question.get("refuse") else "refused"
    if "says" in question:
        return "right" if question["says"] in prediction.answer else "wrong"
    if question.get("refuse"):
        return "wrong"
    given = [prediction.value] if prediction.value is not None else []
    if prediction.grid is not None:  # the last of a series
        given = [cell.value for cell in prediction.grid.cells[-1:] if cell.value is not None]
    right = any(math.isclose(abs(a), abs(b), rel_tol=_TOLERANCE) for a in given for b in question["values"])
    return "right" if right or _quotes(question, prediction) else "wrong"


def _quotes(question: Gold, prediction: Prediction) -> bool:
    """Whether an answer in words prints the count that is asked for."""
    counts = (f"{value:,.0f}" for value in question["values"] if value == round(value) and value > 1)
    return question["kind"] == "kind" and any(count in prediction.answer for count in counts)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in ("right", "wrong", "refused"))


if __name__ == "__main__":
    main()
