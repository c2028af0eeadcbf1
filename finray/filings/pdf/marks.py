"""Raised footnote marks, text that is drawn twice, and lines that run up or down a PDF page.

PyMuPDF joins a raised "1" with the figure before it ("120,4501") and keeps both copies of a text that is drawn again a
little aside to look bold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import eq
from typing import Any, NamedTuple

import pymupdf

from finray.filings.tables.marks import is_mark, is_power, raised

PdfWord = tuple[float, float, float, float, str, int, int, int]
"""As from ``TextPage.extractWORDS``: (x0, y0, x1, y1, text, block, line, word)."""
SMALL = 0.85
"""The size of a mark is less than this share of the text's before it."""
RAISE = 0.1
"""Its baseline is higher by more than this share of its size."""
_TRAILING = 4.0
"""Points by which a space behind a mark may make its box wider than the word."""
_HIGH = re.compile(r"<sup>(?<=[\w)\]%.]<sup>)\s{0,2}\(?[a-z\d]")
REPEATED = 0.3
"""A page is searched for text drawn twice if this share of its lines repeats others, or if a line repeats the last."""
_SHORT = 3
"""Characters; shorter lines, such as "$", repeat in every table."""
_SAMPLED = 60
"""Words of a page that show how its lines run."""
ASIDE = 1.5
"""Largest distance in points between a text and its copy."""
_CELL = 2 * ASIDE
"""Points; most copies are in the same square of this size."""
_OVERLAP = 0.3
"""Largest distance as a share of the text's width and height."""


class _Mark(NamedTuple):
    """A raised mark in a line that runs in ``direction``."""

    text: str
    box: tuple[float, float, float, float]
    direction: tuple[float, float]

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]


Marks = Mapping[tuple[int, int], Sequence[_Mark]]
"""The marks by block and line."""


