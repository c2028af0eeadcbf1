"""Features of the chunks of filings that show which company a question means.

``FEATURES`` describe a company, ``SIGNALS`` the choice of the best one. ``company_model`` weighs them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.core.passages import PageKey
from finray.question.terms import content_terms
from finray.retrieval.question_names import prints

FEATURES: Final[Mapping[str, str]] = {
    "bm25": "BM25 of the company's best chunk, over that of the best of all",
    "bm25_next": "the same of its best chunk on another page",
    "words": "largest share of the question's words (by rarity) in a chunk",
    "pairs": "largest share of the question's adjacent word pairs in a chunk",
    "names": "largest share of the question's names in a chunk",
    "names_all": "share of the question's names in its chunks together",
    "named_words": "largest share of the question's words in a chunk with a name",
    "named_share": "share of the chunks with a name that are the company's, mean of the names",
    "named_pages": "logarithm of its pages with a name",
    "front_names": "share of the names on the first pages of its filings",
    "figures": "largest share of the question's figures in a chunk",
    "fits": "a filing of the company is of the period asked for",
    "alike": "how much a word of the question is like a name or ticker of the company, from 0.7",
    "least_held": "least of the names: how near the question's words are to it in a chunk, or how alike it is",
    "unknown_held": "the same of the names that look like companies and are not in the index",
    "least_pages": "logarithm of its pages with the name that it has on the fewest",
    "least_share": "least of the names: share of the pages with it that are the company's",
}
_OF_BEST: Final = (
    "bm25_next", "words", "pairs", "names", "names_all", "named_words", "named_share", "figures", "fits", "alike",
    "least_held", "unknown_held", "least_pages", "least_share",
)  # fmt: skip
SIGNALS: Final[Mapping[str, str]] = {
    "constant": "1",
    "mass": "probability of the best company",
    "margin": "score of the best company above that of the next, up to six",
    **{f"best_{name}": f"of the best company: {FEATURES[name]}" for name in _OF_BEST},
    "unknown": "the question names what looks like a company, and no company of the index has the name",
    "nameless": "the question has no name at all",
    "described": "the question has a word for a company in some role: owner, maker, buyer",
    "described_unknown": "the same, and it names what looks like a company",
    "absent": "share of the names that no chunk has",
}
_FRONT = 3
"""First pages of a filing."""
_MOST = 6.0
"""Largest ``margin``."""
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class CompanyCandidates:
    """``features`` is float64 [len(companies), len(FEATURES)]; the other fields are SIGNALS of the question."""

    companies: tuple[str, ...]
    features: Floats
    unknown: bool
    nameless: bool
    described: bool
    absent: float

    @property
    def hints_at_one(self) -> bool:
        """Whether there is a candidate, and the question has a name, a word like a company's name, or a role."""
        alike = bool(self.features[:, list(FEATURES).index("alike")].any())
        return bool(self.companies) and (not self.nameless or self.described or alike)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk of a filing of ``company``. ``score`` is its BM25, 0 if it was found by a name alone."""

    company: str
    filing_id: str
    page: int
    text: str
    score: float


@dataclass(slots=True)
class _Company:
    """Sums up the chunks of one company: the best share of each kind, BM25 by page, pages by name, the best share of
    the question's words beside each name, and the names on first pages."""

    best: dict[str, float] = field(default_factory=dict)
    scores: dict[PageKey, float] = field(default_factory=dict)
    pages: dict[str, set[PageKey]] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    front: set[str] = field(default_factory=set)

    def add(self, chunk: Chunk, named: Sequence[str], shares: Mapping[str, float]) -> None:
        place = chunk.filing_id, chunk.page
        self.scores[place] = max(chunk.score, self.scores.get(place, 0.0))
        for name in named:
            self.pages.setdefault(name, set()).add(place)
            self.near[name] = max(shares["words"], self.near.get(name, 0.0))
        if chunk.page < _FRONT:
            self.front.update(named)
        for kind, share in shares.items():
            self.best[kind] = max(share, self.best.get(kind, 0.0))


