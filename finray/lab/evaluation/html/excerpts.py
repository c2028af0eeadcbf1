"""Excerpts of filing pages for the report, with a marked part."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from finray.core.passages import PageKey, Passage
from finray.core.questions import GoldEvidence, Question
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation import metrics
from finray.lab.evaluation.analysis import Case
from finray.lab.evaluation.known_filings import KnownFilings

SHOWN_CHARACTERS = 5_000
_LEAD = 400
"""Characters shown before the marked part; without script, the page cannot scroll to it."""
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")
_BEFORE_A_CELL = re.compile(r"(?<![^\S\n])[^\S\n]*+\n[^\S\n]*+(?=[-–—$€£¥()%.,\d][-–—$€£¥()%.,\d ]*+$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part or all of a page; ``marked`` is the relevant text and may be empty."""

    doc_name: str
    page: int
    before: str
    marked: str
    after: str
    cut_before: bool = False
    cut_after: bool = False
    note: str = ""


def gold_excerpt(case: Case, texts: Mapping[PageKey, str], known: KnownFilings) -> Excerpt | None:
    """The first missed gold page, else the first gold page; None without a gold page."""
    gold = gold_shown(case)
    if gold is None:
        return None
    filing, page = known.filing(gold.doc_name), gold.pages[0]
    text = texts.get((filing.filing_id, page)) if filing else None
    if text is None:
        if not gold.text:
            return Excerpt(gold.doc_name, page, "", "", "", note="The text of this page is not available.")
        return excerpt(gold.doc_name, page, gold.text, *_answer_span(case.question, gold.text))
    return excerpt(gold.doc_name, page, text, *_answer_span(case.question, text))


def given_excerpt(case: Case, texts: Mapping[PageKey, str]) -> Excerpt | None:
    """The page that the answer rests on, else the best-ranked one, with the passage marked."""
    passage = passage_shown(case)
    if passage is None:
        return None
    text = texts.get((passage.filing_id, passage.page))
    if text is None:
        return excerpt(passage.doc_name, passage.page, passage.text, 0, 0, note="Only the passage is available.")
    start, end = passage.start, passage.end
    if text[start:end] != passage.text:  # predictions made from another version of the filing
        start = end = 0
    return excerpt(passage.doc_name, passage.page, text, start, end)


def gold_shown(case: Case) -> GoldEvidence | None:
    """Evidence with a page."""
    evidence = metrics.paged(case.question.evidence)
    missed = (gold for gold in evidence if not metrics.found_pages(case.prediction.passages, [gold]))
    return next(missed, evidence[0] if evidence else None)


def passage_shown(case: Case) -> Passage | None:
    return next(iter((*case.prediction.evidence, *case.prediction.passages)), None)


def page_texts(cases: Sequence[Case], known: KnownFilings, reader: IndexReader | None) -> dict[PageKey, str]:
    """The text of every page shown with the cases; empty without an index. Reads one filing at a time."""
    if reader is None:
        return {}
    wanted: dict[str, set[int]] = defaultdict(set)
    for case in cases:
        gold, passage = gold_shown(case), passage_shown(case)
        filing = known.filing(gold.doc_name) if gold else None
        if gold and filing:
            wanted[filing.filing_id].update(gold.pages[:1])
        if passage:
            wanted[passage.filing_id].add(passage.page)
    return {
        (filing_id, page): text
        for filing_id, pages in wanted.items()
        for page, text in _pages_of(reader, filing_id, pages)
    }


def readable(text: str) -> str:
    """``text`` with table cells side by side; PDF text has a line for each. Only white space changes."""
    return _BEFORE_A_CELL.sub("   ", _BLANK_LINES.sub("\n", text))


def excerpt(doc_name: str, page: int, text: str, start: int, end: int, note: str = "") -> Excerpt:
    """At most ``SHOWN_CHARACTERS`` of ``text``, from a line shortly before ``text[start:end]``, which is marked."""
    lead = max(0, min(_LEAD, SHOWN_CHARACTERS - (end - start)))
    first = max(0, start - lead)
    if first:
        first += max(0, text[first:start].find("\n") + 1)
    last = min(len(text), max(first + SHOWN_CHARACTERS, end))
    return Excerpt(
        doc_name, page, text[first:start], text[start:end], text[end:last],
        cut_before=first > 0, cut_after=last < len(text), note=note,
    )  # fmt: skip


def _pages_of(reader: IndexReader, filing_id: str, pages: Collection[int]) -> list[tuple[int, str]]:
    table = reader.pages([filing_id], ["page", "text"])
    return [(row["page"], row["text"]) for row in table.to_pylist() if row["page"] in pages]


def _answer_span(question: Question, text: str) -> tuple[int, int]:
    """(start, end) of the gold number in ``text``; (0, 0) if it is not printed, like most ratios."""
    reference = metrics.numeric_reference(question)
    if reference is None:
        return 0, 0
    whole, _, decimals = f"{abs(reference.face):f}".partition(".")
    printed = f"{int(whole):,}"
    decimals = decimals.rstrip("0")
    pattern = re.escape(printed).replace(",", ",?") + (rf"\.{decimals}0*" if decimals else r"(?:\.0+)?")
    match = re.search(rf"(?<![\d.,]){pattern}(?![\d]|[.,]\d)", text)
    return match.span() if match else (0, 0)
