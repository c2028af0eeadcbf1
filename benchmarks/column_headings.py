"""How many cells of an index's tables their headings and periods do not tell apart from another cell of the row.

    python benchmarks/column_headings.py --index INDEX

Counts the rows with figures in two or more columns. No questions are involved.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from finray.core.filing import LineItem
from finray.filings.html.tagged_facts import FIRST_ROW
from finray.index.reading.reader import IndexReader


@dataclass(slots=True)
class Counts:
    """``unclear`` are cells with the heading and period of another cell of their row."""

    rows: int = 0
    cells: int = 0
    unclear: int = 0
    unclear_rows: int = 0

    def add(self, items: Iterable[LineItem]) -> None:
        """Count the items of one filing."""
        rows: dict[tuple[int, int], dict[int, LineItem]] = defaultdict(dict)
        for item in items:
            if 0 <= item.row < FIRST_ROW:  # facts in prose have no columns
                rows[item.page, item.row][item.column] = item
        for row in rows.values():
            if len(row) < 2:
                continue
            alike = Counter((item.period_end, item.months, item.column_label) for item in row.values())
            unclear = sum(count for count in alike.values() if count > 1)
            self.rows += 1
            self.cells += len(row)
            self.unclear += unclear
            self.unclear_rows += unclear > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True)
    reader = IndexReader.open(parser.parse_args().index)
    counts = Counts()
    for filing in reader.filings():
        counts.add(reader.line_items([filing.filing_id]).get(filing.filing_id, ()))
    share = counts.unclear / counts.cells if counts.cells else 0.0
    sys.stdout.write(
        f"{counts.rows:,} rows, {counts.cells:,} cells: {counts.unclear:,} cells ({share:.4f}) in "
        f"{counts.unclear_rows:,} rows are not told apart\n"
    )


if __name__ == "__main__":
    main()
