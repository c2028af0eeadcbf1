"""The prose of a page as sentences with their offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from finray.evidence.page_lines import Line
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
    """``start`` is the offset in the page's text of the line in which it begins, ``end`` that of the end of the line in
    which it ends."""

    text: str
    start: int
    end: int
    is_heading: bool = False


def sentences(part: ProsePart, headings: Collection[str]) -> list[Sentence]:
    """The sentences of ``part`` and its headings, in order."""
    found: list[Sentence] = []
    for is_heading, lines in groupby(part.lines, key=lambda line: line.words in headings):
        if is_heading:
            found += [Sentence(_text(line), line.start, line.end, is_heading=True) for line in lines]
        else:
            found += _of_lines(list(lines))
    return found


def _of_lines(lines: Sequence[Line]) -> Iterator[Sentence]:
    """The sentences of consecutive lines, without boilerplate."""
    text = ""
    begins: list[int] = []
    for line in lines:
        text += " " if text else ""
        begins.append(len(text))
        text += _text(line)
    for start, end in _spans(text):
        if not _BOILERPLATE.search(text[start:end][:100]):
            first, last = lines[bisect_right(begins, start) - 1], lines[bisect_right(begins, end - 1) - 1]
            yield Sentence(text[start:end][:MAX_SENTENCE], first.start, last.end)


def _text(line: Line) -> str:
    return " ".join(filter(None, (line.words, *line.figures)))


def begins_inside(text: str) -> bool:
    """Whether ``text`` begins in the middle of a sentence."""
    return text[:1].islower() or text[:1] in ",;)"


def breaks_off(text: str) -> bool:
    """Whether ``text`` ends in the middle of a sentence."""
    return not _ENDS.search(text)


def _spans(text: str) -> list[tuple[int, int]]:
    """The (start, end) of each sentence in ``text``."""
    spans = []
    start = 0
    for match in _BREAK.finditer(text):
        if not _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start()]):
            spans.append((start, match.start()))
            start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return [(first, last) for first, last in spans if text[first:last].strip()]
