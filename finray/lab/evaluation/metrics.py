"""Scores of one prediction on one question, each in [0, 1]; docs/formats.md lists them.

Retrieval is scored as by HiREC (arXiv 2505.20368) and FinanceBench: a passage counts as its page, and k counts
passages. A gold filing is identified by its ``doc_name`` or its ``filing_id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from finray.core.passages import Passage, PassageRef
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.mentions import figures, is_year, signed_figures
from finray.lab.evaluation.numbers import (
    Number,
    equal_at_digits,
    find_numbers,
    number_of,
    only_number,
    same_when_printed,
    wanted_number,
)
from finray.lab.evaluation.overlap import Reference, bleu, rouge_l, tokens

KS = (1, 3, 5, 10)
"""Retrieval is scored for these numbers of leading passages."""
SPAN_KS = (1, 2, 4, 8, 16, 32, 64)
"""The same for spans, as LegalBench-RAG reports them."""
TOLERANCE = 0.03
_IN_PERCENT_TOO = re.compile(
    r"(?:(?:an increase|a decrease) of )?-?[$€£¥]?\d[\d.,]{0,20}(?: [a-z]{1,12})?"
    r", or (?P<percent>-?\d[\d.,]{0,20}%)(?= \(|$)"
)
_WHEN = re.compile(r"\bwhen\b|\b(?:which|what)\b.{0,20}\byears?\b", re.IGNORECASE)
UNANSWERABLE = "unanswerable"
"""Prefix of the types of questions whose right answer is a refusal."""


def is_unanswerable(question: Question) -> bool:
    return (question.question_type or "").lower().startswith(UNANSWERABLE)


def numeric_reference(question: Question) -> Number | None:
    """The gold answer if it is only a number, else the number in its text that prints the gold value; None for a
    textual or missing answer."""
    if question.answer is None or is_unanswerable(question):
        return None
    alone = only_number(question.answer)
    if alone is not None or question.value is None:
        return alone
    value = number_of(question.value, question.unit)
    return next((number for number in find_numbers(question.answer) if same_when_printed(number, value)), None)


def is_textual(question: Question) -> bool:
    """Whether the gold answer is in words, so that a judge must compare answers with it."""
    return question.answer is not None and not is_unanswerable(question) and numeric_reference(question) is None


def document_recall(passages: Sequence[Passage], gold: Sequence[GoldEvidence]) -> float:
    """Share of the gold filings among the filings of ``passages``."""
    wanted = {evidence.doc_name for evidence in gold}
    found = {name for passage in passages for name in (passage.doc_name, passage.filing_id)}
    return len(wanted & found) / len(wanted)


def page_recall(passages: Sequence[Passage | PassageRef], gold: Sequence[GoldEvidence]) -> float:
    """Share of the gold pages among the pages of ``passages``; an alternative page counts as its gold page. Some of
    ``gold`` must have a page."""
    return len(found_pages(passages, gold)) / len({(e.doc_name, e.page) for e in paged(gold)})


def page_precision(passages: Sequence[Passage | PassageRef], gold: Sequence[GoldEvidence]) -> float:
    """Share of the pages of ``passages`` that are gold or an alternative; 0 without passages."""
    pages = {(passage.filing_id, passage.doc_name, passage.page) for passage in passages}
    right = {place for evidence in gold for place in evidence.places}
    met = [page for filing_id, name, page in pages if (name, page) in right or (filing_id, page) in right]
    return len(met) / len(pages) if pages else 0.0


def paged(gold: Sequence[GoldEvidence]) -> tuple[GoldEvidence, ...]:
    """The evidence whose page is known."""
    return tuple(evidence for evidence in gold if evidence.pages)


def found_pages(passages: Sequence[Passage | PassageRef], gold: Sequence[GoldEvidence]) -> set[tuple[str, int | None]]:
    """The gold pages among ``passages``, directly or by an alternative page."""
    pages = {(name, p.page) for p in passages for name in (p.doc_name, p.filing_id)}
    return {(e.doc_name, e.page) for e in gold if not pages.isdisjoint(e.places)}


Span = tuple[str, int, int, int]
"""(name of a filing, page, start, end); start and end are characters of the page's text, end exclusive."""