def company_features(
    text: str,
    chunks: Sequence[Chunk],
    companies: Sequence[str],
    patterns: Mapping[str, re.Pattern[str]],
    unknown: Collection[str],
    fits: Callable[[str], float],
    alike: Callable[[str, str], float],
) -> tuple[Floats, float]:
    """Returns FEATURES of ``companies``, float64 [len(companies), len(FEATURES)], and the share of names in no chunk.

    ``patterns`` match the question's names, of which ``unknown`` look like companies. ``fits(company)`` is how well its
    filings fit the period asked for, ``alike(company, text)`` how much ``text`` is like its name.
    """
    read = _read(text, chunks, companies, patterns)
    best_score = max((chunk.score for chunk in chunks), default=0.0) or 1.0
    holding = {name: sum(len(each.pages.get(name, ())) for each in read.values()) for name in patterns}
    rows: list[dict[str, float]] = []
    for company, own in read.items():
        ranked = [*sorted(own.scores.values(), reverse=True), 0.0, 0.0]
        most = own.best.get("words") or 1.0
        held = {name: max(own.near.get(name, 0.0) / most, alike(company, name)) for name in patterns}
        row = {
            **own.best,
            "bm25": ranked[0] / best_score,
            "bm25_next": ranked[1] / best_score,
            "fits": fits(company),
            "alike": alike(company, text),
            "least_held": min(held.values(), default=1.0),
            "unknown_held": min((near for name, near in held.items() if name in unknown), default=1.0),
        }
        if patterns:
            counts = {name: len(own.pages.get(name, ())) for name in patterns}
            shares = [count / max(1, holding[name]) for name, count in counts.items()]
            row |= {
                "names_all": sum(map(bool, counts.values())) / len(patterns),
                "named_share": sum(shares) / len(patterns),
                "named_pages": math.log1p(len(set().union(*own.pages.values()))),
                "front_names": len(own.front) / len(patterns),
                "least_pages": math.log1p(min(counts.values())),
                "least_share": min(shares),
            }
        rows.append(row)
    matrix = np.asarray([[row.get(name, 0.0) for name in FEATURES] for row in rows], dtype=np.float64)
    absent = sum(not count for count in holding.values()) / len(patterns) if patterns else 0.0
    return matrix.reshape(-1, len(FEATURES)), absent


def _read(
    text: str, chunks: Sequence[Chunk], companies: Sequence[str], patterns: Mapping[str, re.Pattern[str]]
) -> dict[str, _Company]:
    asked = content_terms(text)
    terms, pairs = set(asked), set(pairwise(asked))
    figures = {each for each in _FIGURE.findall(text) if len(each) > 1 and not _YEAR.fullmatch(each)}
    own = [content_terms(chunk.text) for chunk in chunks]
    counts = Counter(term for words in own for term in terms.intersection(words))
    rarity = {term: math.log(1 + len(chunks) / (1 + counts[term])) for term in terms}
    total = math.fsum(rarity.values()) or 1.0
    read = {company: _Company() for company in companies}
    for chunk, words in zip(chunks, own, strict=True):
        held = math.fsum(rarity[term] for term in terms.intersection(words)) / total
        named = [name for name, pattern in patterns.items() if prints(chunk.text, name, pattern)]
        shares = {
            "words": held,
            "pairs": _share(pairs, pairwise(words)),
            "names": len(named) / len(patterns) if patterns else 0.0,
            "named_words": held if named else 0.0,
            "figures": _share(figures, _FIGURE.findall(chunk.text)),
        }
        read[chunk.company].add(chunk, named, shares)
    return read


def _share(wanted: Collection[object], there: Iterable[object]) -> float:
    return len(set(wanted).intersection(there)) / len(wanted) if wanted else 0.0


def choice_signals(found: CompanyCandidates, scores: Floats) -> Floats:
    """The SIGNALS of the choice of the best of ``scores``, float64 [len(SIGNALS)]."""
    best = int(np.argmax(scores))
    odds = np.exp(scores - scores.max())
    rest = np.delete(scores, best)
    row = dict(zip(FEATURES, found.features[best], strict=True))
    values = {
        "constant": 1.0,
        "mass": float(odds[best] / odds.sum()),
        "margin": min(_MOST, float(scores[best] - rest.max())) if rest.size else _MOST,
        "unknown": float(found.unknown),
        "nameless": float(found.nameless),
        "described": float(found.described),
        "described_unknown": float(found.described and found.unknown),
        "absent": found.absent,
    }
    return np.asarray([values[n] if n in values else float(row[n.removeprefix("best_")]) for n in SIGNALS])
