"""Asks for years in which a row of a statement shows a dash beside another year's figure.

    python benchmarks/dashes.py --index INDEX [--rows 3] [--examples]

For each annual report of the index, some rows of its statements whose label it prints once, with a dash for one year
and a figure for another. Zero, or a refusal, is right; a figure is another year's or another row's.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from finray import load_settings, open_index
from finray.core.bootstrap import estimate
from finray.core.filing import Filing, LineItem
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.report import shown

_LABEL = (8, 70)
"""Characters of the labels that are asked for."""
_YEAR = 12
_SAME_YEAR_DAYS = 10


def dashed(items: Sequence[LineItem], filing: Filing) -> Iterator[tuple[str, int]]:
    """(label, fiscal year) of the rows with a dash for one year and a figure for another."""
    rows: dict[tuple[int, int], list[LineItem]] = defaultdict(list)
    for item in items:
        if item.statement in ("income", "cash_flow") and item.months == _YEAR and item.period_end is not None:
            rows[item.page, item.row].append(item)
    labels = Counter(row[0].label.casefold() for row in rows.values())
    for row in rows.values():
        label = row[0].label
        once = labels[label.casefold()] == 1 and _LABEL[0] <= len(label) <= _LABEL[1]
        figures = [item for item in row if any(map(str.isdigit, item.text))]
        if once and figures and len(row) > 1:
            for item in row:
                if item.value == 0 and not any(map(str.isdigit, item.text)) and filing.period_end and item.period_end:
                    days = (filing.period_end - item.period_end).days
                    back = round(days / 365.25)
                    if abs(days - 365.25 * back) <= _SAME_YEAR_DAYS and filing.fiscal_year is not None:
                        yield label, filing.fiscal_year - back


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    parser.add_argument("--rows", type=int, default=3, help="rows asked for of each filing")
    parser.add_argument("--examples", action="store_true", help="print the figures of other cells")
    options = parser.parse_args()
    settings = load_settings("local")
    reader = IndexReader.open(options.index, settings)
    index = open_index(options.index, settings)
    outcomes = Counter[str]()
    figures = []
    for filing in reader.filings():
        if filing.form != "10-K":
            continue
        items = reader.line_items([filing.filing_id]).get(filing.filing_id, ())
        for label, year in list(dashed(items, filing))[: options.rows]:
            question = f"What was {filing.company}'s {label.rstrip(':')} in fiscal {year}, according to its 10-K?"
            prediction = index.ask(question)
            outcome = "refused" if prediction.value is None else "zero" if prediction.value == 0 else "figure"
            outcomes[outcome] += 1
            figures.append(float(outcome == "figure"))
            if outcome == "figure" and options.examples:
                print(f"{prediction.confidence} {filing.doc_name}: {question} -> {prediction.answer[:150]}")
    print(f"{len(figures)} questions: another figure {shown(estimate(figures))}, {dict(outcomes)}")


if __name__ == "__main__":
    main()
