"""The role that writes the nodes of a tree, and a writer by rules, without a language model.

The rules write what a reader would skim: the headings, the central sentences (centroid-based summarization, Radev et
al. 2004) and the line items of the tables, and questions that headings and line items answer.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Protocol

from finray.core.filing import LineItem
from finray.core.predictions import TokenUsage
from finray.filings.pages.sentences import page_sentences
from finray.question.terms import content_terms

CHARACTERS_PER_TOKEN = 4
_REPEATED = 0.5
"""A sentence that shares more than this of its terms with a chosen one repeats it."""
_LABEL_TERMS = 8
"""A label or heading with more terms is a sentence in a table."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a writer sees of a leaf, or of a node below: its text, headings, and (label, year) of its line items."""

    text: str
    headings: tuple[str, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    title: str
    summary: str
    questions: tuple[str, ...] = ()
    usage: TokenUsage = field(default_factory=TokenUsage)


class NodeWriter(Protocol):
    async def write(self, pieces: Sequence[Piece]) -> Written:
        """Title, summary and questions of a node over ``pieces``, at least one. Raises ModelReplyError."""
        ...


def piece_lines(items: Iterable[LineItem]) -> tuple[tuple[str, str], ...]:
    """(label, year) of line items, each label once, with its latest year ("" if the table shows none)."""
    found: dict[str, str] = {}
    for item in items:
        label = " ".join(item.label.split()).strip(" :.")
        year = str(item.period_end.year) if item.period_end else ""
        found[label] = max(found.get(label, ""), year)
    return tuple((label, year) for label, year in found.items() if 0 < len(content_terms(label)) <= _LABEL_TERMS)


class RuleWriter:
    """Writes from the pieces alone. ``rarity`` weighs terms, as ``term_rarity`` returns it for a whole filing."""

    def __init__(self, rarity: Mapping[str, float], summary_tokens: int, questions: int) -> None:
        self._rarity = rarity
        self._characters = summary_tokens * CHARACTERS_PER_TOKEN
        self._questions = questions

    async def write(self, pieces: Sequence[Piece]) -> Written:
        centroid = self._centroid(pieces)
        headings = self._ranked(chain.from_iterable(piece.headings for piece in pieces), centroid)
        years = dict(chain.from_iterable(piece.lines for piece in pieces))
        labels = self._ranked((label for piece in pieces for label, _ in piece.lines), centroid)
        sentences = self._central_sentences(pieces, centroid, self._characters * 5 // 8)
        title = next(chain(headings, labels), sentences[0] if sentences else "")
        parts = (
            "; ".join(_within(headings, self._characters // 8)),
            "\n".join(sentences),
            "; ".join(_within(labels, self._characters // 4)),
        )
        summary = "\n".join(filter(None, parts))[: self._characters] or pieces[0].text[: self._characters]
        asked = _alternating(
            (f"What was {label}{f' in {years[label]}' if years[label] else ''}?" for label in labels),
            (f"What does the filing report about {heading}?" for heading in headings),
        )
        return Written(title[: self._characters], summary, tuple(islice(asked, self._questions)))

    def _centroid(self, pieces: Sequence[Piece]) -> dict[str, float]:
        """Weight of each term in the mean of the pieces."""
        weights: defaultdict[str, float] = defaultdict(float)
        for piece in pieces:
            for term, count in Counter(content_terms(piece.text)).items():
                weights[term] += (1.0 + math.log(count)) * self._rarity.get(term, 1.0)
        return {term: weight / len(pieces) for term, weight in weights.items()}

    def _ranked(self, texts: Iterable[str], centroid: Mapping[str, float]) -> list[str]:
        """Each text once, those that are frequent and have central terms first."""
        counts = Counter(texts)
        scores = {
            text: count * _centrality(terms, centroid)
            for text, count in counts.items()
            if 0 < len(terms := content_terms(text)) <= _LABEL_TERMS
        }
        return sorted(scores, key=lambda text: -scores[text])

    def _central_sentences(self, pieces: Sequence[Piece], centroid: Mapping[str, float], characters: int) -> list[str]:
        """The most central sentences that do not repeat each other, in reading order."""
        sentences = list(dict.fromkeys(chain.from_iterable(map(_sentences, pieces))))
        terms = [frozenset(content_terms(sentence)) for sentence in sentences]
        by_score = sorted(range(len(sentences)), key=lambda at: -_centrality(terms[at], centroid))
        chosen: list[int] = []
        for at in by_score:
            if characters <= 0:
                break
            if all(len(terms[at] & terms[other]) <= _REPEATED * len(terms[at]) for other in chosen):
                chosen.append(at)
                characters -= len(sentences[at])
        return [sentences[at] for at in sorted(chosen)]


def term_rarity(texts: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of the terms of ``texts``."""
    used: Counter[str] = Counter()
    count = 0
    for text in texts:
        count += 1
        used.update(set(content_terms(text)))
    return {term: math.log((1 + count) / (0.5 + pages)) for term, pages in used.items()}


def _sentences(piece: Piece) -> Iterator[str]:
    found = page_sentences(piece.text, "\n".join(piece.headings) or None)
    return (sentence.text for sentence in found if not sentence.signed)


def _centrality(terms: Iterable[str], centroid: Mapping[str, float]) -> float:
    """The cosine of the distinct ``terms`` and ``centroid``, times the length of the centroid."""
    distinct = set(terms)
    # fsum: a plain sum depends on the order of the set, which differs between processes.
    return math.fsum(centroid.get(term, 0.0) for term in distinct) / len(distinct) ** 0.5 if distinct else 0.0


def _within(texts: Sequence[str], characters: int) -> Iterator[str]:
    """The first of ``texts`` that fit, at least one."""
    for number, text in enumerate(texts):
        characters -= len(text)
        if characters < 0 and number:
            return
        yield text


def _alternating(*texts: Iterable[str]) -> Iterator[str]:
    return (text for group in zip_longest(*texts) for text in group if text is not None)
