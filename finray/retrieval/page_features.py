"""Computes features of the pages of the candidate filings, most of them shares in [0, 1].

They compare the question with the page's text (dense, BM25, words and phrases) and its place in the filing (statement,
Item, heading, exhibit), and include how well the filing matches. ``FEATURES`` names the columns; ``page_model`` weighs
them. Text scores are scaled within the pages of one filing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.core.arrays import Floats
from finray.core.passages import Document, PageKey
from finray.core.query import Query
from finray.models.encoder import Encoder, Vectors
from finray.question.terms import content_terms
from finray.retrieval.filing_pages import FilingPages, Numbers, PageCache, PageFacts, PageText
from finray.retrieval.found_terms import FoundTerms
from finray.retrieval.item_lexicon import item_affinity
from finray.retrieval.subjects import subjects_asked

FEATURES: Final[Mapping[str, str]] = {
    "dense": "cosine of the question and the page's nearest chunk",
    "dense_page": "cosine of the question and the mean of the page's chunks",
    "dense_rank": "1 / rank of the page by its nearest chunk",
    "lexical_chunk": "BM25 of the page's best chunk",
    "lexical_page": "BM25 of the whole page",
    "lexical_rank": "1 / rank of the page by its best chunk's BM25",
    "named": "a primary statement that the question names",
    "implied": "a primary statement with the metrics, and the question asks for nothing else",
    "implied_weakly": "a primary statement with the metrics of a question that asks for more",
    "statement_metric": "any primary statement, and the question has metrics",
    "statement_other": "any primary statement, and the question has none",
    "heading": "share of the question's words (by rarity) in the page's first two headings",
    "subject_heading": "share of the question's subjects that the page's headings name",
    "subject_item": "share of the question's subjects that the page's SEC Items treat",
    "item_affinity": "how much more often pages of its SEC Item use the question's words than others",
    "exhibit": "an exhibit to a periodic report",
    "listing": "contents, signatures or a list of exhibits",
    "cover": "the cover page",
    "row": "share of the question's words (by rarity) in one row of a table",
    "line": "the same in one line of any kind",
    "words": "share of the question's words (by rarity) on the page",
    "phrases": "share of the question's adjacent word pairs on the page",
    "years": "share of the question's years on the page",
    "figures": "how much of the page is figures, for a question that asks for an amount",
    "document": "match of its filing below the best filing's, in tenths (0 is the best)",
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_PRESELECT: Final = {
    "dense": 1.0,
    "dense_page": 0.5,
    "lexical_chunk": 1.0,
    "lexical_page": 0.5,
    "named": 1.5,
    "implied": 1.0,
    "statement_metric": 0.5,
    "heading": 0.5,
    "subject_heading": 0.5,
    "exhibit": -0.5,
    "document": 0.3,
}
"""Rough weights that choose the pages whose text is read for the remaining features."""
PRESELECTED: Final = 80
_AMOUNT = re.compile(
    r"\bhow (?:much|many)\b|\b(?:amount|total|balance|value|percent(?:age)?|ratio|rate|sum)\b|"
    r"\bcalculate\b|\bcompute\b|"
    r"\bin (?:usd|us dollars|millions|billions|thousands)\b|%",
    re.I,
)


@dataclass(frozen=True, slots=True)
class PageCandidates:
    """The most promising pages. ``features`` is float64 [len(keys), len(FEATURES)]; ``chunk[i]`` is the row of
    ``chunks`` with the best chunk of page ``keys[i]``."""

    keys: tuple[PageKey, ...]
    features: Floats
    chunk: tuple[int, ...]
    chunks: pa.Table


@dataclass(frozen=True, slots=True)
class _Pages:
    """All pages of the candidate filings, by filing id and place. ``within[i]`` is the number of page i's filing in
    ``filings``, and its own number there. ``rows`` are slices of the pages of each filing."""

    filings: Sequence[FilingPages]
    facts: Sequence[PageFacts]
    within: Sequence[tuple[int, int]]
    rows: Sequence[slice]

    @classmethod
    def of(cls, filings: Sequence[FilingPages]) -> _Pages:
        sizes = [len(filing.pages) for filing in filings]
        ends = np.cumsum(sizes).tolist()
        return cls(
            filings,
            [page for filing in filings for page in filing.pages],
            [(number, at) for number, size in enumerate(sizes) for at in range(size)],
            [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)],
        )

    def key(self, page: int) -> PageKey:
        return self.filings[self.within[page][0]].filing_id, self.facts[page].number

    def text(self, page: int) -> PageText:
        number, at = self.within[page]
        return self.filings[number].text(at)


def page_candidates(query: Query, documents: Sequence[Document], cache: PageCache, encoder: Encoder) -> PageCandidates:
    """The ``PRESELECTED`` most promising pages of ``documents`` with all their features."""
    ids = [document.filing.filing_id for document in documents]
    filings = cache.filings(ids)
    pages = _Pages.of(filings)
    if not pages.facts:
        return PageCandidates((), np.zeros((0, len(FEATURES))), (), cache.reader.chunks(()))
    vector = encoder.encode_query(query.question)
    words = " ".join((query.text, *query.terms))
    dense = [filing.vectors @ vector for filing in filings]
    limit = sum(len(filing.chunk_rows) for filing in filings)
    lexical = _of_rows([f.chunk_rows for f in filings], *cache.reader.text_scores("chunks", words, ids, limit))
    features = np.zeros((len(pages.facts), len(FEATURES)))
    page_hits = cache.reader.text_scores("pages", words, ids, len(pages.facts))
    page_scores = _of_rows([filing.page_rows for filing in filings], *page_hits)
    for number, (filing, rows) in enumerate(zip(filings, pages.rows, strict=True)):
        _text_views(
            features[rows],
            np.maximum.reduceat(dense[number], filing.starts)[filing.numbers],
            np.maximum.reduceat(lexical[number], filing.starts)[filing.numbers],
            page_scores[number],
            _mean_cosines(filing, vector)[filing.numbers],
        )
    _places(features, pages, query)
    match = {document.filing.filing_id: document.score for document in documents}
    behind = {filing.filing_id: 10 * (match[filing.filing_id] - max(match.values())) for filing in filings}
    for filing, rows in zip(filings, pages.rows, strict=True):
        _fill(features[rows], "document", behind[filing.filing_id])
    weights = np.asarray([_PRESELECT.get(name, 0.0) for name in FEATURES])
    chosen = np.sort(np.argsort(-(features @ weights), kind="stable")[:PRESELECTED])
    features, numbers = features[chosen], chosen.tolist()
    _page_texts(features, [pages.text(page) for page in numbers], query)
    both = unit_range(np.concatenate(dense)) + unit_range(np.concatenate(lexical))
    return PageCandidates(
        tuple(pages.key(page) for page in numbers),
        features,
        _best_chunks(pages, numbers, both),
        pa.concat_tables([filing.chunks for filing in filings]),
    )


def _text_views(
    features: Floats,
    dense: npt.NDArray[np.floating],
    lexical: Floats,
    page_lexical: Floats,
    page_dense: npt.NDArray[np.floating],
) -> None:
    """Fills the text scores of the pages of one filing, scaled within it: otherwise look-alike filings would push each
    other's pages down the ranks. The scores of the filings decide between filings."""
    if not len(features):
        return
    _fill(features, "dense", unit_range(dense))
    _fill(features, "dense_page", unit_range(page_dense))
    _fill(features, "dense_rank", _inverse_ranks(dense))
    _fill(features, "lexical_chunk", lexical / (lexical.max() or 1.0))
    _fill(features, "lexical_page", page_lexical / (page_lexical.max() or 1.0))
    _fill(features, "lexical_rank", _inverse_ranks(lexical))


