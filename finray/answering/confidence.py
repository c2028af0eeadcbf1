"""The probability that an answer of the ``statements`` answerer is right, from how it was found.

A logistic regression over the SIGNALS, which ``finray train confidence`` fits to questions with known answers. An
answer is right if its figure equals the gold answer, or if its quotation is on a page that answers. docs/results.md has
the calibration on unseen companies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from finray.answering.choice_model import linear_json, probability, read_linear
from finray.answering.plans.units import is_odd
from finray.answering.sentences.quotes import matched_share
from finray.answering.table_reader.second_opinion import SecondOpinion
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.errors import ModelUnavailableError
from finray.core.passages import Passage
from finray.core.predictions import Answer, CitedCell
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts
from finray.question.synonyms import words_of
from finray.retrieval.filing_match import period_fit

SIGNALS: dict[str, str] = {
    "constant": "1",
    "computed": "the number was computed from cells of tables",
    "stated": "the number was read in a sentence",
    "fit": "how well the worst row matches the question's words, above .5",
    "named": "every row is a line item that defines a named metric",
    "operands": "logarithm of the number of cells",
    "statements": "share of the cells on a primary statement",
    "tagged": "share of the cells with an XBRL concept",
    "held": "share of the question's words, besides company, period and metric, in the row or quotation",
    "surplus": "share of the rows' words that are not in the question",
    "first": "one over the rank of the best page of the evidence",
    "period": "how well the filings of the evidence match the period asked for",
    "undated": "the question names no period",
    "unnamed": "the question names no company of the index",
    "score": "score of the first passage",
    "agreed": "the likeliest reading of the tables states the figure",
    "agreed_sure": "the probability of that reading, if it states the figure",
    "agreed_sure_named": "the same, if every row is a line item that defines a named metric",
    "other": "the probability of that reading, if it states another figure",
    "other_named": "the same, if every row is a line item that defines a named metric",
    "unread": "no reading states the figure",
    "unread_named": "the same, if every row is a line item that defines a named metric",
    "mass": "the share of the readings, by likelihood, that state the figure",
    "odd": "a percentage or quotient of a size that hardly anyone reports",
}
"""Description of each signal."""
_AGREEMENT = ("agreed", "agreed_sure", "agreed_sure_named", "other", "other_named", "unread", "unread_named", "mass")


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """``weights`` is float64 [len(SIGNALS)], in their order."""

    weights: Floats

    def probability(self, signals: Floats) -> float:
        """The probability that the answer with these ``signals`` is right."""
        return probability(signals, self.weights)


def signals(
    query: Query,
    answer: Answer,
    passages: Sequence[Passage],
    facts: FilingFacts,
    opinion: SecondOpinion | None = None,
) -> Floats:
    """The SIGNALS of an answer that is not a refusal, float64 [len(SIGNALS)]. ``opinion`` is that of the readings of
    the tables on its figure; None if they were not asked."""
    cells = answer.operands
    places = {(p.filing_id, p.page) for p in answer.evidence} | {(c.filing_id, c.page) for c in cells}
    ranks = [rank for rank, p in enumerate(passages, start=1) if (p.filing_id, p.page) in places]
    filings = [facts.filing(filing_id) for filing_id in dict.fromkeys(filing_id for filing_id, _ in sorted(places))]
    texts = [_row_words(cell) for cell in cells] or [p.text for p in answer.evidence]
    named = bool(cells) and all(cell.fit >= 1 for cell in cells)
    found: dict[str, float] = {
        "constant": 1.0,
        "computed": bool(cells),
        "stated": not cells and answer.value is not None,
        "fit": max(0.0, min((cell.fit for cell in cells), default=0.5) - 0.5) * 2,
        "named": named,
        "operands": math.log(max(1, len(cells))),
        "statements": _share([cell.statement is not None for cell in cells]),
        "tagged": _share([cell.concept is not None for cell in cells]),
        "held": min((matched_share(query.unexplained, text) for text in texts), default=0.0),
        "surplus": _surplus(query, cells),
        "first": 1 / min(ranks) if ranks else 0.0,
        "period": min((period_fit(filing, query.filed)[0] for filing in filings), default=0.0),
        "undated": not query.periods,
        "unnamed": not query.companies,
        "score": passages[0].score if passages else 0.0,
        **_agreement(opinion, named=named),
        "odd": answer.value is not None and is_odd(answer.value, answer.unit),
    }
    return np.asarray([float(found[name]) for name in SIGNALS])


def _agreement(opinion: SecondOpinion | None, *, named: bool) -> dict[str, float]:
    if opinion is None:
        return dict.fromkeys(_AGREEMENT, 0.0)
    agreed, other = (opinion.probability, 0.0) if opinion.agreed else (0.0, opinion.probability)
    return {
        "agreed": opinion.agreed,
        "agreed_sure": agreed,
        "agreed_sure_named": agreed * named,
        "other": other,
        "other_named": other * named,
        "unread": not opinion.read,
        "unread_named": named and not opinion.read,
        "mass": opinion.mass,
    }


def _row_words(cell: CitedCell) -> str:
    return " ".join(part for part in (cell.label, cell.section, cell.column_label) if part)


def _surplus(query: Query, cells: Sequence[CitedCell]) -> float:
    asked = set(words_of(" ".join((query.text, *query.terms))))
    own = [set(words_of(cell.label)) for cell in cells]
    return max((len(words - asked) / len(words) for words in own if words), default=0.0)


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


@cache
def shipped_confidence_model() -> ConfidenceModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return _from_json(shipped("finray.answering", "confidence.json"), "confidence.json")


def load_confidence_model(path: str) -> ConfidenceModel:
    """The model at ``path`` that ``finray train confidence`` wrote; the shipped one for an empty ``path``. Raises
    ModelUnavailableError if there is none, or if it is of another version."""
    if not path:
        return shipped_confidence_model()
    try:
        return _from_json(Path(path).read_text("utf-8"), path)
    except OSError as error:
        raise ModelUnavailableError(f"no confidence model at {path!r}: {error.strerror or error}") from error


def _from_json(text: str, source: str) -> ConfidenceModel:
    return ConfidenceModel(read_linear(text, source, "confidence", SIGNALS))


def confidence_model_json(model: ConfidenceModel, trained: Mapping[str, Any]) -> str:
    """The file that :func:`load_confidence_model` reads; ``trained`` describes the training data."""
    return linear_json(model.weights, SIGNALS, trained)
