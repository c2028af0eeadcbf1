"""Features of the rows and sentences of the retrieved pages that may bear on a question."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from finray.answering.sentences.cues import kinds_asked
from finray.core.arrays import Floats
from finray.core.passages import Passage
from finray.core.query import Query
from finray.evidence.candidates import Candidate, Prose, candidates
from finray.evidence.heads import counted_years
from finray.evidence.relevance import Relevance
from finray.evidence.tables import Table, TableRow
from finray.index.reading.facts import FilingFacts
from finray.question.synonyms import word_set

FEATURES: Final[Mapping[str, str]] = {
    "near": "share of the question's words, by rarity, in the row or sentence, half of those beside it",
    "best_near": "the same, over that of the best row or sentence",
    "label": "the same without those beside it",
    "aside": "the same in title, heads and section, or the heading",
    "table": "the same in all labels of its table, or sentences of its passage",
    "row": "a row of a table",
    "row_amount": "a row of a table, for a question that asks for an amount",
    "row_words": "a row of a table, for a question that asks for words",
    "figures": "share of the question's figures in it",
    "dated": "a figure of a period asked for",
    "misdated": "figures of other periods only",
    "statement": "on a primary statement",
    "statement_metric": "on a primary statement, and the question names a metric",
    "page": "logarithm of the page's probability",
    "page_rank": "1 / rank of its page",
    "retrieved": "in a retrieved passage",
    "other_filing": "not of the first page's filing",
    "surplus": "share of its words that are not in the question",
    "total": "a total, in its words or without any",
}
_PAGES = 10
_PARTS = 2
_LEAST = 1e-4
_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TOTAL = re.compile(r"^\W*(?:total|net)\b|\btotal\W*$|^\W*$", re.I)

Piece = tuple[int, int, int]
"""The numbers of a page, of one of its parts, and of a row or sentence in that part."""


@dataclass(frozen=True, slots=True)
class ClosestCandidates:
    """``pieces`` of ``pages``, with ``features``, float64 [len(pieces), len(FEATURES)]."""

    pages: tuple[Candidate, ...]
    pieces: tuple[Piece, ...]
    features: Floats

    def part(self, number: int) -> Table | Prose:
        page, part, _ = self.pieces[number]
        return self.pages[page].parts[part]

    def text(self, number: int) -> str:
        """The words and figures of a piece."""
        part, at = self.part(number), self.pieces[number][2]
        if isinstance(part, Prose):
            return part.sentences[at].text
        return _row_text(part.rows[at])


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the question asks for; ``figures`` are numbers besides years and single digits."""

    words: frozenset[str]
    figures: frozenset[str]
    years: frozenset[int]
    metric: bool
    amount: bool

    @classmethod
    def of(cls, query: Query) -> Self:
        return cls(
            word_set(query.text).union(*map(word_set, query.terms)),
            frozenset(each for each in _FIGURE.findall(query.text) if len(each) > 1 and not _YEAR.fullmatch(each)),
            frozenset(query.years),
            bool(query.metrics),
            asks_amount(query),
        )


def asks_amount(query: Query) -> bool:
    """Whether the question does not ask for words, a person or a cause."""
    return "words" not in query.intents and not kinds_asked(query) & {"cause", "person"}


