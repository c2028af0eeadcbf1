"""Answers from pages that OCR read: they say so, and none has a doubted figure as its value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from finray.core.filing import Page
from finray.core.ocr_marks import DOUBTS, OCR_NOTE, figure_of, is_doubted, mark_of
from finray.core.predictions import Answer, CitedCell
from finray.core.vocabulary import SCALES
from finray.index.reading.facts import FilingFacts

_POWERS = (1, 100, *SCALES.values())
"""A value in base units over the figure as printed, whose scale may stand elsewhere."""


def with_ocr(answer: Answer, facts: FilingFacts) -> Answer:
    """``answer`` with a note if OCR read what it rests on; the refusal of one whose figure is doubted, with the cell or
    sentence and the reason. Refusals are unchanged."""
    if answer.status != "answered":
        return answer
    doubted = [cell for cell in answer.operands if is_doubted(cell.ocr)]
    if doubted:
        return _refused(answer, map(_reason, doubted))
    if answer.operands:
        return _noted(answer) if any(cell.ocr for cell in answer.operands) else answer
    from_ocr = {p.filing_id for p in answer.evidence if "ocr" in facts.filing(p.filing_id).marks}
    pages = facts.pages({(p.filing_id, p.page) for p in answer.evidence if p.filing_id in from_ocr})
    read = {place: page for place, page in pages.items() if page.ocr_doubts is not None}
    if not read:
        return answer
    quoted = [p for p in answer.evidence if (p.filing_id, p.page) in read]
    unsure = {
        f"“{word}” ({passage.doc_name}, p. {passage.page + 1}): {DOUBTS['differs']}": word
        for passage in quoted
        for word in _doubted_words(passage.text, read[passage.filing_id, passage.page])
    }
    if answer.value is not None and _is_any_of(answer.value, unsure.values()):
        return _refused(answer, unsure)
    return _noted(answer, tuple(unsure))


def _doubted_words(text: str, page: Page) -> Iterable[str]:
    return (word for word in dict.fromkeys(text.split()) if is_doubted(mark_of(word, page.ocr_doubts)))


def _is_any_of(value: float, words: Collection[str]) -> bool:
    """Whether ``value`` may be one of the figures in ``words``."""
    printed = [
        float(figure) for word in words if (figure := figure_of(word).replace(",", "")) and figure.count(".") < 2
    ]
    return any(abs(abs(value) - number * power) <= 1e-9 * abs(value) for number in printed for power in _POWERS)


def _reason(cell: CitedCell) -> str:
    assert cell.ocr is not None
    return f"{cell.label}: “{cell.text}” ({cell.doc_name}, p. {cell.page + 1}): {DOUBTS[cell.ocr]}"


def _refused(answer: Answer, reasons: Iterable[str]) -> Answer:
    found = tuple(dict.fromkeys(reasons))
    text = f"No figure is sure enough to be the answer. OCR may have misread {'; '.join(found)}."
    return Answer(text, "unanswerable", nearest=found, evidence=answer.evidence)


def _noted(answer: Answer, unsure: Sequence[str] = ()) -> Answer:
    note = f"{OCR_NOTE[:-1]}, which may have misread {'; '.join(unsure)})" if unsure else OCR_NOTE
    return replace(answer, text=f"{answer.text} {note}")