def _places(features: Floats, pages: _Pages, query: Query) -> None:
    """Fills the features that compare statements, Items, headings and exhibits with the question."""
    facts = pages.facts
    _fill(features, "named", [page.statement in query.statements_named for page in facts])
    implied = [page.statement in query.statements and page.statement not in query.statements_named for page in facts]
    _fill(features, "implied_weakly" if query.unexplained else "implied", implied)
    _fill(features, "statement_metric" if query.metrics else "statement_other", [bool(p.statement) for p in facts])
    asked = asked_terms(query)
    _fill(features, "heading", _headed_by_rarity(asked, pages))
    subjects = subjects_asked(query.text)
    for subject in subjects:
        for filing, rows in zip(pages.filings, pages.rows, strict=True):
            named, treated = filing.about(subject)
            features[rows, _COLUMN["subject_heading"]] += named / len(subjects)
            features[rows, _COLUMN["subject_item"]] += treated / len(subjects)
    terms = content_terms(" ".join(word for s in subjects for word in s.asked.findall(query.text))) or asked
    affinity = {item: item_affinity(terms, item) for item in {page.item for page in facts}}
    _fill(features, "item_affinity", [affinity[page.item] for page in facts])
    _fill(features, "exhibit", [page.place == "exhibit" for page in facts])
    _fill(features, "listing", [page.place in ("contents", "signatures", "exhibit_index") for page in facts])
    _fill(features, "cover", [page.place == "cover" for page in facts])


