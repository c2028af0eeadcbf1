"""Which company a question is about if it names none of the index: asked of the text of all filings.

A brand, a subsidiary, a former name or a description ("the buyer of Bemis") stands in the filings of the company that is
meant. Every company with a chunk that shares words or names with the question competes. ``FEATURES`` are those of a
company, ``SIGNALS`` those of the choice; ``company_choice.json`` weighs them, fitted by ``finray train company-choice``.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.core.period import Period
from finray.index.reader import IndexReader
from finray.question.alike_names import AlikeNames
from finray.question.companies import CompanyCatalog
from finray.question.company_groups import core_name
from finray.question.periods import periods_in
from finray.question.terms import content_terms
from finray.question.words import word_list
from finray.retrieval.filing_match import period_fit

Floats = npt.NDArray[np.float64]

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
    "least_held": "least of the question's names: how near its words are in a chunk with the name, or the name is alike",
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
_HITS = 150
_NAME_HITS = 60
_NAMES = 6
_FRONT = 3
_MOST = 6.0
_NAME = re.compile(r"(?<![\w-])(?:[A-Z][\w&.’'-]*|[a-z][A-Z][\w-]*)")
_SENTENCE_START = re.compile(r"(?:^|[.?!:]\s++|[“\"(]\s*+)$")
_POSSESSIVE = re.compile(r"['’]s?$")
_NUMBERED = re.compile(r"(?:19|20)\d\d|^(?:FY|Q\d|H\d|F\d|\d)")
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LOWER = 0.2
"""Share of the chunks with a word that print it in lower case if it is no name."""
_NOT_A_NAME = word_list("not_a_name")
_ROLES = word_list("company_roles")


@dataclass(frozen=True, slots=True)
class CompanyCandidates:
    """``features`` is float64 [len(companies), len(FEATURES)]; the flags and ``absent`` are SIGNALS of the question."""

    companies: tuple[str, ...]
    features: Floats
    unknown: bool
    nameless: bool
    described: bool
    absent: float


@dataclass(frozen=True, slots=True)
class _Chunk:
    company: str
    filing_id: str
    page: int
    text: str
    score: float


class CompanyEvidence:
    """Reads the chunks of the index that share words or names with a question."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self._filings = reader.filings()
        self._alike = AlikeNames(catalog)

    def candidates(self, text: str, unknown: Sequence[str]) -> CompanyCandidates:
        """The companies with a chunk about ``text``; ``unknown`` are its names that are not in the catalog."""
        found = self._chunks(self._reader.search_chunks_text(text, None, _HITS, texts=True))
        patterns: dict[str, re.Pattern[str]] = {}
        known = {(chunk.filing_id, chunk.page, chunk.text) for chunk in found}
        for name, opens in names_in(text, unknown).items():
            pattern = _pattern(name)
            hits = self._chunks(self._reader.search_chunks_text(name, None, _NAME_HITS, texts=True))
            if opens and _is_common(name, hits):
                continue
            patterns[name] = pattern
            for chunk in hits:
                if _has(chunk.text, name, pattern) and (chunk.filing_id, chunk.page, chunk.text) not in known:
                    known.add((chunk.filing_id, chunk.page, chunk.text))
                    found.append(replace(chunk, score=0.0))  # that of another search is not comparable
        companies = tuple(dict.fromkeys([*(chunk.company for chunk in found), *self._alike.companies(text)]))
        features, absent = self._features(text, found, companies, patterns, set(map(_bare, unknown)))
        return CompanyCandidates(companies, features, bool(unknown), not patterns, _is_described(text), absent)

    def _chunks(self, hits: pa.Table) -> list[_Chunk]:
        return [
            _Chunk(
                self._catalog.company_of_filing[row["filing_id"]],
                row["filing_id"],
                row["page"],
                row["text"],
                row["score"],
            )
            for row in hits.select(["filing_id", "page", "text", "score"]).to_pylist()
        ]

    def _features(
        self,
        text: str,
        found: Sequence[_Chunk],
        companies: Sequence[str],
        patterns: Mapping[str, re.Pattern[str]],
        unknown: Collection[str],
    ) -> tuple[Floats, float]:
        asked = content_terms(text)
        terms, pairs = set(asked), set(pairwise(asked))
        figures = {each for each in _FIGURE.findall(text) if len(each) > 1 and not _YEAR.fullmatch(each)}
        own = [content_terms(chunk.text) for chunk in found]
        counts = Counter(term for words in own for term in terms.intersection(words))
        rarity = {term: math.log(1 + len(found) / (1 + counts[term])) for term in terms}
        total = sum(rarity.values()) or 1.0
        best_score = max((chunk.score for chunk in found), default=0.0) or 1.0
        holders: dict[str, dict[str, set[tuple[str, int]]]] = {name: defaultdict(set) for name in patterns}
        rows = {company: dict.fromkeys(FEATURES, 0.0) for company in companies}
        pages: dict[str, dict[tuple[str, int], float]] = {company: {} for company in companies}
        front: dict[str, set[str]] = {company: set() for company in companies}
        around: dict[str, dict[str, float]] = {company: dict.fromkeys(patterns, 0.0) for company in companies}
        for chunk, words in zip(found, own, strict=True):
            row = rows[chunk.company]
            held = sum(rarity[term] for term in terms.intersection(words)) / total
            named = [name for name, pattern in patterns.items() if _has(chunk.text, name, pattern)]
            place = chunk.filing_id, chunk.page
            pages[chunk.company][place] = max(chunk.score, pages[chunk.company].get(place, 0.0))
            for name in named:
                holders[name][chunk.company].add(place)
                around[chunk.company][name] = max(held, around[chunk.company][name])
            if chunk.page < _FRONT:
                front[chunk.company].update(named)
            printed = figures.intersection(_FIGURE.findall(chunk.text))
            values = {
                "words": held,
                "pairs": len(pairs.intersection(pairwise(words))) / len(pairs) if pairs else 0.0,
                "names": len(named) / len(patterns) if patterns else 0.0,
                "named_words": held if named else 0.0,
                "figures": len(printed) / len(figures) if figures else 0.0,
            }
            for feature, value in values.items():
                row[feature] = max(row[feature], value)
        periods = periods_in(text)
        for company, row in rows.items():
            ranked = sorted(pages[company].values(), reverse=True) or [0.0]
            row["bm25"] = ranked[0] / best_score
            row["bm25_next"] = ranked[1] / best_score if len(ranked) > 1 else 0.0
            row["fits"] = self._fits(company, periods)
            row["alike"] = self._alike.to(company, text)
            most = row["words"] or 1.0
            sure = {n: max(near / most, self._alike.to(company, n)) for n, near in around[company].items()}
            row["least_held"] = min(sure.values(), default=1.0)
            row["unknown_held"] = min((near for name, near in sure.items() if name in unknown), default=1.0)
            if patterns:
                shares = [len(by[company]) / sum(map(len, by.values())) for by in holders.values() if company in by]
                counts = [len(by.get(company, ())) for by in holders.values()]
                row["least_pages"] = math.log1p(min(counts))
                row["least_share"] = min(
                    len(by.get(company, ())) / max(1, sum(map(len, by.values()))) for by in holders.values()
                )
                row["names_all"] = len(shares) / len(patterns)
                row["named_share"] = sum(shares) / len(patterns)
                row["named_pages"] = math.log1p(
                    len({place for by in holders.values() for place in by.get(company, ())})
                )
                row["front_names"] = len(front[company]) / len(patterns)
        matrix = np.asarray([[row[name] for name in FEATURES] for row in rows.values()]).reshape(-1, len(FEATURES))
        absent = sum(not by for by in holders.values()) / len(patterns) if patterns else 0.0
        return matrix, absent

    def _fits(self, company: str, periods: Sequence[Period]) -> float:
        filings = self._filings.named(self._catalog.filings_of(company))
        return max((period_fit(filing, periods)[0] for filing in filings), default=0.0) if periods else 1.0


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


