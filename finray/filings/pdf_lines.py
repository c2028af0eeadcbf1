"""The printed lines of a PDF page, and the cells of each line, from the positions of its words.

Wide gaps, "$" and right edges shared by figures cut a line into cells. Dot leaders and footnote marks are dropped.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from finray.core.vocabulary import MONTH
from finray.filings.cells import MAX_CELL, Printed, is_year, merge_fillers, parse_number
from finray.filings.grids import MAX_CELL_TEXT

GAP = 0.9
"""A gap wider than this share of the line's height starts a new cell; word spaces are 0.2 to 0.4."""
DASH_GAP = 0.6
SAME_LINE = 0.45
"""Words are on one line if their middles differ by less than this share of their height."""
SUPERSCRIPT = 0.75
EDGE_TOLERANCE = 2.0
EDGE_SUPPORT = 3
"""Minimum number of lines whose figures end on the same right edge (within points) to make it a column's edge."""
FAR = 1e5

_LEADERS = re.compile(r"(?<![.·…_])[.·…_]{2,}+$|^[.·…_]++$|(?<=\s)[.·…](?=\s|$)")
_MONTH_NAME = re.compile(rf"{MONTH}\.?", re.IGNORECASE)
_LOOSE = re.compile(r"(?<=[$€£¥(])\s++(?=[\d(.—–-])|(?<!\s)\s++(?=\))")
_NUMERIC_WORD = re.compile(r"\$|\(?\$?\(?[\d,]*+(?:\.\d++|(?<=\d))\)?%?|[-–—]|\(|\)|%|\)%")

PositionedWord = tuple[float, float, float, float, str]
"""(x0, y0, x1, y1, text); y grows downwards."""


@dataclass(frozen=True, slots=True)
class Word:
    x0: float
    y0: float
    x1: float
    y1: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    words: tuple[Word, ...]
    y0: float
    y1: float

    @property
    def height(self) -> float:
        return max(self.y1 - self.y0, 1.0)


def rows_of_words(words: Iterable[PositionedWord]) -> list[list[Printed]]:
    """The cells of each line, top to bottom and left to right."""
    lines = _lines([Word(*word) for word in words if _is_printed(word)])
    edges = _shared_edges(lines)
    return [_cut(line, edges) for line in lines]


def _is_printed(word: PositionedWord) -> bool:
    x0, y0, x1, y1, text = word
    placed = all(math.isfinite(value) and abs(value) < FAR for value in (x0, y0, x1, y1))
    return placed and x1 > x0 and y1 > y0 and bool(text.strip())


def _lines(words: Sequence[Word]) -> list[Line]:
    """Groups words whose middles are at the same height, left to right."""
    lines: list[list[Word]] = []
    middle, height = 0.0, 0.0
    for word in sorted(words, key=lambda w: ((w.y0 + w.y1) / 2, w.x0)):
        own = (word.y0 + word.y1) / 2
        if lines and own - middle < SAME_LINE * min(height, word.y1 - word.y0):
            lines[-1].append(word)
        else:
            lines.append([word])
            middle, height = own, word.y1 - word.y0
    built = []
    for line in lines:
        kept = sorted((w for w in map(_without_leaders, line) if w), key=lambda w: w.x0)
        height = median(w.y1 - w.y0 for w in line)
        ordered = tuple(w for w in kept if not _is_superscript(w, height))
        if ordered:
            built.append(Line(ordered, median(w.y0 for w in ordered), median(w.y1 for w in ordered)))
    return built


def _is_superscript(word: Word, height: float) -> bool:
    """Whether ``word`` is a small footnote mark, which would read as a figure of its own."""
    return word.y1 - word.y0 < SUPERSCRIPT * height and re.fullmatch(r"\(?[a-z\d]{1,2}\)?", word.text) is not None


def _without_leaders(word: Word) -> Word | None:
    """``word`` without dot leaders; None if nothing else is left."""
    text = _LEADERS.sub("", word.text).strip("\u200b\u00ad")
    return replace(word, text=text) if text else None


def _shared_edges(lines: Sequence[Line]) -> frozenset[int]:
    """Right edges shared by numbers of several lines; columns of figures are set flush right."""
    counts: Counter[int] = Counter()
    for line in lines:
        for word in line.words:
            if re.search(r"\d", word.text) and parse_number(word.text) and not is_year(word.text):
                counts[round(word.x1)] += 1
    return frozenset(edge for edge, n in counts.items() if n + counts[edge - 1] + counts[edge + 1] >= EDGE_SUPPORT)


def _is_near(x: float, edges: Collection[int]) -> bool:
    return any(edge in edges for edge in range(math.ceil(x - EDGE_TOLERANCE), math.floor(x + EDGE_TOLERANCE) + 1))


def _cut(line: Line, edges: Collection[int]) -> list[Printed]:
    """Cuts a line into cells."""
    runs: list[list[Word]] = [[line.words[0]]]
    for before, word in pairwise(line.words):
        gap = word.x0 - before.x1
        numeric = _NUMERIC_WORD.fullmatch(word.text) is not None
        after_number = len(runs[-1]) <= MAX_CELL and parse_number(" ".join(w.text for w in runs[-1])) is not None
        apart = gap > (DASH_GAP if word.text in "-–—" else GAP) * line.height
        if numeric and not apart and word.text not in {")", "%", ")%"}:
            at_edge = len(word.text) > 1 and _is_near(word.x1, edges)
            grouped = re.search(r"\d,\d{3}|\(\d|\$", word.text) is not None
            apart = (
                word.text == "$"
                or (at_edge and gap > 0.1 * line.height and (grouped or after_number))
                or (after_number and gap > 0.15 * line.height)
            )
        elif after_number and not numeric and gap > 0.3 * line.height and len(runs) > 1:
            apart = True
        if apart or (gap > 0.15 * line.height and _next_period(before.text, word.text)):
            runs.append([word])
        else:
            runs[-1].append(word)
    return merge_fillers([_cell(run, line) for run in runs])


def _next_period(before: str, word: str) -> bool:
    """Whether ``word`` starts a new heading: "December 31, 2022 December 25, 2021" always heads two columns."""
    if _MONTH_NAME.fullmatch(word):
        return is_year(before) or re.fullmatch(r"\d{1,2},", before) is not None
    return before.lower() in {"ended", "ended:"} and word.lower() in {"three", "six", "nine", "twelve", "year", "years"}


def _cell(run: Sequence[Word], line: Line) -> Printed:
    box = (run[0].x0, min(w.y0 for w in run), run[-1].x1, max(w.y1 for w in run))
    text = run[0].text
    for before, word in pairwise(run):
        text += (" " if word.x0 - before.x1 > 0.08 * line.height else "") + word.text
    text = _LOOSE.sub("", text[:MAX_CELL_TEXT])
    return Printed(text, run[0].x0, run[-1].x1, box, indent=run[0].x0)
