"""Features of every page of the candidate filings, most of them shares in [0, 1].

They compare the question with the page's text (dense, BM25, words and phrases) and its place in the filing (statement,
Item, heading, exhibit), and include how well the filing matches. ``FEATURES`` names the columns; ``page_model`` weighs
them. Text scores are scaled within the candidates of one question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.core.query import Query
from finray.core.types import Document
from finray.index.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.models.encoder import Encoder, Vectors
from finray.question.terms import content_terms, line_terms
from finray.retrieval.item_lexicon import item_affinity
from finray.retrieval.subjects import Subject, headed_share, subjects_asked

Floats = npt.NDArray[np.float64]
Key = tuple[str, int]
"""(filing_id, page)."""
Place = tuple[str, int, int]
"""(filing_id, page, start) of a chunk."""
_CHUNK: Final = ("filing_id", "page", "start")

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
_ITEM = re.compile(r"^items? (\d{1,2}[abc]?)\b", re.I | re.M)
_AMOUNT = re.compile(
    r"\bhow (?:much|many)\b|\b(?:amount|total|balance|value|percent(?:age)?|ratio|rate|sum)\b|"
    r"\bcalculate\b|\bcompute\b|"
    r"\bin (?:usd|us dollars|millions|billions|thousands)\b|%",
    re.I,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIGURE = re.compile(r"(?:^|\|)\s*+(?:[$(]++\s*+)?(?:\d[\d,.]*+|[—–-])\s*+(?:[)%]++\s*+)?(?=$|\|)|^\s*+\$")
"""A cell that is a figure. A row is one line in text from HTML; each cell is a line in text from PDF."""


@dataclass(frozen=True, slots=True)
class PageCandidates:
    """The most promising pages. ``features`` is float64 [len(keys), len(FEATURES)]; ``chunk[i]`` is the row of
    ``chunks`` with the best chunk of page ``keys[i]``."""

    keys: tuple[Key, ...]
    features: Floats
    chunk: tuple[int, ...]
    chunks: pa.Table


@dataclass(frozen=True, slots=True)
class _Page:
    key: Key
    item: str | None
    statement: str | None
    place: str | None
    headings: str
    number: int
    """Among the pages of the table of chunks."""
    chunk: int
    """Row of the best chunk in the table of chunks."""


def page_candidates(
    query: Query, documents: Sequence[Document], reader: IndexReader, encoder: Encoder
) -> PageCandidates:
    """The ``PRESELECTED`` most promising pages of ``documents`` with all their features."""
    ids = [document.filing.filing_id for document in documents]
    chunks = reader.chunks(ids)
    if not chunks.num_rows:
        return PageCandidates((), np.zeros((0, len(FEATURES))), (), chunks)
    vector = encoder.encode_query(query.question)
    words = " ".join((query.text, *query.terms))
    places = list(zip(*(chunks[name].to_pylist() for name in _CHUNK), strict=True))
    starts = [row for row, place in enumerate(places) if row == 0 or place[:2] != places[row - 1][:2]]
    vectors = vectors_matrix(chunks["vector"])
    dense = vectors @ vector
    lexical = _scores(places, reader.search_chunks_text(words, ids, limit=chunks.num_rows), _CHUNK)
    pages = _pages(reader, ids, places, starts, unit_range(dense) + unit_range(lexical))
    if not pages:
        return PageCandidates((), np.zeros((0, len(FEATURES))), (), chunks)
    features = np.zeros((len(pages), len(FEATURES)))
    of_page = [page.number for page in pages]
    _text_views(
        features,
        pages,
        np.maximum.reduceat(dense, starts)[of_page],
        np.maximum.reduceat(lexical, starts)[of_page],
        _scores([page.key for page in pages], reader.search_pages_text(words, ids, len(pages)), _CHUNK[:2]),
        _mean_cosines(vectors, starts, vector)[of_page],
    )
    _places(features, pages, query)
    match = {document.filing.filing_id: document.score for document in documents}
    _fill(features, "document", [10 * (match[page.key[0]] - max(match.values())) for page in pages])
    weights = np.asarray([_PRESELECT.get(name, 0.0) for name in FEATURES])
    chosen = np.sort(np.argsort(-(features @ weights), kind="stable")[:PRESELECTED])
    features, pages = features[chosen], [pages[index] for index in chosen]
    _page_texts(features, pages, query, _texts(chunks, places, {page.key for page in pages}))
    return PageCandidates(tuple(page.key for page in pages), features, tuple(page.chunk for page in pages), chunks)


def _text_views(
    features: Floats,
    pages: Sequence[_Page],
    dense: npt.NDArray[np.floating],
    lexical: Floats,
    page_lexical: Floats,
    page_dense: npt.NDArray[np.floating],
) -> None:
    """Scaled within each filing: otherwise look-alike filings would push each other's pages down the ranks. The scores
    of the filings decide between filings."""
    filings = np.asarray([page.key[0] for page in pages])
    for filing_id in dict.fromkeys(filings.tolist()):
        rows = np.flatnonzero(filings == filing_id)
        _fill(features, "dense", unit_range(dense[rows]), rows)
        _fill(features, "dense_page", unit_range(page_dense[rows]), rows)
        _fill(features, "dense_rank", _inverse_ranks(dense[rows]), rows)
        _fill(features, "lexical_chunk", lexical[rows] / (lexical[rows].max() or 1.0), rows)
        _fill(features, "lexical_page", page_lexical[rows] / (page_lexical[rows].max() or 1.0), rows)
        _fill(features, "lexical_rank", _inverse_ranks(lexical[rows]), rows)


def _places(features: Floats, pages: Sequence[_Page], query: Query) -> None:
    """The features that compare statements, Items, headings and exhibits with the question."""
    subjects = subjects_asked(query.text)
    top = ["\n".join(page.headings.split("\n", 2)[:2]) for page in pages]
    _fill(features, "named", [page.statement in query.statements_named for page in pages])
    implied = [page.statement in query.statements and page.statement not in query.statements_named for page in pages]
    _fill(features, "implied_weakly" if query.unexplained else "implied", implied)
    _fill(features, "statement_metric" if query.metrics else "statement_other", [bool(p.statement) for p in pages])
    asked = asked_terms(query)
    _fill(features, "heading", _matched_by_rarity(asked, [set(content_terms(text)) for text in top]))
    _fill(features, "subject_heading", [headed_share(subjects, page.headings) for page in pages])
    _fill(features, "subject_item", [_treated_share(subjects, page) for page in pages])
    terms = content_terms(" ".join(word for s in subjects for word in s.asked.findall(query.text))) or asked
    affinity = {item: item_affinity(terms, item) for item in {page.item for page in pages}}
    _fill(features, "item_affinity", [affinity[page.item] for page in pages])
    _fill(features, "exhibit", [page.place == "exhibit" for page in pages])
    _fill(features, "listing", [page.place in ("contents", "signatures", "exhibit_index") for page in pages])
    _fill(features, "cover", [page.place == "cover" for page in pages])


def _page_texts(features: Floats, pages: Sequence[_Page], query: Query, texts: Mapping[Key, str]) -> None:
    """The features that need the text of pages."""
    lines = [texts[page.key].split("\n") for page in pages]
    terms_of_lines = [line_terms(texts[page.key]) for page in pages]
    terms = [list(chain.from_iterable(page)) for page in terms_of_lines]
    asked = asked_terms(query)
    pairs = set(pairwise(asked))
    years = {str(year) for year in query.years}
    rarity = _rarity([*asked, *content_terms(" ".join(query.terms))], [set(words) for words in terms])
    line, row = zip(*(_best_lines(rarity, *page) for page in zip(terms_of_lines, lines, strict=True)), strict=True)
    _fill(features, "line", line)
    _fill(features, "row", row)
    _fill(features, "words", _matched_by_rarity(asked, [set(words) for words in terms]))
    _fill(features, "phrases", [len(pairs & set(pairwise(words))) / (len(pairs) or 1) for words in terms])
    _fill(features, "years", [_share(years, set(_YEAR.findall(texts[page.key]))) for page in pages])
    if query.metrics or _AMOUNT.search(query.text):
        _fill(features, "figures", [_figures(texts[page.key]) for page in pages])


def asked_terms(query: Query) -> list[str]:
    """Terms of the question without names of companies."""
    names = {word for name in query.names for word in re.findall(r"[a-z&]+", name.lower())}
    return content_terms(query.text, names)


def _pages(
    reader: IndexReader, ids: Sequence[str], places: Sequence[Place], starts: Sequence[int], scores: Floats
) -> list[_Page]:
    """Pages with a chunk, in the order of the index. ``starts`` are the first rows of pages in ``places``."""
    numbers = {places[start][:2]: number for number, start in enumerate(starts)}
    best = [start + int(scores[start:stop].argmax()) for start, stop in pairwise([*starts, len(places)])]
    rows = reader.pages(ids, ["filing_id", "page", "item", "statement", "place", "headings"]).to_pylist()
    return [
        _Page(key, row["item"], row["statement"], row["place"], row["headings"], number, best[number])
        for row in rows
        if (number := numbers.get(key := (row["filing_id"], row["page"]))) is not None
    ]


def _treated_share(subjects: Sequence[Subject], page: _Page) -> float:
    if not subjects:
        return 0.0
    items = {page.item, *(match.upper() for match in _ITEM.findall(page.headings))}
    return sum(bool(subject.items & items) or page.place in subject.places for subject in subjects) / len(subjects)


def _matched_by_rarity(asked: Sequence[str], pages: Sequence[set[str]]) -> list[float]:
    """The share of the distinct terms ``asked`` in each of ``pages``. Terms on fewer pages weigh more, terms on no page
    nothing."""
    rarity = _rarity(asked, pages)
    return [_matched(rarity, terms) for terms in pages]


def _rarity(asked: Sequence[str], pages: Sequence[set[str]]) -> dict[str, float]:
    """Weights of the distinct terms ``asked``, larger for terms on fewer of ``pages``; they sum to one."""
    frequency = Counter(term for terms in pages for term in terms.intersection(asked))
    weights = {term: math.log(1 + len(pages) / (1 + frequency[term])) for term in set(asked) if frequency[term]}
    total = sum(weights.values()) or 1.0
    return {term: weight / total for term, weight in weights.items()}


def _matched(rarity: Mapping[str, float], terms: Collection[str]) -> float:
    return sum(rarity[term] for term in rarity.keys() & set(terms))


def _best_lines(
    rarity: Mapping[str, float], terms: Sequence[Sequence[str]], lines: Sequence[str]
) -> tuple[float, float]:
    """The largest share of ``rarity`` in a line, and in a row of a table: label and figures in one line, or, in text
    from PDF, figures in the next."""
    line = row = 0.0
    for at, words in enumerate(terms):
        if rarity.keys().isdisjoint(words):
            continue
        matched = _matched(rarity, words)
        line = max(line, matched)
        if matched > row:
            after = lines[at + 1] if at + 1 < len(lines) else ""
            if _FIGURE.search(lines[at]) or (_FIGURE.match(after) and len(lines[at]) > 2):
                row = matched
    return line, row


def _figures(text: str) -> float:
    """0 to 1: how much of the text is figures; 1 for a statement."""
    return min(1.0, sum(map(str.isdigit, text)) / max(1, len(text)) / 0.15)


def _share(wanted: set[str], matched: set[str]) -> float:
    return len(wanted & matched) / len(wanted) if wanted else 0.0


def _fill(
    features: Floats, name: str, values: Sequence[float] | Floats, rows: npt.NDArray[np.intp] | slice = slice(None)
) -> None:
    features[rows, _COLUMN[name]] = values


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


def _scores(places: Sequence[tuple[object, ...]], hits: pa.Table, columns: Sequence[str]) -> Floats:
    """The score of the hit at each of ``places``, by the values of ``columns``; 0 without a hit."""
    keys = zip(*(hits[name].to_pylist() for name in columns), strict=True)
    found = dict(zip(keys, hits["score"].to_pylist(), strict=True))
    return np.asarray([found.get(place, 0.0) for place in places], dtype=np.float64)


def _mean_cosines(vectors: Vectors, starts: Sequence[int], query: Vectors) -> Vectors:
    """Cosine of ``query`` and the mean vector of the rows from each of ``starts`` to the next."""
    sums = np.add.reduceat(vectors, starts, axis=0)
    lengths = np.linalg.norm(sums, axis=1)
    cosines: Vectors = np.divide(sums @ query, lengths, out=np.zeros(len(starts), np.float32), where=lengths > 0)
    return cosines


def _texts(chunks: pa.Table, places: Sequence[Place], wanted: Collection[Key]) -> dict[Key, str]:
    """The text of pages, joined from their chunks, which overlap and omit only white space."""
    rows = [row for row, (filing_id, page, _) in enumerate(places) if (filing_id, page) in wanted]
    texts = chunks["text"].take(pa.array(rows, pa.int64())).to_pylist()
    ends: dict[Key, int] = {}
    parts: dict[Key, list[str]] = {key: [] for key in wanted}
    for row, text in zip(rows, texts, strict=True):
        filing_id, page, start = places[row]
        key = (filing_id, page)
        end = ends.get(key, start)
        parts[key].append("\n" + text if start > end else text[end - start :])
        ends[key] = max(end, start + len(text))
    return {key: "".join(pieces) for key, pieces in parts.items()}