def names_in(text: str, unknown: Sequence[str]) -> dict[str, bool]:
    """``unknown``, and other runs of capitalized words of ``text`` that are not common in questions, without
    possessives; at most six, the longest ones. True for a word that opens a sentence: it may be no name."""
    runs: list[tuple[list[str], bool]] = []
    end = -1
    for match in _NAME.finditer(text):
        word = _bare(match.group().rstrip(".,"))
        plain = len(word) < 2 or word.lower() in _NOT_A_NAME or _NUMBERED.search(word) is not None
        opens = _SENTENCE_START.search(text[max(0, match.start() - 10) : match.start()]) is not None
        if not plain:
            if runs and end >= 0 and not text[end : match.start()].strip(" &") and not _POSSESSIVE.search(text[:end]):
                runs[-1] = [*runs[-1][0], word], False
            else:
                runs.append(([word], opens))
        end = -1 if plain else match.end()
    found = dict.fromkeys(map(_bare, unknown), False)
    for words, opens in runs:
        found.setdefault(" ".join(words), opens)
    distinct = [name for name in found if name and not any(name != other and name in other for other in found)]
    return {name: found[name] for name in sorted(distinct, key=len, reverse=True)[:_NAMES]}


def _has(text: str, name: str, pattern: re.Pattern[str]) -> bool:
    """Whether ``text`` prints the name, with a capital unless the question has none."""
    return any(not name[0].isupper() or not match[0][0].islower() for match in pattern.finditer(text))


def _is_common(name: str, hits: Sequence[_Chunk]) -> bool:
    """Whether filings often print a word that opens a sentence in lower case: it is no name."""
    lower = sum(re.search(rf"\b{re.escape(name.lower())}", chunk.text) is not None for chunk in hits)
    return lower > _LOWER * len(hits)


def _is_described(text: str) -> bool:
    return any(word in _ROLES for word in re.findall(r"[a-z]+", text))


def _bare(name: str) -> str:
    return _POSSESSIVE.sub("", name.strip())


def _pattern(name: str) -> re.Pattern[str]:
    core = core_name(name) or (name.lower(),)
    return re.compile(r"\b" + r"[\W_]{0,3}".join(map(re.escape, core)) + r"\b", re.I)
