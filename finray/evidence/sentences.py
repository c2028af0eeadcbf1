"""Prose of a page as sentences with their places."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

from finray.evidence.page_parts import ProsePart

MAX_SENTENCE = 1_500
_BREAK = re.compile(r"(?<=[.!?])[”\")]?\s+(?=[A-Z“\"(•])|\s(?=[•●▪])")
_ABBREVIATION = re.compile(r"\b(?:Inc|Corp|Co|Ltd|No|U\.S|vs|Mr|Ms|Dr|approx|[A-Z])\.$")
_BOILERPLATE = re.compile(
    r"^\W*(?:see |the |refer to )?(?:the )?(?:accompanying|notes?)\b.{0,60}(?:financial statements|integral part)|"
    r"^\W*see (?:the )?(?:accompanying )?notes\W*$",
    re.I,
)
_ENDS = re.compile(r"[.!?:;][”\")]*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """``start`` is the offset in the page's text of the line in which it begins, ``end`` of that in which it ends."""

    text: str
    start: int
    end: int
    is_heading: bool = False


def sentences(part: ProsePart, headings: Collection[str]) -> list[Sentence]:
    """The sentences of ``part`` and its headings, in order."""
    found: list[Sentence] = []
    run: list[tuple[str, int, int]] = []

    def close() -> None:
        text, places = "", []
        for words, start, end in run:
            text += " " if text else ""
            places.append((len(text), start, end))
            text += words
        begins = [place[0] for place in places]
        for first, last in _spans(text):
            line, final = bisect_right(begins, first) - 1, bisect_right(begins, last - 1) - 1
            if not _BOILERPLATE.search(text[first:last][:100]):
                found.append(Sentence(text[first:last][:MAX_SENTENCE], places[line][1], places[final][2]))
        run.clear()

    for line in part.lines:
        words = " ".join(filter(None, (line.words, " ".join(line.figures))))
        if line.words in headings:
            if run:
                close()
            found.append(Sentence(words, line.start, line.end, is_heading=True))
        else:
            run.append((words, line.start, line.end))
    if run:
        close()
    return found


def begins_inside(text: str) -> bool:
    """Whether ``text`` begins in the middle of a sentence."""
    return text[:1].islower() or text[:1] in ",;)"


def breaks_off(text: str) -> bool:
    """Whether ``text`` ends in the middle of a sentence."""
    return not _ENDS.search(text)


def _spans(text: str) -> list[tuple[int, int]]:
    spans = []
    start = 0
    for match in _BREAK.finditer(text):
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]):
            spans.append((start, match.start()))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return [(first, last) for first, last in spans if text[first:last].strip()]
