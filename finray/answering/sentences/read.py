"""Finds the sentences of retrieved pages. A trained model may read the likeliest ones beside the question for their
meaning; the other features only count words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from finray.answering.part_names import names_measure, prints_part
from finray.answering.sentences.features import FARTHEST, FEATURES, Candidates, candidates
from finray.answering.sentences.model import SentenceModel, shipped_sentence_model
from finray.core.passages import Passage
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence
from finray.filings.prose.figures import prose_figures
from finray.index.reading.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.models.sentence_reader import SentenceReader, Spans, sentence_reader

READ: Final = 10
"""Sentences that are read: about 0.1 s of processor time."""
_PAGES = 10
_HEADING = 60
_COLUMN: Final = {name: list(FEATURES).index(name) for name in ("read", "read_best", "unread")}


class SentenceFinder:
    """Finds the sentences of passages' pages; with ``read`` the model that comes with finray reads the likeliest ones.

    ``encoder`` only encodes the question, because the index has the vectors of chunks. The last result is kept: answers
    in words and figures of sentences mostly ask for the same.
    """

    def __init__(self, facts: FilingFacts, encoder: Encoder, *, read: bool = False) -> None:
        self._facts = facts
        self._encoder = encoder
        self._read = read
        self._last: tuple[object, Candidates] | None = None

    def find(self, query: Query, passages: Sequence[Passage]) -> Candidates:
        """Every sentence of the best pages of ``passages``, with its features."""
        scores: dict[tuple[str, int], float] = {}
        for passage in passages:
            scores.setdefault((passage.filing_id, passage.page), passage.score)
        asked, last = (query, scores), self._last
        if last is not None and last[0] == asked:
            return last[1]
        pages = self._facts.indexed_pages(list(scores)[:_PAGES])
        of_pages = [scores[page.filing_id, page.page] for page in pages]
        found = candidates(query, pages, of_pages, self._encoder.encode_query(query.question))
        if query.part_names:
            found = found.only([_about_part(query, each) for each in found.sentences])
        if self._read:
            found = with_reading(query.question, found, sentence_reader(), shipped_sentence_model())
        self._last = (asked, found)
        return found


def _about_part(query: Query, sentence: Sentence) -> bool:
    """Whether ``sentence`` is of the part of a company that ``query`` is about, and of what it asks for."""
    texts = sentence.text, sentence.heading
    return prints_part(query, *texts) and names_measure(query, *texts)


def sentence_text(sentence: Sentence) -> str:
    """A sentence as the model reads it, behind the end of its heading."""
    return f"{_before(sentence)}{sentence.text}"


def _before(sentence: Sentence) -> str:
    heading = sentence.heading[-_HEADING:]
    return f"{heading} | " if heading else ""


def with_reading(question: str, found: Candidates, reader: SentenceReader, model: SentenceModel) -> Candidates:
    """``found`` with the features of reading, and the log odds of figures, for the sentences that are likeliest by the
    other features."""
    if not found.sentences:
        return found
    likeliest = np.argsort(-model.scores(found.features), kind="stable")[:READ]
    sentences = [found.sentences[number] for number in likeliest]
    scores = reader.sentences(question, list(map(sentence_text, sentences)), list(map(_figure_spans, sentences)))
    logits = scores.answers
    features = found.features.copy()
    features[:, _COLUMN["read_best"]] = FARTHEST
    features[:, _COLUMN["unread"]] = 1.0
    features[likeliest, _COLUMN["read"]] = 1 / (1 + np.exp(-logits))
    features[likeliest, _COLUMN["read_best"]] = np.maximum((logits - logits.max()) / 4, FARTHEST)
    features[likeliest, _COLUMN["unread"]] = 0.0
    figures = {
        (int(number), figure.start): float(odds)
        for number, sentence, read in zip(likeliest, sentences, scores.figures, strict=True)
        for figure, odds in zip(prose_figures(sentence.text), read, strict=True)
        if np.isfinite(odds)
    }
    return replace(found, features=features, figures=figures)


def _figure_spans(sentence: Sentence) -> Spans:
    """The places of the figures in the :func:`sentence_text`."""
    shift = len(_before(sentence))
    return tuple((figure.start + shift, figure.end + shift) for figure in prose_figures(sentence.text))
