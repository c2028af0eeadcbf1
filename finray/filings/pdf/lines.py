"""The printed lines of a PDF page and the cells of each, from the positions of its words.

Wide gaps, "$" and right edges that figures share cut a line into cells. Dot leaders and footnote marks are dropped.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from finray.core.vocabulary import MONTH, SCALE
from finray.filings.tables.cells import MAX_CELL, NEVER_FIRST, Printed, is_year, merge_fillers, parse_number
from finray.filings.tables.grids import MAX_CELL_TEXT
from finray.filings.tables.marks import without_raised

GAP = 0.9
"""A gap wider than this share of the line's height starts a new cell; word spaces are 0.2 to 0.4."""
WORD_GAP = 0.45
DASH_GAP = 0.6
SAME_LINE = 0.45
"""Words are on one line if their middles differ by less than this share of their height."""
SUPERSCRIPT = 0.75
EDGE_TOLERANCE = 2.0
EDGE_SUPPORT = 3
"""Minimum number of lines whose figures end on the same right edge (within points) to make it a column's edge."""
FAR = 1e5

_LEADERS = re.compile(r"(?<![.·…_])[.·…_]{2,}+$|^[.·…_]++$|(?<=\s)[.·…](?=\s|$)")
_LEADING = re.compile("[.·…_\u200b\u00ad]")
"""Any character of dot leaders, or one that prints nothing."""
_MONTH_NAME = re.compile(rf"{MONTH}\.?", re.IGNORECASE)
_SCALE_WORD = re.compile(rf"{SCALE}s?\b", re.IGNORECASE)
_LOOSE = re.compile(r"\s(?:(?<=[$€£¥(]\s)\s*+(?=[\d(.—–-])|(?<!\s\s)\s*+(?=\)))")
_SUPERSCRIPT_MARK = re.compile(
    r"\(?[a-z\d]{1,2}\)?|(?:\((?:[a-z]|\d{1,2})\)){2,4}|(?:[a-z]|\d{1,2})(?:,(?:[a-z]|\d{1,2})){1,3},?"
)
_DAY = re.compile(r"\d{1,2},")
_DAY_FIRST = re.compile(r"[12]?\d|3[01]")
_ENDED = frozenset({"ended", "ended:"})
_LENGTHS = frozenset({"three", "six", "nine", "twelve", "year", "years"})
_TERMS = frozenset({"year", "years", "month", "months"})
"""End a number that may go on: "1 year - 5 years"."""
_DIGIT = re.compile(r"\d")
_GROUPED = re.compile(r"\d[,'’]\d{3}|[(\[]\d|\$")
_COMMA = re.compile(r"\d,\d{3}(?!\d)")
_GROUP = re.compile(r"\d{3}(?:[.,]\d{1,2})?[)\]]?%?-?")
_GROUPS_BEFORE = re.compile(r"[$€£(\[–—-]{0,3}[1-9]\d{0,2}(?:,\d{3}){0,4}")
"""The part of a number before its last group of three digits."""
GROUP_GAPS = (0.05, 0.42)
"""Least and largest space between the groups of a number, as shares of the line's height."""
MIN_GROUPED = 2
"""Fewer lines with such numbers do not show that a page parts thousands with spaces."""
_MAY_CUT = re.compile(r"[\d$()\[\]%–—-]|(?i:\bnil\b|ended)")
"""In a line with a number or a period, at which narrow gaps may cut it."""
_NUMERIC_WORD = re.compile(r"\$|[(\[]?\$?[(\[]?[\d,]*+(?:\.\d++|['’\d]*+(?<=\d))[)\]]?%?-?|[-–—]|\(|\)|%|\)%|\[|\]")

PositionedWord = tuple[float, float, float, float, str]
"""(x0, y0, x1, y1, text); y grows downwards."""


class Word(NamedTuple):  # a tuple, since a long filing has 100,000 of them
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
    # The constructor of a named tuple is a function in Python, that of a tuple is not.
    printed = [
        tuple.__new__(Word, word)
        for word in words
        if -FAR < word[0] < word[2] < FAR and -FAR < word[1] < word[3] < FAR and word[4].strip()
    ]
    text = " ".join([word.text for word in printed])
    lines = _lines(printed, leaders=_LEADING.search(text) is not None)
    lines = lines if _COMMA.search(text) else _with_groups(lines)
    edges = _shared_edges(lines)
    return [_cut(line, edges) for line in lines]