def _page_texts(features: Floats, texts: Sequence[PageText], query: Query) -> None:
    """Fills the features that need the text of pages."""
    asked = asked_terms(query)
    found = FoundTerms(texts, [*asked, *content_terms(" ".join(query.terms))])
    rarity = _rarity({term: found.n_pages(term) for term in found.terms}, len(texts))
    line, row = found.best_lines(rarity)
    _fill(features, "line", line)
    _fill(features, "row", row)
    words = np.zeros(len(texts))
    for term, weight in _rarity({term: found.n_pages(term) for term in asked}, len(texts)).items():
        words[found.pages(term)] += weight
    _fill(features, "words", words)
    pairs = set(pairwise(asked))
    _fill(features, "phrases", sum((found.has_pair(*pair) for pair in pairs), np.zeros(len(texts))) / (len(pairs) or 1))
    years = {str(year) for year in query.years}
    _fill(features, "years", [sum(map(text.has_number, years)) / (len(years) or 1) for text in texts])
    if query.metrics or _AMOUNT.search(query.text):
        _fill(features, "figures", [text.figures for text in texts])


def asked_terms(query: Query) -> list[str]:
    """Terms of the question, without names of companies."""
    names = {word for name in query.names for word in re.findall(r"[a-z&]+", name.lower())}
    return content_terms(query.text, names)


def _best_chunks(pages: _Pages, chosen: Sequence[int], scores: Floats) -> tuple[int, ...]:
    """The row of each page's chunk with the largest of ``scores``, which are those of all chunks."""
    before = np.cumsum([0, *(len(filing.chunk_rows) for filing in pages.filings)])
    best = []
    for page in chosen:
        number, at = pages.within[page]
        filing = pages.filings[number]
        place = filing.numbers[at]
        stop = filing.starts[place + 1] if place + 1 < len(filing.starts) else len(filing.chunk_rows)
        first = before[number] + filing.starts[place]
        best.append(int(first + scores[first : before[number] + stop].argmax()))
    return tuple(best)


def _headed_by_rarity(asked: Sequence[str], pages: _Pages) -> Floats:
    """The share of the distinct terms ``asked`` in the headings of each page. The fewer pages have a term, the more it
    weighs; a term on no page weighs nothing."""
    none = np.zeros(0, np.int64)
    places = {term: [filing.headed.get(term, none) for filing in pages.filings] for term in asked}
    rarity = _rarity({term: sum(map(len, each)) for term, each in places.items()}, len(pages.facts))
    shares = np.zeros(len(pages.facts))
    for term, weight in rarity.items():
        for found, rows in zip(places[term], pages.rows, strict=True):
            shares[rows][found] += weight
    return shares


def _rarity(frequency: Mapping[str, int], pages: int) -> dict[str, float]:
    """Weights of terms by the number of ``pages`` that have each, larger for fewer; they sum to one."""
    weights = {term: math.log(1 + pages / (1 + count)) for term, count in frequency.items() if count}
    total = sum(weights.values()) or 1.0
    return {term: weight / total for term, weight in weights.items()}


def _fill(features: Floats, name: str, values: Sequence[float] | Floats | float) -> None:
    features[:, _COLUMN[name]] = values


def unit_range(values: npt.NDArray[np.floating]) -> Floats:
    """``values`` scaled to [0, 1]; all zero if they are equal."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not high > low:
        return np.zeros(len(values))
    return (np.asarray(values, dtype=np.float64) - low) / (high - low)


def _inverse_ranks(scores: npt.NDArray[np.floating]) -> Floats:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return 1.0 / ranks


def _of_rows(own: Sequence[Numbers], found: Numbers, scores: Floats) -> list[Floats]:
    """The score of each filing's ``own`` rows: that of ``scores`` for rows that were ``found``, 0 for others."""
    every = np.concatenate(own)
    order = np.argsort(every)
    places = order[np.searchsorted(every, found, sorter=order).clip(max=len(every) - 1)]
    known = every[places] == found  # a page without a chunk is not among the filing's own
    result = np.zeros(len(every))
    result[places[known]] = scores[known]
    return np.split(result, np.cumsum([len(rows) for rows in own[:-1]]))


def _mean_cosines(filing: FilingPages, query: Vectors) -> Vectors:
    """Cosine of ``query`` and the mean vector of the chunks of each page."""
    there = filing.lengths > 0
    cosines: Vectors = np.divide(
        filing.sums @ query, filing.lengths, out=np.zeros(len(filing.lengths), np.float32), where=there
    )
    return cosines
