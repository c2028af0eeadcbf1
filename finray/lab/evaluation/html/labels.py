"""The report's names of metrics, errors and levels, and its number formats."""

from __future__ import annotations

from collections.abc import Mapping

from finray.core.bootstrap import Estimate
from finray.lab.evaluation.errors import Error, Level
from finray.lab.evaluation.text_tables import NOTHING

_FAMILIES: Mapping[str, tuple[str, str]] = {
    "document_recall": ("Document recall", "gold filings among those of the first k passages"),
    "page_recall": ("Page recall", "gold pages among those of the first k passages"),
    "page_precision": ("Page precision", "share of gold pages in the pages of the first k passages"),
    "bleu": ("Context BLEU", "best of the first k passages against the gold text"),
    "rouge_l": ("Context ROUGE-L", "best of the first k passages against the gold text"),
    "evidence_page_recall": ("Evidence page recall", "gold pages among those that the answer rests on"),
    "evidence_page_precision": ("Evidence page precision", "share of gold pages in those that the answer rests on"),
    "numeric_match": ("Numeric match", "a number of the answer within 0.03 of the gold number"),
    "numeric_accuracy": ("Numeric accuracy", "equal to the gold number at its digits, unit and scale considered"),
    "textual_accuracy": ("Textual accuracy", "a judge finds the answer equivalent to the gold answer"),
    "textual_rule_accuracy": ("Textual, by rules", "figures and words of the gold answer are in the answer; no judge"),
    "right_figure": ("Right figure", "the stated figure is right; a figure in quoted words does not count"),
    "wrong_figure": ("Wrong figure", "a figure was stated that is wrong; lower is better"),
    "invented_figure": ("Invented figure", "a figure for an unanswerable question; lower is better"),
    "answerable_refused": ("Wrongly refused", "answerable questions that were refused; lower is better"),
    "unanswerable_refused": ("Rightly refused", "unanswerable questions that were refused"),
}
ERROR_MEANINGS: Mapping[Error, str] = {
    "right": "the answer is right",
    "not judged": "a gold page was found; the text of the answer was not judged",
    "wrong answer": "a gold page was found, the answer is wrong",
    "refused": "a gold page was found, but no answer was given",
    "invented": "an unanswerable question was answered",
    "wrong page": "the right filing, but no gold page among the first 5 passages",
    "wrong filing": "no gold filing among the first 5 passages",
    "wrong company": "only filings of other companies among the first 5 passages",
    "failed": "an error instead of an answer",
}
LEVEL_STYLES: Mapping[Level, str] = {
    "gold page": "tone-good",
    "right filing, other page": "tone-page",
    "right company, other filing": "tone-filing",
    "other company": "tone-company",
    "other filing, company unknown": "tone-unknown",
    "nothing": "tone-failed",
}
ERROR_STYLES: Mapping[Error, str] = {
    "right": "tone-good",
    "not judged": "tone-unknown",
    "wrong answer": "tone-answer",
    "refused": "tone-refused",
    "invented": "tone-answer",
    "wrong page": "tone-page",
    "wrong filing": "tone-filing",
    "wrong company": "tone-company",
    "failed": "tone-failed",
}
"""CSS classes."""


def metric_label(name: str) -> str:
    """``Page recall @5``."""
    family, _, k = name.partition("@")
    label = _FAMILIES[family][0] if family in _FAMILIES else family
    return f"{label} @{k}" if k else label


def metric_meaning(name: str) -> str:
    family = name.partition("@")[0]
    return _FAMILIES[family][1] if family in _FAMILIES else ""


def share(value: float | None) -> str:
    """``0.853``."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(estimate: Estimate | None) -> str:
    """``0.81 to 0.89``."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    return f"{estimate.low:.2f} to {estimate.high:.2f}"


def seconds(value: float | None) -> str:
    """``0.012 s``, ``3.4 s``, ``120 s``."""
    if value is None:
        return NOTHING
    return f"{value:.3f} s" if value < 1 else f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"
