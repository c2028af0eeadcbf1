"""Fits ``finray.answering.cells.printed_sign``: whether a figure in parentheses is paid or deducted, or negative.

It learns from tables of filings with inline XBRL, whose tags state the sign. The words of a tag stand for those of a
question about its figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from finray.answering.cells.printed_sign import CONSTANT, SignedRow, SignModel, sign_features
from finray.core.errors import FilingError
from finray.core.filing import LineItem
from finray.core.settings import FilingSettings
from finray.filings.html.inline_xbrl import numeric_facts
from finray.filings.html.pages import parse_html
from finray.filings.read import parse_filing
from finray.filings.sniff import sniff
from finray.filings.tables.tags import words_of_name
from finray.lab.training.logits import logistic

FEWEST_COMPANIES = 3
"""Companies that must use a word, so that it is not learned from one."""


@dataclass(frozen=True, slots=True)
class SignExample:
    """A row with figures in parentheses; ``positive`` is the share of them that are tagged as positive. Each row makes
    two examples, with and without the words of a question."""

    company: str
    row: SignedRow
    positive: float


def sign_examples(filings: Iterable[tuple[str, bytes]], settings: FilingSettings) -> Iterator[SignExample]:
    """The rows of ``filings``, (URI, content) each, whose figures in parentheses are tagged.

    A row that a company prints in several tables counts once. Files that are not HTML filings, and filings without
    tags, have no examples.
    """
    found: dict[tuple[str, SignedRow], list[bool]] = defaultdict(list)
    for uri, content in filings:
        try:
            if sniff(content, settings) != "html":
                continue
            parsed = parse_filing(content, uri, settings)
        except FilingError:
            continue
        tagged: dict[tuple[str, float], set[bool]] = defaultdict(set)
        for fact in numeric_facts(parse_html(content)):
            tagged[_key(fact.concept, fact.value)].add(fact.value > 0)
        for item in parsed.line_items:
            if item.concept is None or item.value >= 0:
                continue
            signs = tagged.get(_key(item.concept, _as_tagged(item)), set())
            if len(signs) == 1:
                for asked in ("", " ".join(words_of_name(item.concept))):
                    found[parsed.filing.company, SignedRow.of(item, asked)].append(next(iter(signs)))
    for (company, row), positive in found.items():
        yield SignExample(company, row, sum(positive) / len(positive))


def _key(concept: str, value: float) -> tuple[str, float]:
    return concept.lower(), round(abs(value), 4)


def _as_tagged(item: LineItem) -> float:
    return item.value / 100 if item.unit == "percent" else item.value


def fit_signs(examples: Sequence[SignExample], l2: float) -> SignModel:
    """Fit to ``examples``. Raises ValueError without any."""
    if not examples:
        raise ValueError("no figure in parentheses is tagged: nothing to learn from")
    features = [sign_features(each.row) for each in examples]
    used: dict[str, set[str]] = defaultdict(set)
    for each, held in zip(examples, features, strict=True):
        for name in held:
            used[name].add(each.company)
    few = min(FEWEST_COMPANIES, len({each.company for each in examples}))
    names = [CONSTANT, *sorted(name for name, companies in used.items() if len(companies) >= few and name != CONSTANT)]
    column = {name: at for at, name in enumerate(names)}
    x = np.zeros((len(examples), len(names)))
    for row, held in enumerate(features):
        x[row, [column[name] for name in held if name in column]] = 1.0
    penalty = np.full(len(names), l2)
    penalty[0] = 0.0
    weights = logistic(x, np.asarray([each.positive for each in examples]), penalty)
    return SignModel(dict(zip(names, weights.tolist(), strict=True)))


def held_out(examples: Sequence[SignExample], l2: float) -> list[bool]:
    """Whether a model that was fitted without its company guesses the sign of each example, by company."""
    guessed: list[bool] = []
    for company in dict.fromkeys(each.company for each in examples):
        model = fit_signs([each for each in examples if each.company != company], l2)
        guessed += [
            (model.probability(each.row) > 0.5) == (each.positive > 0.5) for each in examples if each.company == company
        ]
    return guessed