def cleaned(
    layout: pymupdf.TextPage, text: str, words: Sequence[PdfWord] | None
) -> tuple[str, Sequence[PdfWord] | None]:
    """The ``text`` and ``words`` of a page without copies; marks are set apart in the text and left out of the words.
    ``words`` is None if only the text is needed."""
    if _repeats(text):
        found = layout.extractWORDS() if words is None else words  # type: ignore[no-untyped-call]
        near = {(word[4], word[0] // _CELL, word[1] // _CELL) for word in found}
        if len(near) < len(found) and (copies := set(_copies(found))):
            text = _without(text, found, copies)
            words = None if words is None else [word for number, word in enumerate(found) if number not in copies]
    if words is None or not (_is_high(layout) or _mostly_tall(words)):
        return text, words
    marks = _marks(layout)
    if not marks:
        return text, words
    return _set_apart(text, words, marks)


def _is_high(layout: pymupdf.TextPage) -> bool:
    """Whether a line that runs from left to right may have a raised mark."""
    return _HIGH.search(layout.extractXHTML()) is not None


def _repeats(text: str) -> bool:
    lines = [line for line in text.split("\n") if len(line) > _SHORT]
    return any(map(eq, lines, lines[1:])) or len(lines) - len(set(lines)) > REPEATED * len(lines)


def _copies(words: Sequence[PdfWord]) -> Iterator[int]:
    """The numbers of the words that are drawn over the same word, a little aside."""
    seen: dict[str, list[PdfWord]] = {}
    for number, word in enumerate(words):
        x0, y0, x1, y1, text = word[:5]
        width, height = min(ASIDE, _OVERLAP * (x1 - x0)), min(ASIDE, _OVERLAP * (y1 - y0))
        before = seen.setdefault(text, [])
        if any(abs(x0 - other[0]) < width and abs(y0 - other[1]) < height for other in before[-_MOST_COMPARED:]):
            yield number
        else:
            before.append(word)


_MOST_COMPARED = 200
"""Words with the same text; the limit bounds the time."""


def _without(text: str, words: Sequence[PdfWord], copies: set[int]) -> str:
    """``text`` without the words of these numbers, and without the lines that they leave empty."""
    kept: list[str] = []
    at = 0
    for number, start, end in _places(text, words):
        if number in copies:
            kept.append(text[at:start].rstrip(" "))
            at = end
    text = "".join([*kept, text[at:]])
    return "\n".join(line for line in text.split("\n") if line.strip()) + "\n"


def _places(text: str, words: Sequence[PdfWord]) -> Iterator[tuple[int, int, int]]:
    """(number, start, end) of the words in ``text``, in which they follow each other."""
    at = 0
    for number, word in enumerate(words):
        start = text.find(word[4], at)
        if start >= 0:
            at = start + len(word[4])
            yield number, start, at


def _marks(layout: pymupdf.TextPage) -> Marks:
    """The raised marks right behind a text."""
    found: dict[tuple[int, int], list[_Mark]] = {}
    for number, block in enumerate(layout.extractDICT()["blocks"]):
        for at, line in enumerate(block.get("lines", ())):
            for before, span in pairwise(line["spans"]):
                if (text := _mark(before, span, line["dir"])) is not None:
                    found.setdefault((number, at), []).append(_Mark(text, span["bbox"], line["dir"]))
    return found


def _mark(before: Mapping[str, Any], span: Mapping[str, Any], direction: tuple[float, float]) -> str | None:
    """The mark that ``span`` is, behind the span ``before`` in a line that runs in ``direction``."""
    text, size = span["text"], span["size"]
    if size >= SMALL * before["size"] or not is_mark(text) or before["text"][-1:].isspace():
        return None
    (x, y), (x_before, y_before) = span["origin"], before["origin"]
    dx, dy = direction
    high = (x - x_before) * dy - (y - y_before) * dx
    return None if high <= RAISE * size or is_power(before["text"], text) else str(text).strip()


def _set_apart(text: str, words: Sequence[PdfWord], marks: Marks) -> tuple[str, list[PdfWord]]:
    """``text`` with the marks behind a space, ``words`` without them."""
    kept: list[str] = []
    left: list[PdfWord] = []
    at = 0
    for word in words:
        cut = _cut(word, marks.get((word[5], word[6]), ()))
        if cut is None:
            left.append(word)
            continue
        shorter, mark = cut
        left.append(shorter)
        start = text.find(word[4], at) if "(" not in mark else -1
        if start >= 0:
            kept.append(f"{text[at:start]}{shorter[4]} {raised(mark)}")
            at = start + len(word[4])
    return "".join([*kept, text[at:]]), left


def _cut(word: PdfWord, marks: Iterable[_Mark]) -> tuple[PdfWord, str] | None:
    """``word`` without the mark that ends it, and that mark; None if no mark ends it."""
    x0, y0, x1, y1, text, *place = word
    for mark in marks:
        a0, b0, a1, b1 = mark.box
        first = mark.text.split()[0]
        inside = x0 - 1 < a0 and a1 - _TRAILING < x1 and y0 - 1 < b0 + mark.height and b1 < y1 + mark.height
        if not inside or not text.endswith(first) or len(text) == len(first):
            continue
        if abs(mark.direction[0]) > abs(mark.direction[1]):
            box = (x0, y0, a0, y1) if x0 < a0 and a1 + 1 > x1 else None
        elif mark.direction[1] < 0:
            box = (x0, b1, x1, y1) if b1 < y1 and b0 - 1 < y0 else None
        else:
            box = (x0, y0, x1, b0) if y0 < b0 and b1 + 1 > y1 else None
        if box is not None:
            block, line, number = place
            return (*box, text[: -len(first)], block, line, number), first
    return None


def turned(
    words: Sequence[tuple[Any, ...]], width: float, height: float, *, rotated: bool
) -> Callable[[Sequence[float]], tuple[float, float, float, float]] | None:
    """How to turn the boxes of ``words`` that run up or down a page of this ``width`` and ``height`` so that they read
    from left to right; None if most of them do. ``words`` are as from ``TextPage.extractWORDS``. Only on a page that
    is ``rotated`` may lines be upside down."""
    if _mostly_tall(words):
        if _steps(words, 1) > 0:
            return lambda box: (box[1], width - box[2], box[3], width - box[0])
        return lambda box: (height - box[3], box[0], height - box[1], box[2])
    if rotated and _steps(words, 0) < 0:
        return lambda box: (width - box[2], height - box[3], width - box[0], height - box[1])
    return None


def _mostly_tall(words: Sequence[tuple[Any, ...]]) -> bool:
    """Whether most words run up or down the page."""
    long = [word for word in words[:: 1 + len(words) // _SAMPLED] if len(word[4]) > _SHORT]
    tall = sum(word[3] - word[1] > word[2] - word[0] for word in long)
    return bool(tall and 2 * tall > len(long))


def _steps(words: Sequence[tuple[Any, ...]], axis: int) -> int:
    """How many more words of a line follow each other in the direction of ``axis`` (0: x, 1: y) than against it."""
    return sum(
        1 if word[axis] > before[axis] else -1
        for before, word in pairwise(words)
        if before[5:7] == word[5:7] and abs(word[1 - axis] - before[1 - axis]) < abs(word[axis] - before[axis])
    )


def runs_across(box: Sequence[float], text: str) -> bool:
    """Whether a turned word stands in a line from left to right: it is wider than tall, or too short to tell."""
    return len(text) <= _SHORT or box[3] - box[1] < box[2] - box[0]
