"""Asks about quarters and half-years that most annual reports do not print, and counts figures of other periods.

    python benchmarks/parts_of_years.py --index INDEX [--examples]

For each annual report of the index: one metric in the second quarter, the fourth quarter and the second half of its
year. A figure that is read from cells of the length asked for, or computed from two lengths, is counted as of the
period; any other figure as wrong, though a sentence may state it rightly. A refusal is right unless the filing prints
the figure, which nothing here knows. ``--examples`` prints the wrong ones.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator

from finray.core.bootstrap import estimate
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.engine import Engine, open_engine
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation.report import shown
from finray.question.companies.catalog import CompanyCatalog

_METRICS = (
    "revenue", "net income", "operating income", "capital expenditures", "operating cash flow", "interest expense",
    "dividends paid", "research and development expense",
)  # fmt: skip
_PARTS = {"second quarter": 3, "fourth quarter": 3, "second half": 6}


def questions(engine: Engine) -> Iterator[tuple[Question, int]]:
    """With the months of the period asked for."""
    filings = engine.reader.filings()
    facts = FilingFacts(engine.reader, CompanyCatalog(filings))
    number = 0
    for filing in filings:
        if filing.form != "10-K" or filing.fiscal_year is None:
            continue
        company = facts.company_name(facts.company_of(filing.filing_id))
        for part, months in _PARTS.items():
            metric = _METRICS[number % len(_METRICS)]
            number += 1
            text = f"What was {company}'s {metric} in the {part} of fiscal {filing.fiscal_year}?"
            yield Question(f"{filing.doc_name} {part}", text), months


def outcome(prediction: Prediction, months: int) -> str:
    """ "refused", "of the period" or "of another period"."""
    if prediction.value is None:
        return "refused"
    lengths = {cell.months for cell in prediction.operands}
    return "of the period" if months in lengths or len(lengths) > 1 else "of another period"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--examples", action="store_true")
    arguments = parser.parse_args()
    engine = open_engine(arguments.index, load_settings("local"))
    found: Counter[str] = Counter()
    wrong: list[float] = []
    for question, months in questions(engine):
        prediction = asyncio.run(engine.answer(question))
        result = outcome(prediction, months)
        found[result] += 1
        wrong.append(float(result == "of another period"))
        if arguments.examples and wrong[-1]:
            print(f"{question.question}\n    {prediction.answer.splitlines()[0]} ({prediction.confidence})")
    print("; ".join(f"{name} {count}" for name, count in sorted(found.items())))
    print(f"a figure of another period: {shown(estimate(wrong))}")


if __name__ == "__main__":
    main()
