"""Statistics of FinGEAR's trees, as in its tables 6 and 9 and appendices B and K (arXiv 2509.12042)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from finray.core.errors import IndexMismatchError, SettingsError
from finray.core.settings import Settings
from finray.index.extensions.table import open_extension
from finray.index.reading.reader import IndexReader
from finray.lab.tables.paper_table import Gap
from finray.retrieval.trees.build import fingear_extension
from finray.retrieval.trees.store import COLUMNS, read_trees

CHARACTERS_PER_TOKEN: Final = 4
DOLLARS: Final = "Dollars of 1,000 filings"


def tree_statistics(index: str, settings: Settings) -> dict[str, list[float]] | Gap:
    """Values of each annual and quarterly report by the names of table 6, and ``DOLLARS``; a value that a filing does
    not have is left out."""
    try:
        reader = IndexReader.open(index, settings)
        stored = open_extension(reader, fingear_extension(settings))
        rows = stored.rows([*COLUMNS, "processor_seconds", "cost"]).to_pylist()
    except (IndexMismatchError, SettingsError) as error:
        return Gap(str(error))
    periodic = {filing.filing_id for filing in reader.filings() if filing.form.startswith(("10-K", "10-Q"))}
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["filing_id"] in periodic:
            for name, value in _of_filing(reader, row).items():
                if value is not None:
                    found.setdefault(name, []).append(float(value))
    return found or Gap("the index has no annual or quarterly report")


def _of_filing(reader: IndexReader, row: Mapping[str, Any]) -> dict[str, float | None]:
    trees = read_trees(row)
    only = [row["filing_id"]]
    depths = [1 + max((node.level for node in tree.nodes), default=0) for tree in trees.trees]
    chunks = _tokens(reader.chunks(only, ["text"])["text"].to_pylist())
    pages = _tokens(reader.pages(only, ["text"])["text"].to_pylist())
    summaries = _tokens([node.summary for _, node in trees.nodes])
    return {
        "Tree depth (max)": max(depths, default=None),
        "Tree depth (mean)": _mean(depths),
        "Total node count": len(trees.nodes) + len(trees.places),
        "Internal node count": len(trees.nodes),
        "Leaf node count": len(trees.places),
        "Page count": len(pages),
        "Document count": len(chunks),
        "Tokens per document": _mean(chunks),
        "Tokens per summary node": _mean(summaries),
        "Tokens per page node": _mean(pages),
        "Seconds of trees, one processor": row["processor_seconds"],
        DOLLARS: 1_000 * row["cost"],
    }


def _tokens(texts: Sequence[str]) -> list[float]:
    return [len(text) / CHARACTERS_PER_TOKEN for text in texts]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
