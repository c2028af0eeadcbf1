"""Learns which SEC Items use which words: FinGEAR's lexicon mapping by relative frequency (FLAM, arXiv 2509.12042).

The weight of a term for an Item is the log ratio of the share of the Item's pages that use it to that of all pages,
shrunk toward zero for rare terms. The lexicon depends only on page counts of public filings.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable

from finray.index.reading.reader import IndexReader
from finray.question.terms import content_terms

MIN_PAGES = 60
"""Pages of all filings that must use a term."""
MIN_PAGES_OF_ITEM = 40
MIN_FILINGS = 12
"""Filings that must use a term, to exclude words of single companies."""
PRIOR = 10.0
"""Pseudo-count: pages of average use added to every Item."""
MIN_WEIGHT = 0.8
MAX_WEIGHT = 3.0


def learn_item_lexicon(pages: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, float]]:
    """Term -> {Item: weight}, from (filing_id, Item, text) of many pages, without weights near zero."""
    used: Counter[str] = Counter()
    used_in: dict[str, Counter[str]] = defaultdict(Counter)
    filings: dict[str, set[str]] = defaultdict(set)
    pages_of: Counter[str] = Counter()
    for filing_id, item, text in pages:
        pages_of[item] += 1
        for term in set(content_terms(text)):
            used[term] += 1
            used_in[term][item] += 1
            filings[term].add(filing_id)
    total = pages_of.total()
    items = sorted(item for item, count in pages_of.items() if count >= MIN_PAGES_OF_ITEM)
    lexicon: dict[str, dict[str, float]] = {}
    for term in sorted(used):
        if used[term] < MIN_PAGES or len(filings[term]) < MIN_FILINGS:
            continue
        share = used[term] / total
        weights = {
            item: math.log((used_in[term][item] + PRIOR * share) / (pages_of[item] + PRIOR) / share) for item in items
        }
        kept = {
            item: round(max(-MAX_WEIGHT, min(MAX_WEIGHT, weight)), 1)
            for item, weight in weights.items()
            if abs(weight) >= MIN_WEIGHT
        }
        if kept:
            lexicon[term] = kept
    return lexicon


def index_item_lexicon(reader: IndexReader) -> dict[str, dict[str, float]]:
    """The lexicon of the annual and quarterly reports of an index, without covers, contents and exhibits."""
    periodic = {filing.filing_id for filing in reader.filings() if filing.form in ("10-K", "10-Q")}
    rows = reader.pages(periodic, ["filing_id", "item", "text", "place"]).to_pylist()
    return learn_item_lexicon(
        (row["filing_id"], row["item"], row["text"]) for row in rows if row["item"] and row["place"] is None
    )


def item_lexicon_json(lexicon: dict[str, dict[str, float]]) -> str:
    """The lexicon as JSON, one term per line."""
    lines = ",\n".join(
        f"{json.dumps(term)}:{json.dumps(items, separators=(',', ':'))}" for term, items in lexicon.items()
    )
    return f"{{\n{lines}\n}}\n"
