"""FLAM, FinGEAR's financial lexicon mapping (arXiv 2509.12042, sections 3.1.2 and 3.2.1, appendix E).

Terms of a finance lexicon are found by phrase matching, clustered by their embeddings, and counted in the Items of all
filings. The terms of a question, and the other terms of their clusters, weigh the Items; the weights divide the
retrieval budget.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from finray.core.data_files import shipped
from finray.core.errors import SettingsError
from finray.core.method_settings import FingearParameters
from finray.filings.tables.canonical import canonical_items
from finray.index.schema import vectors_array, vectors_matrix
from finray.models.encoder import Encoder, Vectors
from finray.question.terms import stem
from finray.retrieval.trees.clustering import soft_clusters
from finray.storage.locations import read_bytes

MAX_TERMS: Final = 50_000
_WORD: Final = re.compile(r"[a-z0-9]+(?:&[a-z0-9]+)*")


def lexicon_terms(file: str) -> tuple[str, ...]:
    """The terms of ``file``; if it is "", the shipped list and the canonical line items. Equal stems count once.

    Raises SettingsError if the file has none, or too many; SourceError if it cannot be read.
    """
    if file:
        lines = read_bytes(file).decode("utf-8-sig", "replace").splitlines()
    else:
        names = (name for item in canonical_items().values() for name in item.names)
        lines = [*shipped("finray.retrieval", "finance_terms.txt").splitlines(), *names]
    terms = {words: line.strip() for line in reversed(lines) if not line.startswith("#") and (words := _stems(line))}
    if not 0 < len(terms) <= MAX_TERMS:
        raise SettingsError(
            f"methods.fingear.lexicon = {file!r} has {len(terms):,} terms; give 1 to {MAX_TERMS:,}, one a line"
        )
    return tuple(sorted(terms.values(), key=str.lower))


class PhraseMatcher:
    """Finds the terms of a lexicon in text: longest match first, from left to right, without overlap (Singh 2017)."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._numbers = {_stems(term): number for number, term in enumerate(terms)}
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for words in filter(None, self._numbers):
            lengths[words[0]].add(len(words))
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}
        """By first word, the numbers of words of the terms, largest first."""

    def find(self, text: str) -> Iterator[int]:
        """The number of each term, as often as it occurs."""
        words = _stems(text)
        at = 0
        while at < len(words):
            lengths = self._lengths.get(words[at], ())
            length = next((length for length in lengths if words[at : at + length] in self._numbers), None)
            if length is not None:
                yield self._numbers[words[at : at + length]]
            at += length or 1


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _WORD.findall(text.lower().replace("'s", "").replace("’s", ""))))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Terms, their vectors (float32 [n, d]), and the numbers of the terms in each cluster."""

    terms: tuple[str, ...]
    vectors: Vectors
    clusters: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, terms: tuple[str, ...], encoder: Encoder, chosen: FingearParameters) -> Lexicon:
        vectors = encoder.encode_passages(terms)
        return cls(terms, vectors, tuple(tuple(members.tolist()) for members in soft_clusters(vectors, chosen)))

    def expanded(self, found: Collection[int]) -> set[int]:
        """``found`` and the other terms of their clusters."""
        wanted = set(found)
        return wanted.union(*(members for members in self.clusters if not wanted.isdisjoint(members)))

    def nearest(self, vector: Vectors) -> int:
        """The term whose vector is nearest."""
        return int(np.argmax(self.vectors @ vector))

    def to_bytes(self) -> bytes:
        clusters: list[list[int]] = [[] for _ in self.terms]
        for number, members in enumerate(self.clusters):
            for term in members:
                clusters[term].append(number)
        columns = {
            "term": pa.array(self.terms, pa.string()),
            "vector": vectors_array(self.vectors, self.vectors.shape[1]),
            "clusters": pa.array(clusters, pa.list_(pa.int32())),
        }
        sink = io.BytesIO()
        table = pa.table(columns)
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Lexicon:
        table = pa.ipc.open_file(pa.py_buffer(content)).read_all()
        clusters: defaultdict[int, list[int]] = defaultdict(list)
        for term, numbers in enumerate(table["clusters"].to_pylist()):
            for number in numbers:
                clusters[number].append(term)
        members = tuple(tuple(clusters[number]) for number in sorted(clusters))
        return cls(tuple(table["term"].to_pylist()), vectors_matrix(table["vector"]), members)


class Flam:
    """Weighs Items for a question. ``counts`` are the occurrences of terms in each Item, over all filings."""

    def __init__(self, lexicon: Lexicon, counts: Mapping[str, Mapping[int, int]], chosen: FingearParameters) -> None:
        self._lexicon = lexicon
        self._matcher = PhraseMatcher(lexicon.terms)
        self._counts = counts
        self._chosen = chosen

    def weights(self, question: str, vector: Vectors, items: Collection[str]) -> tuple[dict[str, float], list[str]]:
        """The weight of each of ``items``, and the terms found in the question (the nearest one if there are none).

        There are no weights if nothing tells the Items apart: without FLAM, or if no term occurs in them.
        """
        if not self._chosen.flam:
            return {}, []
        found = list(dict.fromkeys(self._matcher.find(question))) or [self._lexicon.nearest(vector)]
        wanted = self._lexicon.expanded(found)
        counts = {
            item: {term: count for term, count in self._counts.get(item, {}).items() if term in wanted}
            for item in items
        }
        return item_weights(counts, self._chosen.weighting), [self._lexicon.terms[term] for term in found]


def count_terms(matcher: PhraseMatcher, texts: Mapping[str, Sequence[str]]) -> dict[str, Counter[int]]:
    """Occurrences of each term in the texts of each Item."""
    return {item: Counter(term for text in some for term in matcher.find(text)) for item, some in texts.items()}


def item_weights(counts: Mapping[str, Mapping[int, int]], weighting: str = "relative") -> dict[str, float]:
    """Weights of Items that add up to 1, from the occurrences of a question's terms in each; none if no term occurs.

    The weight of a term is divided between the Items as its occurrences are. With "relative" an Item's weight is
    therefore its share of all occurrences, as in section 3.2.1.
    """
    totals: Counter[int] = Counter()
    for found in counts.values():
        totals.update(found)
    weights = term_weights(totals, weighting)
    if not weights:
        return {}
    return {
        item: sum(weights[term] * count / totals[term] for term, count in found.items() if count)
        for item, found in counts.items()
    }


def term_weights(counts: Mapping[int, int], weighting: str = "relative") -> dict[int, float]:
    """Weights of terms that add up to 1 (section 3.1.2, table 4); none for terms that do not occur.

    "relative" is the paper's count / sum. It only names the others: here "logarithmic" damps counts by log(1 + count),
    "exponential" is exp(share) - 1, and "softmax" is the softmax of count / mean count.
    """
    used = {term: count for term, count in counts.items() if count > 0}
    total, most = sum(used.values()), max(used.values(), default=0)
    weigh: Mapping[str, Callable[[int], float]] = {
        "relative": float,
        "logarithmic": math.log1p,
        "exponential": lambda count: math.expm1(count / total),
        "softmax": lambda count: math.exp((count - most) * len(used) / total),
    }
    raw = {term: weigh[weighting](count) for term, count in used.items()}
    whole = sum(raw.values())
    return {term: value / whole for term, value in raw.items()}


def item_budgets(weights: Mapping[str, float], k: int) -> dict[str, int]:
    """k*_i = round(k * w_i), adjusted to add up to ``k`` (section 3.2.1); none without weights.

    The adjustment goes to the Items that rounding moved furthest; ties are broken by the larger weight.
    """
    budgets = {item: math.floor(k * weight + 0.5) for item, weight in weights.items()}
    while (missing := k - sum(budgets.values())) and budgets:
        step = 1 if missing > 0 else -1
        able = [item for item, budget in budgets.items() if budget + step >= 0]
        lost = {item: round(step * (k * weights[item] - budgets[item]), 9) for item in able}
        budgets[max(able, key=lambda item: (lost[item], step * weights[item]))] += step
    return budgets
