"""A panel of ten companies by five years by six metrics, asked of an index, and its accuracy against inline XBRL.

    python benchmarks/panel.py INDEX --out panel.xlsx

The tags are those of the 10-Ks in $FINRAY_SHARED_DATA/edgar/html (default ../shared/data), read apart from the line
items of the index: for each metric the first concept that the filing tags for the whole company and the year. Most
filings of the other years are PDFs without tags, so only part of the panel can be checked. The same cells are looked up
by `finray facts`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from finray.batch.panels import Panel
from finray.batch.prediction_store import read_predictions
from finray.core.filing import Filing
from finray.core.predictions import Prediction
from finray.core.settings import FilingSettings, load_settings
from finray.filings.dates import add_months
from finray.lab.datasets.xbrl.tagged import Fact, read_tagged_filing
from finray.library import answer_panel, read_facts

DATA = Path(os.environ.get("FINRAY_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
COMPANIES = {
    "Adobe": "ADOBE",
    "Amazon": "AMAZON",
    "Apple": "APPLE",
    "Coca-Cola": "COCA",
    "Microsoft": "MICROSOFT",
    "Netflix": "NETFLIX",
    "NVIDIA": "NVIDIA",
    "PepsiCo": "PEPSICO",
    "Visa": "VISA",
    "Walmart": "WALMART",
}
"""How the panel calls a company, and how its name begins in the filings."""
YEARS = range(2020, 2025)
TEMPLATE = "{company}: {metric} in fiscal {year}"
CONCEPTS = {
    "revenue": ("Revenues", "RevenueFromContractWithCustomerExcludingAssessedTax", "SalesRevenueNet"),
    "operating income": ("OperatingIncomeLoss",),
    "net income": ("NetIncomeLoss", "ProfitLoss"),
    "total assets": ("Assets",),
    "capital expenditure": ("PaymentsToAcquirePropertyPlantAndEquipment", "PaymentsToAcquireProductiveAssets"),
    "operating cash flow": ("NetCashProvidedByUsedInOperatingActivities",),
}
_TOLERANCE = 0.0005
"""Of a figure that is printed in millions of a few thousand."""
_NEAR_DAYS = 10

Place = tuple[str, int, str]
"""(company, fiscal year, metric)"""


@dataclass(frozen=True, slots=True)
class Tagged:
    value: float
    doc_name: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--out", required=True)
    parser.add_argument("--failures", action="store_true", help="list every cell that is wrong or refused")
    arguments = parser.parse_args()
    panel = Panel.of([TEMPLATE], list(COMPANIES), list(YEARS), list(CONCEPTS)).in_series()
    summary = answer_panel(panel, arguments.index, arguments.out, load_settings(), workers=0)
    print(
        f"{summary.questions} questions: {summary.answered} answered, {summary.unanswerable} not, "
        f"{summary.errors} errors"
    )
    tagged = tagged_figures()
    places = panel.places()
    answers = {
        (company, year, metric): value_of(prediction, year)
        for prediction in read_predictions(arguments.out).predictions
        if prediction.qid in places
        for company, years, metric in [places[prediction.qid]]
        for year in years
    }
    found = read_facts(arguments.index, list(COMPANIES), list(CONCEPTS), YEARS)
    # Facts are in the order in which they were asked for.
    asked = [(company, year, metric) for company in COMPANIES for year in YEARS for metric in CONCEPTS]
    facts = {place: fact.value for place, fact in zip(asked, found, strict=True)}
    report("panel", answers, tagged, arguments.failures)
    report("facts", facts, tagged, arguments.failures)
    both = [place for place in asked if facts[place] is not None and answers[place] is not None]
    same = sum(_same(facts[place], answers[place]) for place in both)
    print(f"panel and facts agree in {same} of the {len(both)} cells that both fill")


def value_of(prediction: Prediction, year: int) -> float | None:
    """The figure of ``year`` in the answer over all years, or the only one."""
    if prediction.grid is not None:
        return next((cell.value for cell in prediction.grid.cells if cell.period == f"FY {year}"), None)
    return prediction.value if prediction.status == "answered" else None


def report(name: str, values: Mapping[Place, float | None], tagged: Mapping[Place, Tagged], failures: bool) -> None:
    outcomes: Counter[str] = Counter()
    by_metric: dict[str, Counter[str]] = {}
    for place, gold in tagged.items():
        value = values[place]
        outcome = "refused" if value is None else "right" if _same(value, gold.value) else "wrong"
        outcomes[outcome] += 1
        by_metric.setdefault(place[2], Counter())[outcome] += 1
        if failures and outcome != "right":
            print("   ", name, *place, outcome, value, "tagged", gold.value, gold.doc_name)
    filled = sum(value is not None for value in values.values())
    print(
        f"{name}: {filled} of {len(values)} cells filled; of the {len(tagged)} tagged ones {outcomes['right']} right, "
        f"{outcomes['wrong']} wrong, {outcomes['refused']} refused"
    )
    for metric, counts in by_metric.items():
        print(f"    {metric:22} {counts['right']:3} of {counts.total():3}, {counts['wrong']} wrong")


def tagged_figures() -> dict[Place, Tagged]:
    """The tagged figure of each cell of the panel that a 10-K tags; the report on the year itself first."""
    figures: dict[Place, tuple[int, Tagged]] = {}
    for path in sorted((DATA / "edgar" / "html").glob("*10-k*.html")):
        read = read_tagged_filing(path.read_bytes(), str(path), FilingSettings())
        company = next((own for own, name in COMPANIES.items() if read.filing.company.upper().startswith(name)), None)
        if company is None:
            continue
        for year, metric, value in _of_filing(read.filing, read.facts):
            age = (read.filing.fiscal_year or 0) - year
            place = (company, year, metric)
            if place not in figures or age < figures[place][0]:
                figures[place] = (age, Tagged(value, path.stem))
    return {place: tagged for place, (_, tagged) in sorted(figures.items())}


def _of_filing(filing: Filing, facts: tuple[Fact, ...]) -> Iterator[tuple[int, str, float]]:
    assert filing.period_end is not None and filing.fiscal_year is not None
    for year in YEARS:
        end = add_months(filing.period_end, 12 * (year - filing.fiscal_year))
        for metric, concepts in CONCEPTS.items():
            values = {
                fact.concept.rpartition(":")[2]: float(fact.value)
                for fact in facts
                if not fact.members and fact.months in (0, 12) and _near(fact.end, end)
            }
            value = next((values[concept] for concept in concepts if concept in values), None)
            if value is not None:
                yield year, metric, value


def _near(day: dt.date, other: dt.date) -> bool:
    return abs((day - other).days) <= _NEAR_DAYS


def _same(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= _TOLERANCE * max(abs(a), abs(b))


if __name__ == "__main__":
    main()