def closest_candidates(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> ClosestCandidates:
    """Every row with figures and every sentence on the pages of ``passages`` that shares a word with the question."""
    pages = [page for page in candidates(passages, facts) if page.passages][:_PAGES]
    names = [*query.names, *(facts.company_name(key) for key in query.companies if facts.has_company(key))]
    relevance, asked = Relevance(query, None, names, _texts(pages)), _Asked.of(query)
    pieces: list[Piece] = []
    rows: list[dict[str, float]] = []
    for number, page in enumerate(pages):
        for at, part in enumerate(page.parts):
            for piece, values in _pieces(asked, page, part, relevance):
                pieces.append((number, at, piece))
                rows.append(values)
    best = max((row["near"] for row in rows), default=0.0) or 1.0
    first = pages[0].filing.filing_id if pages else ""
    for (number, _, _), row in zip(pieces, rows, strict=True):
        page = pages[number]
        row["best_near"] = row["near"] / best
        row["page"] = math.log(max(max(p.score for p in page.passages), _LEAST))
        row["page_rank"] = 1 / (1 + number)
        row["other_filing"] = page.filing.filing_id != first
    features = np.asarray([[row.get(name, 0.0) for name in FEATURES] for row in rows], dtype=np.float64)
    return ClosestCandidates(tuple(pages), tuple(pieces), features.reshape(-1, len(FEATURES)))


def _pieces(
    asked: _Asked, page: Candidate, part: Table | Prose, relevance: Relevance
) -> Iterator[tuple[int, dict[str, float]]]:
    """(number, features) of each row or sentence of ``part`` that shares a word with the question."""
    row = isinstance(part, Table)
    beside = f"{part.title} {part.corner} {' '.join(part.heads)}" if isinstance(part, Table) else part.heading
    whole = relevance.score(" ".join(_labels(part)), beside)
    around, aside = beside, relevance.score(beside)
    for number, (label, text, start, end) in enumerate(_printed(part)):
        if isinstance(part, Table) and part.rows[number].is_heading:
            around = f"{label} {beside}"
            aside = relevance.score(around)
            continue
        near = relevance.score(label, around)
        if not near:
            continue
        own = word_set(label)
        values = {
            "near": near,
            "label": relevance.score(label),
            "aside": aside,
            "table": whole,
            "row": row,
            "row_amount": row and asked.amount,
            "row_words": row and not asked.amount,
            "figures": len(asked.figures.intersection(_FIGURE.findall(text))) / max(1, len(asked.figures)),
            "statement": page.page.statement is not None,
            "statement_metric": page.page.statement is not None and asked.metric,
            "retrieved": any(passage.start < end and start < passage.end for passage in page.passages),
            "surplus": len(own - asked.words) / len(own) if own else 1.0,
            "total": row and _TOTAL.search(label) is not None,
        }
        if asked.years:
            printed = _years(page, part, number, f"{around} {text}")
            values["dated"] = bool(printed & asked.years)
            values["misdated"] = bool(printed) and not printed & asked.years
        yield number, {name: float(value) for name, value in values.items()}


def _printed(part: Table | Prose) -> Iterator[tuple[str, str, int, int]]:
    """(label, words and figures, start, end) of each row or sentence."""
    if isinstance(part, Prose):
        for sentence in part.sentences:
            yield sentence.text, sentence.text, sentence.start, sentence.end
        return
    for row in part.rows:
        yield row.label, _row_text(row), row.start, row.end


def _row_text(row: TableRow) -> str:
    return " ".join((row.label, *row.cells.values()))


def _years(page: Candidate, part: Table | Prose, number: int, text: str) -> set[int]:
    """The years of a row's columns, else those that it names."""
    if isinstance(part, Table):
        ends = {item.period_end for item in part.rows[number].items.values() if item.period_end is not None}
        counted = {year for end in ends for year in counted_years(page.filing, end)}
        if counted:
            return counted
    return {int(year) for year in _YEAR.findall(text)}


def _labels(part: Table | Prose) -> list[str]:
    if isinstance(part, Prose):
        return [sentence.text for sentence in part.sentences]
    return [row.label for row in part.rows]


def _texts(pages: Sequence[Candidate]) -> Iterator[str]:
    for page in pages:
        for part in page.parts:
            yield from _labels(part)
            yield f"{part.title} {' '.join(part.heads)}" if isinstance(part, Table) else part.heading


def shown_pieces(found: ClosestCandidates, scores: npt.NDArray[np.float64], most: int, margin: float) -> list[int]:
    """The numbers of at most ``most`` pieces, best first: those within ``margin`` of the best score, from at most two
    parts of its filing."""
    order = np.argsort(-scores, kind="stable").tolist()
    best = order[0]
    filing = found.pages[found.pieces[best][0]].filing.filing_id
    parts: set[tuple[int, int]] = set()
    shown: list[int] = []
    for number in order:
        page, part, _ = found.pieces[number]
        if len(shown) == most or scores[number] < scores[best] - margin:
            break
        if found.pages[page].filing.filing_id != filing or ((page, part) not in parts and len(parts) == _PARTS):
            continue
        parts.add((page, part))
        shown.append(number)
    return shown
