"""Finds the sentences on a page, each with its heading, and leaves out tables, contents and running lines.

Lines of PDF text end anywhere, and every cell of a table is a line of its own. In text from HTML a paragraph or a row
of a table is one line. So lines are first joined into blocks of prose, which end at headings, figures and rows of
tables, and then blocks are cut into sentences. A list stays with the sentence that introduces it: "due to: • lower …;
• higher …".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.filings.pages.headings import is_heading, is_row_label

MAX_CHARACTERS = 700
"""A longer sentence is cut at an item of its list, else after a semicolon or a word."""
MIN_WORDS = 4
_FIGURES = 0.45
"""Text with a larger share of figures among its words is a table whose lines were joined."""
_RUN = 4
"""This many figures one after another are a row of a table."""
_SHORT = 45
"""Characters; a shorter line may be a cell or a label."""
_SIGNED_LINES = 4
"""Lines of a signature: name, title, place and date."""
_UNENDED_WORDS = 10
"""Text with fewer words and no end is a caption."""
_FULL = 0.6
"""A line shorter than this share of the usual one ends its paragraph."""
_SIGNATURE = "/s/"
BULLETS = "•●▪◦"
_LETTERS = re.compile(r"[^\W\d_]{3}")
_END = re.compile(r"[.!?][”\"’')\]]{0,3}(?=\s)")
_ENDED = re.compile(r"[.!?][”\"’')\]]{0,3}\Z")
_FINISHED = re.compile(r"[.!?:;][”\"’')\]]{0,3}\Z")
_BOXES = frozenset("☐☑☒□■þ¨")
_STARTS = re.compile(r"[^\W_a-z]|[“\"‘(•●▪◦*–—-]")
_BULLET = re.compile(r"\s[•●▪◦]\s?")
_ABBREVIATED = re.compile(
    r"(?:\b[A-Z]|\b(?:St|Mr|Mrs|Ms|Dr|Inc|Corp|Co|Ltd|No|Nos|vs|v|Jr|Sr|approx|Messrs|Bros|Mt|Ft|Sec|cf|al)|U\.S|N\.V|S\.A)\Z"
)
_LONGEST_ABBREVIATED = 8
_OPENS = re.compile(r"(?:The|Our|We|In|On|As|At|For|From|This|These|It|If|Such|There|During|See)\b")
"""Words that begin a sentence even after "U.S."."""
_YEAR = r"(?:(?:fiscal|years?) ){0,2}(?:19|20)\d\d"
_YEARS = re.compile(rf"{_YEAR}(?:,? (?:v\.?|vs\.?|versus|compared (?:to|with)) {_YEAR})?[:.]?", re.I)
_FIGURE = re.compile(r"[$€£¥(]*(?:\d[\d,.]*|[—–-]+)[)%*]*|[$€£¥%()]+")
_CELLS = " | "


@dataclass(frozen=True, slots=True)
class Sentence:
    """``page_text[start:end]`` with single spaces as ``text``.

    ``heading`` is the last heading above it, or "". ``block`` numbers the paragraphs of the page. A ``signed`` one is a
    signature with the lines below it.
    """

    start: int
    end: int
    text: str
    heading: str
    block: int
    signed: bool = False


@dataclass(slots=True)
class _Block:
    """A paragraph, ``page_text[start:end]``."""

    start: int
    end: int
    heading: str


@lru_cache(maxsize=512)
def page_sentences(text: str, headings: str | None = None) -> tuple[Sentence, ...]:
    """The sentences of a page's ``text``, in order.

    ``headings`` are the page's, one a line, if known: then other lines that look like headings are running titles.
    Pages recur between questions, so the last 512 are cached.
    """
    found: list[Sentence] = []
    known = None if headings is None else {line.strip(" :") for line in headings.split("\n")}
    blocks = list(_blocks(text, known))
    for number, block in enumerate(blocks):
        signed = text.startswith(_SIGNATURE, block.start)
        for start, end in [(block.start, block.end)] if signed else _spans(text, block.start, block.end):
            words = text[start:end].split()
            goes_on = end < block.end or number == len(blocks) - 1
            if signed or _is_prose(words, goes_on=goes_on):
                found.append(Sentence(start, end, " ".join(words), block.heading, number, signed))
    return tuple(found)


def is_tabular(text: str) -> bool:
    """Whether ``text`` is a row of a table, or several that were joined."""
    if _CELLS in text:
        return True
    figures = [_FIGURE.fullmatch(word) is not None for word in text.split()]
    runs = any(all(figures[at : at + _RUN]) for at in range(len(figures) - _RUN + 1))
    return runs or sum(figures) > _FIGURES * len(figures)


def _blocks(text: str, known: Collection[str] | None) -> Iterator[_Block]:
    """The paragraphs of ``text``; ``known`` are its headings, if known."""
    lines = list(_lines(text))
    full = _FULL * _usual_length(lines)
    heading = label = period = years = ""
    block: _Block | None = None
    signed = figures = last = 0
    for at, (start, end) in enumerate(lines):
        line = text[start:end]
        if signed and block is not None and end - start <= 2 * _SHORT and not line.startswith(_SIGNATURE):
            block.end, signed = end, signed - 1
            continue
        tabular = _CELLS in line or _is_figures(line)
        if block is not None and not signed and not tabular and _continues(text, block, line, last >= full):
            block.end, last = end, end - start
            continue
        if block is not None:
            yield block
        block, signed, last = None, 0, end - start
        before, years = years, line if end - start < _SHORT and _YEARS.fullmatch(" ".join(line.split())) else ""
        if _CELLS in line:
            yield from _cells(line, start, heading)
        elif tabular and not years:
            figures, period = figures + 1, ""
        elif years:
            # One line of years heads a paragraph; several head the columns of a table.
            figures, period = figures + 1, "" if before else " ".join(line.split()).strip(" :")
        elif line.startswith(_SIGNATURE):
            block, signed = _Block(start, end, heading), _SIGNED_LINES - 1
        elif is_heading(line) and line[0] not in "(%":
            title = " ".join(line.split()).strip(" :")
            after = text[slice(*lines[at + 1])] if at + 1 < len(lines) else ""
            if _CELLS in after or is_row_label(after):
                label, figures = title, 0
            elif known is None or title in known:
                heading, label, period = title, "", ""
        else:
            # A name and an age in columns of their own: "Jane Doe", "52", "Chief Executive since 2020. …".
            title = label if label and figures == 1 and not period else heading
            block = _Block(start, end, ", ".join(part for part in (title, period) if part))
            label = ""
    if block is not None:
        yield block


def _continues(text: str, block: _Block, line: str, full: bool) -> bool:
    """Whether ``line`` continues the paragraph ``block``; ``full``: its last line so far fills the width."""
    ended = _ENDED.search(text, block.end - 4, block.end) is not None
    if line[0].islower() or line[0] in ",;":
        return True
    if line[0] in BULLETS:
        return not ended
    return full and not line.startswith(_SIGNATURE) and not (ended and is_heading(line))


def _usual_length(lines: Sequence[tuple[int, int]]) -> int:
    """The length that a quarter of the lines that are not short exceed: the width of a PDF's text."""
    lengths = sorted(end - start for start, end in lines if end - start > _SHORT)
    return lengths[len(lengths) * 3 // 4] if lengths else _SHORT


def _is_figures(line: str) -> bool:
    return not _LETTERS.search(line) or is_tabular(line)


def _cells(line: str, start: int, heading: str) -> Iterator[_Block]:
    """The cells of a row that hold prose, under the row's label: "Jane Doe | Chief Executive since 2020. …"."""
    at = start
    label = ""
    for cell in line.split(_CELLS):
        end = at + len(cell)
        if len(cell) > _SHORT and _END.search(cell + " ") and not is_tabular(cell):
            yield _Block(at, end, label or heading)
        elif not label and _LETTERS.search(cell):
            label = " ".join(cell.split())
        at = end + len(_CELLS)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the lines with text, without white space at their ends."""
    at = 0
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            start = at + line.index(bare[0])
            yield start, start + len(bare)
        at += len(line) + 1


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """(start, end) of the sentences of ``text[start:end]``."""
    for match in _END.finditer(text, start, end):
        after = match.end()
        while after < end and text[after].isspace():
            after += 1
        if after < end and not _STARTS.match(text, after):
            continue
        before = max(start, match.start() - _LONGEST_ABBREVIATED)
        if after < end and _ABBREVIATED.search(text, before, match.start()) and not _OPENS.match(text, after):
            continue
        yield from _cut(text, start, match.end())
        start = after
    if start < end:
        yield from _cut(text, start, end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentence ``text[start:end]`` in parts of at most 700 characters."""
    while end - start > MAX_CHARACTERS:
        limit = start + MAX_CHARACTERS
        bullets = [match.start() for match in _BULLET.finditer(text, start + MIN_WORDS, limit)]
        if bullets:
            at = bullets[-1]
        else:
            at = max(text.rfind(mark, start + MAX_CHARACTERS // 2, limit) for mark in ("; ", ";\n"))
        if at < 0:
            at = max(text.rfind(space, start, limit) for space in " \n\xa0")
        at = limit if at <= start else at + (text[at] == ";")
        yield start, at
        start = at
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _is_prose(words: Sequence[str], *, goes_on: bool) -> bool:
    """Whether ``words`` read like a sentence: enough of them have letters, and the last one ends it.

    Words without an end count if they may go on elsewhere (``goes_on``) and most are in lower case.
    """
    spelled = [word for word in words if _LETTERS.search(word)]
    text = " ".join(words)
    if len(spelled) < MIN_WORDS or is_tabular(text) or not _BOXES.isdisjoint(text):
        return False
    if _FINISHED.search(text, max(0, len(text) - 5)) or words[-1] in ("and", "or"):
        return True
    return goes_on and len(spelled) >= _UNENDED_WORDS and 2 * sum(word[0].islower() for word in spelled) > len(spelled)