def _lines(words: Sequence[Word], *, leaders: bool) -> list[Line]:
    """The lines, top to bottom: words whose middles are at the same height, left to right. ``leaders`` says whether
    there are any."""
    lines: list[list[Word]] = []
    middle, height = 0.0, 0.0
    for own, _, word in sorted([((word[1] + word[3]) / 2, word[0], word) for word in words]):
        tall = word[3] - word[1]
        small, large = (tall, height) if tall < height else (height, tall)
        if (
            lines
            and small < SUPERSCRIPT * large
            and _SUPERSCRIPT_MARK.fullmatch((word if tall < height else lines[-1][0]).text)
        ):
            small = large  # a raised mark belongs to the line beside it, whose words are taller
        if lines and own - middle < SAME_LINE * small:
            lines[-1].append(word)
        else:
            lines.append([word])
            middle, height = own, tall
    built = []
    for line in lines:
        kept = sorted(line, key=attrgetter("x0"))
        if leaders and _LEADING.search("".join([word.text for word in kept])):
            kept = [w for w in map(_without_leaders, kept) if w]
        if kept and len({(w[1], w[3]) for w in kept}) == 1:
            built.append(Line(tuple(kept), kept[0].y0, kept[0].y1))
            continue
        # A small footnote mark would read as a figure of its own.
        small = SUPERSCRIPT * median([w.y1 - w.y0 for w in line])
        ordered = tuple([w for w in kept if w.y1 - w.y0 >= small or not _SUPERSCRIPT_MARK.fullmatch(w.text)])
        if ordered:
            built.append(Line(ordered, median([w.y0 for w in ordered]), median([w.y1 for w in ordered])))
    return built


def _with_groups(lines: list[Line]) -> list[Line]:
    """``lines`` with the groups of digits of a number joined ("120 450" is "120,450"), if a page parts thousands with
    spaces: it has several such numbers, and none with a comma."""
    joined = [_joined_groups(line) for line in lines]
    changed = sum(new is not line for new, line in zip(joined, lines, strict=True))
    return joined if changed >= MIN_GROUPED else lines


def _joined_groups(line: Line) -> Line:
    words: list[Word] = []
    for word in line.words:
        before = words[-1] if words else None
        if before is not None and _kind(word.text).group and _GROUPS_BEFORE.fullmatch(before.text):
            near = GROUP_GAPS[0] * line.height < word.x0 - before.x1 < GROUP_GAPS[1] * line.height
            if near:
                words[-1] = Word(
                    before.x0, min(before.y0, word.y0), word.x1, max(before.y1, word.y1), f"{before.text},{word.text}"
                )
                continue
        words.append(word)
    return line if len(words) == len(line.words) else Line(tuple(words), line.y0, line.y1)


def _without_leaders(word: Word) -> Word | None:
    """``word`` without dot leaders; None if nothing else is left."""
    if not _LEADING.search(word.text):
        return word
    text = _LEADERS.sub("", word.text).strip("\u200b\u00ad")
    return word._replace(text=text) if text else None


def _shared_edges(lines: Sequence[Line]) -> frozenset[int]:
    """Right edges that figures of several lines share; columns of figures are set flush right."""
    counts = Counter(
        round(word.x1) for line in lines for word in line.words if not word.text.isalpha() and _kind(word.text).figure
    )
    return frozenset(edge for edge, n in counts.items() if n + counts[edge - 1] + counts[edge + 1] >= EDGE_SUPPORT)


def _is_near(x: float, edges: Collection[int]) -> bool:
    return any(edge in edges for edge in range(math.ceil(x - EDGE_TOLERANCE), math.floor(x + EDGE_TOLERANCE) + 1))


class _Kind(NamedTuple):
    """What the text of a word is: a ``figure`` is a number but not a year, ``numeric`` a number or a part of one,
    ``grouped`` a number with a comma, parenthesis or "$", ``month`` the name of a month, ``length`` the first word of a
    length of time, ``group`` three digits that may end a number."""

    figure: bool
    numeric: bool
    grouped: bool
    month: bool
    length: bool
    group: bool = False


@lru_cache(maxsize=16384)  # a filing repeats its words
def _kind(text: str) -> _Kind:
    if text.isalpha():
        return _Kind(False, False, False, _MONTH_NAME.fullmatch(text) is not None, text.lower() in _LENGTHS)
    return _Kind(
        _DIGIT.search(text) is not None and parse_number(text) is not None and not is_year(text),
        _NUMERIC_WORD.fullmatch(text) is not None,
        _GROUPED.search(text) is not None,
        _MONTH_NAME.fullmatch(text) is not None,
        length=False,
        group=_GROUP.fullmatch(text) is not None,
    )