def span_scores(passages: Sequence[Passage | PassageRef], gold: Sequence[GoldEvidence]) -> tuple[float, float]:
    """Precision and recall in characters (LegalBench-RAG, arXiv 2408.10343).

    A character counts once, however many passages have it. Both are 0 without passages. All of ``gold`` must be spans.
    """
    wanted = merged_spans((e.doc_name, e.page or 0, e.start or 0, e.end or 0) for e in gold)
    names = {name for name, *_ in wanted}
    found = merged_spans((p.doc_name if p.doc_name in names else p.filing_id, p.page, p.start, p.end) for p in passages)
    common = sum(
        max(0, min(end, last) - max(start, first))
        for name, page, start, end in found
        for other, number, first, last in wanted
        if (other, number) == (name, page)
    )
    retrieved, relevant = (sum(end - start for _, _, start, end in spans) for spans in (found, wanted))
    return common / retrieved if retrieved else 0.0, common / relevant


def merged_spans(spans: Iterable[Span]) -> list[Span]:
    """The same characters as disjoint spans, in order."""
    merged: list[Span] = []
    for name, page, start, end in sorted(spans):
        if merged and merged[-1][:2] == (name, page) and start <= merged[-1][3]:
            merged[-1] = (name, page, merged[-1][2], max(end, merged[-1][3]))
        else:
            merged.append((name, page, start, end))
    return merged


def has_spans(gold: Sequence[GoldEvidence]) -> bool:
    """Whether all gold evidence is marked to the character."""
    return bool(gold) and all(e.start is not None and e.end is not None for e in gold)


def context_overlaps(passages: Sequence[Passage], gold: Sequence[GoldEvidence]) -> list[tuple[float, float]] | None:
    """BLEU and ROUGE-L of each passage against the concatenated gold text; None without gold text."""
    reference = Reference(tokens("\n".join(evidence.text for evidence in gold if evidence.text)))
    if not reference.words:
        return None
    candidates = [tokens(passage.text) for passage in passages]
    return [(bleu(candidate, reference), rouge_l(candidate, reference)) for candidate in candidates]


def numeric_match(answer: str, reference: Number) -> bool:
    """Whether a number in ``answer`` is within atol = rtol = 0.03 of the reference's printed number.

    Commas, currency signs, scale words and percent signs are ignored.
    """
    numbers = [float(number.face) for number in find_numbers(answer)]
    return bool(np.isclose(numbers, float(reference.face), rtol=TOLERANCE, atol=TOLERANCE).any())


def numeric_accuracy(question: Question, prediction: Prediction, reference: Number) -> bool:
    """LOFin's numeric accuracy: the answered number equals ``reference`` at its digits, with percent and scale words.

    The answered number is the prediction's ``value``, or a number in its text that shows that value. Without a value it
    is any figure of the text. Citations, dates, years and numbers of the question are ignored if there are other
    figures. A figure after words of decrease also counts as negative. A change of an amount that is stated in percent
    too ("$31 million, or 8.3%") counts in either form.
    """
    wanted = wanted_number(question.question)
    return any(equal_at_digits(reference, n, wanted) for n in _answered_numbers(question, prediction, reference))


def _answered_numbers(question: Question, prediction: Prediction, reference: Number) -> list[Number]:
    if prediction.value is None:
        return _stated_numbers(question, prediction.answer, reference)
    value = number_of(prediction.value, prediction.unit)
    printed = [number for number in find_numbers(prediction.answer) if same_when_printed(number, value)]
    if value.face.is_signed():  # "a decrease of 5.2%" is both -5.2% and what it fell by
        stated = signed_figures(prediction.answer)
        printed += [one for one in stated if same_when_printed(one, -value) and -one in stated]
    if prediction.unit == "ratio" and reference.factor < 1:  # 0.5 is a half, not half a percent
        value = Number(value.face / reference.factor, 0, reference.factor)
        printed = [number for number in printed if number.factor < 1]
    return [value, *printed, *_in_percent_too(prediction.answer)]


def _in_percent_too(answer: str) -> list[Number]:
    """The second form of a change that ``answer`` states as an amount and in percent, also negative if it is a fall."""
    stated = _IN_PERCENT_TOO.match(answer)
    if stated is None:
        return []
    relative = find_numbers(stated["percent"])
    falls = any(number.face.is_signed() for number in signed_figures(answer[: stated.start("percent")]))
    return [*relative, *(-number for number in relative if falls)]


def _stated_numbers(question: Question, answer: str, reference: Number) -> list[Number]:
    if is_year(reference) and _WHEN.search(question.question):
        return list(find_numbers(answer))
    asked = {(number.face, number.factor) for number in figures(question.question)}
    stated = signed_figures(answer)
    others = [number for number in stated if (number.face, number.factor) not in asked]
    return others or list(stated)
