"""The prose of a page, beside its tables, as sentences with their offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from finray.core.filing import Page
from finray.evidence.tables import ShownTable
from finray.filings.prose.scales import unspoken_scale

MAX_LINES = 4_000
"""Lines read of a page; printed ones have hundreds."""
MAX_SENTENCE = 1_500
MAX_LEAD = 1_200
"""Characters above a table that may print its heads."""
_EDGE_LINES = 3
_FOOTER = re.compile(
    r"table of contents|index to (?:the )?(?:consolidated )?financial statements|(?:page |- ?)?[a-z]?-?\d{1,4}(?: ?-)?|"
    r".{0,80}\| ?\d{4} form 10-[kq] ?\|.{0,9}",
    re.I,
)
"""A running header or footer."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
_BREAK = re.compile(r"(?<=[.!?])[”\")]?\s+(?=[A-Z“\"(•])|\s(?=[•●▪])")
_ABBREVIATION = re.compile(r"\b(?:Inc|Corp|Co|Ltd|No|U\.S|vs|Mr|Ms|Dr|approx|[A-Z])\.$")
_BOILERPLATE = re.compile(
    r"^\W*(?:see |the |refer to )?(?:the )?(?:accompanying|notes?)\b.{0,60}(?:financial statements|integral part)|"
    r"^\W*see (?:the )?(?:accompanying )?notes\W*$",
    re.I,
)
_ENDS = re.compile(r"[.!?:;][”\")]*$")
_CELLS = " | "
"""Between the cells of a row without figures, in text from HTML."""


class Line(NamedTuple):
    """The characters ``start`` to ``end`` of the page's text, with single spaces."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """``start`` is the offset in the page's text of the line in which it begins, ``end`` that of the end of the line in
    which it ends."""

    text: str
    start: int
    end: int
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences of a page in order. ``before`` and ``after`` are the rest of the first and the last sentence, if it is
    on the page before or after."""

    heading: str
    sentences: tuple[Sentence, ...]
    scale: int = 1
    """Multiplier of its amounts that name no scale."""
    before: str = ""
    after: str = ""


def prose_of(page: Page, tables: Sequence[ShownTable]) -> list[Prose]:
    """The prose above, between and below the ``tables`` of ``page``, in order."""
    headings = frozenset(line.strip() for line in page.headings.split("\n") if line.strip())
    begins = sorted(table.span(page.page)[0] for table in tables)
    parts: list[Prose] = []
    heading = ""
    items = [item for table in tables for row in table.items.values() for item in row.values()]
    lines = _beside(page_lines(page.text), page.page, tables)
    for _, group in groupby(lines, key=lambda line: bisect_right(begins, line.start)):
        own = list(group)
        found = tuple(_sentences(own, headings))
        if found:
            parts.append(Prose(heading, found))
        heading = next((line.text for line in reversed(own) if line.text in headings), heading)
    scale = unspoken_scale(page.text, [sentence.text for part in parts for sentence in part.sentences], items)
    return [replace(part, scale=scale) for part in parts] if scale != 1 else parts


def page_lines(text: str) -> list[Line]:
    """The lines of a page that are not blank, without running headers and footers."""
    placed: list[Line] = []
    start = 0
    for line in text.split("\n"):
        if line.strip():
            placed.append(Line(start, start + len(line), " ".join(line.split())))
        start += len(line) + 1
    placed = placed[:MAX_LINES]
    above = _edge(placed[:_EDGE_LINES])
    below = _edge(list(reversed(placed[above:][-_EDGE_LINES:])))
    return placed[above : len(placed) - below]


def begins_inside(text: str) -> bool:
    """Whether ``text`` begins in the middle of a sentence."""
    return text[:1].islower() or text[:1] in ",;)"


def breaks_off(text: str) -> bool:
    """Whether ``text`` ends in the middle of a sentence."""
    return not _ENDS.search(text)


def _edge(lines: Iterable[Line]) -> int:
    """The number of running headers or footers among ``lines``, from the edge of a page inward. Only one may be a
    number, that of the page: a second one is the last figure of a table."""
    count, numbered = 0, False
    for line in lines:
        if not _FOOTER.fullmatch(line.text) or (numbered and line.text.isdigit()):
            break
        count += 1
        numbered = numbered or line.text.isdigit()
    return count


def _beside(lines: Iterable[Line], page: int, tables: Sequence[ShownTable]) -> Iterator[Line]:
    """``lines`` without those of ``tables``: their rows, their heads, and figures that no row was found to hold."""
    spans = _merged((row.start, row.end) for table in tables for row in table.rows if row.page == page and row.end)
    begins = [start for start, _ in spans]
    heads = [(table.span(page)[0], " ".join(table.printed_heads.split())) for table in tables]
    for line in lines:
        before = bisect_left(begins, line.end)
        if before and spans[before - 1][1] > line.start:
            continue
        if tables and not _LETTERS.search(line.text):
            continue
        above = (text for start, text in heads if start - MAX_LEAD <= line.start < start)
        if any(all(cell in text for cell in line.text.split(_CELLS)) for text in above):
            continue
        yield line


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """``spans`` in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last = merged.pop()
            merged.append((first, max(last, end)))
        else:
            merged.append((start, end))
    return merged


def _sentences(lines: Sequence[Line], headings: Collection[str]) -> Iterator[Sentence]:
    """The sentences of ``lines`` and the headings among them, in order."""

    def kind(line: Line) -> str:
        return "heading" if line.text in headings else "row" if _CELLS in line.text else "text"

    for each, run in groupby(lines, key=kind):
        if each == "text":
            yield from _of_lines(list(run))
        else:
            yield from (Sentence(line.text, line.start, line.end, is_heading=each == "heading") for line in run)


def _of_lines(lines: Sequence[Line]) -> Iterator[Sentence]:
    """The sentences of consecutive lines, without boilerplate."""
    text = ""
    begins: list[int] = []
    for line in lines:
        text += " " if text else ""
        begins.append(len(text))
        text += line.text
    for start, end in _spans(text):
        if not _BOILERPLATE.search(text[start:end][:100]):
            first, last = lines[bisect_right(begins, start) - 1], lines[bisect_right(begins, end - 1) - 1]
            yield Sentence(text[start:end][:MAX_SENTENCE], first.start, last.end)


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