def _cut(line: Line, edges: Collection[int]) -> list[Printed]:
    """The cells of a line."""
    runs: list[list[Word]] = [[line.words[0]]]
    height = line.height
    if not _MAY_CUT.search(" ".join([word.text for word in line.words])):  # only wide gaps cut prose
        wide = GAP * height
        for before, word in pairwise(line.words):
            if word[0] - before[2] > wide:
                runs.append([word])
            else:
                runs[-1].append(word)
        return merge_fillers([_cell(run, line) for run in runs])
    for at, (before, word) in enumerate(pairwise(line.words)):
        gap = word.x0 - before.x1
        kind = _kind(word.text)
        apart = gap > (DASH_GAP if word.text in "-–—" else GAP) * height
        if kind.numeric and not apart and word.text not in {")", "%", ")%", "]"}:
            at_edge = len(word.text) > 1 and gap > 0.1 * height and _is_near(word.x1, edges)
            apart = (at_edge and kind.grouped) or ((at_edge or gap > 0.15 * height) and _is_number(runs[-1]))
            if word.text == "$":
                apart = not _begins_scale(line.words[at + 2 :])
            elif apart and len(runs) == 1:
                apart = not _goes_on(word, line.words[at + 2 :], height)
        elif not apart and not kind.numeric and gap > 0.3 * height and len(runs) > 1:
            apart = _is_number(runs[-1])
        if kind.month and len(runs[-1]) == 1 and gap <= GAP * height and _DAY_FIRST.fullmatch(before.text):
            runs[-1].append(word)  # "31 December 2024"
        elif apart or ((kind.month or kind.length) and gap > 0.15 * height and _next_period(before.text, kind)):
            runs.append([word])
        else:
            runs[-1].append(word)
    return merge_fillers([_cell(run, line) for run in _with_ranges(runs, height)])


def _begins_scale(words: Sequence[Word]) -> bool:
    """Whether the words behind a "$" are those of a scale: "2022 $ million" is one heading."""
    return bool(words) and _SCALE_WORD.match(words[0].text) is not None


def _goes_on(word: Word, following: Sequence[Word], height: float) -> bool:
    """Whether words follow a number that is in a label: "2017 Notes issuance of $17.0 billion"."""
    return bool(following) and following[0].text.isalpha() and following[0].x0 - word.x1 < WORD_GAP * height


def _with_ranges(runs: list[list[Word]], height: float) -> list[list[Word]]:
    """``runs`` with "2027", "-" and "2031" joined: the heading of a range of years."""
    if len(runs) < 3:
        return runs
    joined: list[list[Word]] = []
    for run in runs:
        joined.append(run)
        if len(joined) >= 3 and _is_range(joined[-3:], height):
            joined[-3:] = [[*joined[-3], *joined[-2], *joined[-1]]]
    return joined


def _is_range(runs: Sequence[Sequence[Word]], height: float) -> bool:
    first, dash, last = (run[0] for run in runs)
    if dash.text not in "-–—" or any(len(run) > 1 for run in runs):
        return False
    gap = max(dash.x0 - first.x1, last.x0 - dash.x1)
    if is_year(first.text) and is_year(last.text):
        return gap <= GAP * height
    return gap <= WORD_GAP * height and first.text[-1] == last.text[-1] == "%"


def _is_number(run: Sequence[Word]) -> bool:
    if len(run) == 1:
        return parse_number(run[0].text) is not None
    # Prose is recognized by its first letter, without joining its words again and again.
    return (
        len(run) <= MAX_CELL
        and run[-1].text not in _TERMS
        and run[0].text[0] not in NEVER_FIRST
        and parse_number(" ".join([word.text for word in run])) is not None
    )


def _next_period(before: str, kind: _Kind) -> bool:
    """Whether a word of this ``kind`` starts another heading after the word ``before``: "December 31, 2022 December 25,
    2021" always heads two columns."""
    if kind.month:
        return is_year(before) or _DAY.fullmatch(before) is not None
    return kind.length and before.lower() in _ENDED


def _cell(run: Sequence[Word], line: Line) -> Printed:
    x0, y0, x1, y1, text = run[0]
    if len(run) > 1:
        y0, x1, y1 = min([w.y0 for w in run]), run[-1].x1, max([w.y1 for w in run])
        space = 0.08 * line.height
        parts = [(" " if word.x0 - before.x1 > space else "") + word.text for before, word in pairwise(run)]
        text += "".join(parts)
    text = text[:MAX_CELL_TEXT]
    if not text.isalnum():
        text = _LOOSE.sub("", text)
        text = text if text.isascii() else without_raised(text) or text
    return Printed(text, x0, x1, (x0, y0, x1, y1), indent=x0)
