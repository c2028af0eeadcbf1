"""Questions over several companies, years and items: how many of their figures are right, wrong or missing, and whether
the verdict is.

    python benchmarks/grid_questions.py INDEX [--split develop|validate] [--show]

benchmarks/grid_questions/README.md describes the questions. The answers are compared as they are: an answer without a
grid counts by the cells that it cites.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine

QUESTIONS = Path(__file__).parent / "grid_questions" / "questions.jsonl"
_TOLERANCE = 0.0005
"""Of a figure that is printed in millions of a few thousand."""
Gold = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--split", choices=("develop", "validate"), default="develop")
    parser.add_argument("--show", action="store_true", help="Print each answer that is not all right.")
    options = parser.parse_args()
    gold = [each for line in QUESTIONS.read_text("utf-8").splitlines() if (each := json.loads(line))]
    gold = [each for each in gold if each["split"] == options.split]
    engine = open_engine(options.index, load_settings("local"))
    cells: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    named: Counter[str] = Counter()
    whole = 0
    for question, prediction in asyncio.run(_answers(engine, gold)):
        own = max((_cells(series, prediction) for series in question["cells"]), key=lambda each: each["right"])
        verdict = _verdict(question, prediction)
        missing = [_is_named(name, prediction) for name in question.get("missing", ())]
        cells += own
        verdicts[verdict] += 1
        named.update("named" if is_named else "unnamed" for is_named in missing)
        right = own["right"] == own.total() and verdict in ("right", "none asked") and all(missing)
        whole += right
        if options.show and not right:
            print(f"{question['id']} {question['question']}\n  {dict(own)}, verdict {verdict}\n  {prediction.answer}\n")
    print(f"{options.split}: {whole} of {len(gold)} questions right in every part")
    print(f"cells {cells.total()}: {_listed(cells, ('right', 'wrong', 'missing'))}")
    asked = Counter({kind: n for kind, n in verdicts.items() if kind != "none asked"})
    print(f"verdicts {asked.total()}: {_listed(asked, ('right', 'wrong', 'refused'))}")
    print(f"absent figures {named.total()}: {_listed(named, ('named', 'unnamed'))}")


async def _answers(engine: Engine, gold: Sequence[Gold]) -> list[tuple[Gold, Prediction]]:
    return [(each, await engine.answer(Question(each["id"], each["question"]))) for each in gold]


def _cells(series: Sequence[Mapping[str, Any]], prediction: Prediction) -> Counter[str]:
    """How many cells of one ``series`` of gold figures are right, wrong and missing."""
    counts: Counter[str] = Counter()
    for cell in series:
        given = list(_given(cell["company"], cell["year"], prediction))
        if any(_equal(value, each) for value in given for each in cell["values"]):
            counts["right"] += 1
        else:
            counts["wrong" if given and prediction.grid is not None else "missing"] += 1
    return counts


def _given(company: str, year: int, prediction: Prediction) -> Iterator[float]:
    """The figures that an answer gives for a company and year; without a grid, all that it cites."""
    if prediction.grid is None:
        yield from (cell.value for cell in prediction.operands)
        return
    for cell in prediction.grid.cells:
        if cell.value is not None and str(year) in cell.period and _mentions(cell.company, company):
            yield cell.value


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= _TOLERANCE * max(abs(one), abs(other))


def _verdict(question: Gold, prediction: Prediction) -> str:
    """ "right", "wrong" or "refused"; "none asked" if the question asks for figures only."""
    if not {"first", "order", "yes"} & question.keys():
        return "none asked"
    if prediction.status != "answered":
        return "refused"
    if "yes" in question:
        said = re.match(r"\W*(yes|no)\b", prediction.answer, re.I)
        return "right" if said is not None and (said[1].lower() == "yes") == question["yes"] else "wrong"
    places = {name: _place(name, prediction.answer) for name in question["among"]}
    order = sorted((name for name in places if places[name] is not None), key=lambda name: places[name] or 0)
    expected = question.get("order") or [question["first"]]
    return "right" if order[: len(expected)] == expected else "wrong"


def _place(name: str, text: str) -> int | None:
    """Where ``text`` first has ``name``."""
    found = re.search(re.sub(r"[^a-z0-9]+", r"\\W", name.lower().split()[0]), text, re.I)
    return None if found is None else found.start()


def _mentions(text: str, name: str) -> bool:
    plain = [re.sub(r"[^a-z ]", " ", each.lower()).split() for each in (text, name)]
    return set(plain[1]) <= set(plain[0])


def _is_named(name: str, prediction: Prediction) -> bool:
    """Whether the answer says that the figures of ``name``, a company, maybe with a year, are missing."""
    return all(word in f"{prediction.answer} {' '.join(prediction.missing)}" for word in name.split()[-1:])


def _listed(counts: Counter[str], kinds: Sequence[str]) -> str:
    return ", ".join(f"{counts[kind]} {kind}" for kind in kinds)


if __name__ == "__main__":
    main()
