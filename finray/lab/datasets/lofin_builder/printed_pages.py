"""Gold pages of questions whose page text is unknown, but the page number in another edition of the report is.

Two methods, as with gold text, and a page counts if both choose it. By words: editions of a report differ by a few
pages, about the same number in all of it, so the questions of one filing vote for the shift, and each takes the best
page near its own. By figures: the page prints two figures, one in a row with a word of the question, whose sum,
difference, quotient, share or change is the exact result.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.core.filing import LineItem
from finray.lab.datasets.lofin_builder.gold_pages import FilingPages, FoundPage, first

_SHIFTS = range(-80, 41)
_NEAR = 3
"""Pages before and after the shifted one that are searched for words."""
_FAR = 8
"""Pages before and after the shifted one that are searched for figures."""
_ROUNDED = 6e-6
"""FinQA gives results with five decimals."""
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_CONTENT = re.compile(r"[a-z]{4,}")
_COMMON = frozenset(
    (
        "what", "were", "when", "which", "with", "from", "that", "this", "have", "been", "total", "during", "percent",
        "percentage", "change", "year", "years", "million", "millions", "fiscal", "average", "difference", "between",
        "increase", "decrease", "growth", "rate", "ratio", "portion", "company", "annual", "report",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PrintedQuestion:
    """``exact`` is the computed result, None if it is not a number; ``printed`` the page number in another edition."""

    question: str
    printed: int
    exact: float | None


def find_printed(
    pages: FilingPages, items: Sequence[LineItem], questions: Mapping[str, PrintedQuestion]
) -> dict[str, FoundPage]:
    """The pages of one filing's questions, by qid."""
    scores = {qid: pages.bm25(_topic(each.question)) for qid, each in questions.items()}
    shift = _shift([(each.printed, scores[qid]) for qid, each in questions.items()])
    by_page: dict[int, list[LineItem]] = defaultdict(list)
    for item in items:
        by_page[item.page].append(item)
    found = {}
    for qid, each in questions.items():
        center = each.printed + shift
        by_figures = None
        if each.exact is not None:
            words = set(_CONTENT.findall(each.question.lower())) - _COMMON
            printing = _within(scores[qid], center, _FAR)
            for page in range(len(printing)):
                if printing[page] > 0 and not _computes(each.exact, pages.texts[page], by_page[page], words):
                    printing[page] = 0.0
            by_figures = first(printing)
        found[qid] = FoundPage(first(_within(scores[qid], center, _NEAR)), by_figures)
    return found


def _topic(question: str) -> str:
    """The question without a head such as "Kraft Heinz, fiscal year 2017 10-K: ", whose words are on every page."""
    head, _, rest = question.partition(": ")
    return rest if rest and re.search(r"\b10-?K\b|\bfiscal year\b", head, re.IGNORECASE) else question


def _shift(votes: Sequence[tuple[int, npt.NDArray[np.float64]]]) -> int:
    """The shift at which the pages score closest to each question's best page; the smallest of several."""

    def votes_for(shift: int) -> tuple[float, int]:
        total = 0.0
        for printed, scores in votes:
            near = _within(scores, printed + shift, 1)
            total += float(near.max() / scores.max()) ** 4 if scores.max() > 0 else 0.0
        return total, -abs(shift)

    return max(_SHIFTS, key=votes_for)


def _within(scores: npt.NDArray[np.float64], center: int, reach: int) -> npt.NDArray[np.float64]:
    """``scores`` with zeros outside ``center`` ± ``reach``."""
    kept = np.zeros_like(scores)
    window = slice(max(0, center - reach), max(0, center + reach + 1))
    kept[window] = scores[window]
    return kept


def _computes(exact: float, text: str, items: Sequence[LineItem], words: set[str]) -> bool:
    """Whether two figures of the page, one in a row with one of ``words``, give ``exact``."""
    named, others = _figures(text, items, words)
    if not named.size or not others.size:
        return False
    results = [named]
    a, b = np.meshgrid(named, others, indexing="ij")
    a, b = a[a != b], b[a != b]  # a figure over itself is always 1
    with np.errstate(divide="ignore", invalid="ignore"):
        results += [a + b, a - b, a / b, b / a, a / b - 1, b / a - 1, (a + b) / 2, a / (a + b)]
    every = np.concatenate(results)
    return bool((np.abs(np.abs(every) - abs(exact)) <= _ROUNDED + abs(exact) * 1e-6).any())


def _figures(
    text: str, items: Sequence[LineItem], words: set[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(figures in rows and lines with one of ``words``, all figures) of a page, without signs."""
    named, others = set[float](), set[float]()
    for item in items:
        value = abs(item.value) / (item.scale or 1)
        others.add(value)
        if words & set(_CONTENT.findall(f"{item.label} {item.section or ''} {item.column_label or ''}".lower())):
            named.add(value)
    for line, values in _lines(text):
        others.update(values)
        if words & set(_CONTENT.findall(line.lower())):
            named.update(values)
    return np.array(sorted(named)), np.array(sorted(others))


def _lines(text: str) -> Iterator[tuple[str, list[float]]]:
    for line in text.splitlines():
        values = [float(number.replace(",", "")) for number in _NUMBER.findall(line) if len(number) < 18]
        if values:
            yield line, values
