"""The tables of a typed page (ASCII filings of the 1990s to 2004) as Grids.

Such a table is lines of characters: figures stand below each other, dots lead to them, rules of hyphens separate
headings and totals. Each word has the position that a typewriter gives it, so its tables are read like those of a PDF
page: by the intervals that figures cover. SGML tags (<TABLE>, <S>, <C>; EDGAR Filer Manual of 1996) mark some tables,
but not all, and tell where they end, not what their cells are.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from finray.core.vocabulary import MONTH
from finray.filings.pdf.grid import grids_of_words
from finray.filings.pdf.lines import PositionedWord
from finray.filings.tables.grids import Grid

WIDTH, HEIGHT, LINE = 4.6, 10.0, 24.0
"""Points of a character, of its height and of a line. Two spaces separate cells, one space separates words; lines are
so far apart that the reader of PDF pages joins no labels, which are joined here."""
MAX_LINE = 500
"""Characters read of a line; the longest typed ones have 250."""
MAX_LINES = 5_000
"""Lines read of a page without page breaks."""
MAX_LABEL_LINES = 5
"""Lines of a wrapped label."""
CENTERED = 6
"""Spaces before a title."""

_TABLE_END = re.compile(r"</TABLE>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:TABLE|CAPTION|S|C|F\d{0,2}|FN)>", re.IGNORECASE)
_SCHEDULE_TAG = re.compile(r" {0,20}<(?!/)[A-Z][A-Z0-9&/-]{1,40}>(?=\s|$)")
"""A line of a financial data schedule (Exhibit 27): "<TOTAL-ASSETS>   91,870". It repeats figures of the statements in
a scale of its own."""
_RULE = re.compile(r"[-=_*~]{4,}+|[=_]{2,}+|[-–—]{3,}+")
_LONG_RULE = re.compile(r"[-=_*~]{4,}+|[=_]{2,}+")
"""A rule in a line with words, where three hyphens are a dash."""
_ESCAPED = re.compile(r"- (?=-)")
"""Privacy-enhanced mail puts "- " before a line that begins with a hyphen (RFC 1421, section 4.3.1)."""
_WORD = re.compile(r"[^\s|]+")
_LEADER = re.compile(r"\.{3,}+|\.(?: {1,3}\.){2,}+")
"""Dots that lead to the figures: "Sales......", "Sales . . . ."."""
_DIGIT = re.compile(r"\d")
_LOWER_WORD = re.compile(r"(?<!\S)[a-z]{2,}+(?=[\s,.;]|$)")
_WIDE_GAP = re.compile(r"\S {4,}+\S")
_GAP = re.compile(r"(?<=\S) {2,}+(?=\S)")
_PROSE_WORDS = 6
_MIN_TABLE_LINES = 2
"""Lines with figures apart from words that a table has at least."""
_FIGURE = re.compile(
    r"(?:(?<= {2})|(?<=\t)|(?<=\.\.)|(?<=\. )|^)\(?\$? {0,12}[(-]? {0,3}(?:\d[\d,]*+(?:\.\d++)?|\.\d++)"
    r"(?: ?[)%x]){0,2}(?=\s|$)|(?:(?<= {2})|(?<=\.\.)|(?<=\. ))(?:\$ {0,12})?-{1,3}(?=\s|$)"
)
"""A figure apart from words: behind two spaces or dots."""
_YEARS = re.compile(r"\s*(?:(?:19|20)\d\d\W*)+")
_PERIOD = re.compile(
    rf"\b(?:{MONTH}|ended|ending|months?|weeks|years?|quarters?|fiscal|as of|(?:19|20)\d\d)\b", re.IGNORECASE
)
_OPEN_ENDED = re.compile(
    r"(?:\b(?:and|or|of|to|in|from|for|by|the|on|at|with|before|after|per|less|including|excluding|than|as|"
    r"attributable|net)|,|—|–|-|\()$",
    re.IGNORECASE,
)
_LONGEST_END = 16
"""Characters at the end of a label that ``_OPEN_ENDED`` may match."""
_SECTION = re.compile(
    r"(?:total |net )?(?:cash flows?|current|liabilities|assets|(?:share|stock)(?:holders|owners)|property|"
    r"operating (?:costs|expenses)|costs? and expenses|revenues?|adjustments|changes in|commitments|other)\b",
    re.IGNORECASE,
)
"""Begins a heading that rows follow, however long it is."""
_LABEL_SHARE = 0.8
"""A label is wrapped if its next word would not fit into this share of the line before its figures."""
_MINOR = frozenset(("and", "or", "of", "to", "in", "from", "for", "by", "the", "on", "at", "with", "per", "a"))


def typed_grids(typed: str, number: int) -> list[Grid]:
    """The tables of a page as ``typed``, with its tags, top to bottom. ``number`` is its 0-based page number; cells
    have no boxes, and indents in points."""
    lines = typed.expandtabs(8).split("\n")[:MAX_LINES]
    if sum(len(_figures(line[:MAX_LINE])) > 0 for line in lines) < _MIN_TABLE_LINES:
        return []
    return [_without_boxes(grid) for part in _parts(lines) for grid in grids_of_words(list(_words(part)), number)]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a page. ``text`` is its characters without tags, rules and leaders, ``label`` what stands before its
    first figure, which begins at ``figures`` (None if it has none)."""

    row: int
    text: str
    label: str
    figures: int | None
    title: bool = False

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def _parts(lines: Sequence[str]) -> Iterator[list[_Line]]:
    """The lines of each table with those above it. A table ends at its closing tag, or at a blank line before other
    headings of columns."""
    begin = 0
    for end in (*(at for at, line in enumerate(lines, 1) if _TABLE_END.search(line)), len(lines)):
        read = list(_joined([_line(row, raw[:MAX_LINE]) for row, raw in enumerate(lines[begin:end])]))
        begin, start = end, 0
        data = [at for at, line in enumerate(read) if line.figures is not None]
        for last, following in pairwise(data):
            blank = next((at for at in range(last + 1, following) if not read[at].text), following)
            if any(map(_heads_columns, read[blank:following])):
                yield read[start:blank]
                start = blank
        yield read[start:]


def _heads_columns(line: _Line) -> bool:
    """Whether a line names several columns."""
    cells = _GAP.split(line.text.strip())
    return len(cells) > 1 and any(re.search(r"[^\W\d_]{3}", cell) or _YEARS.fullmatch(cell) for cell in cells[1:])


def _words(lines: Iterable[_Line]) -> Iterator[PositionedWord]:
    """The words of ``lines`` at their positions; wrapped labels and titles are one word."""
    for line in lines:
        top = line.row * LINE
        start = 0
        if line.label and (line.title or line.figures is not None):
            x0 = 0 if line.title else line.indent
            end = x0 + 1 if line.title else max((line.figures or 0) - 2, x0 + 1)
            yield x0 * WIDTH, top, min(end, x0 + len(line.label)) * WIDTH, top + HEIGHT, line.label
            start = len(line.text) if line.title else line.figures or 0
        for match in _WORD.finditer(line.text, start):
            yield match.start() * WIDTH, top, match.end() * WIDTH, top + HEIGHT, match[0]


def _line(row: int, raw: str) -> _Line:
    """A line of a page; empty if it belongs to a data schedule."""
    if _SCHEDULE_TAG.match(raw) and not _TAG.match(raw.lstrip()):
        return _Line(row, "", "", None)
    text = _TAG.sub(_spaces, raw).rstrip()
    text = text.replace("- -", "  -", 1) if _ESCAPED.match(text) else text
    rule = _LONG_RULE if any(map(str.isalpha, text)) else _RULE
    text = _WORD.sub(lambda word: _spaces(word) if rule.fullmatch(word[0]) else word[0], text)
    figures = _figures(text)
    text = _LEADER.sub(_without_leader, text).rstrip()
    if _is_prose(text):
        text = _GAP.sub(" ", text)
        figures = []
    if not figures:
        return _Line(row, text, _tidy(text), None, title=_is_title(text))
    return _Line(row, text, _tidy(text[: figures[0]]), figures[0])


def _spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without_leader(leader: re.Match[str]) -> str:
    """Spaces for dot leaders. "share.....21" ends in a decimal fraction, "sales....148,913" does not."""
    keep = leader[0][-1] == "." and re.match(r"\d{2}(?![\d,])", leader.string[leader.end() : leader.end() + 3])
    return " " * (len(leader[0]) - 1) + "." if keep else " " * len(leader[0])


def _figures(text: str) -> list[int]:
    """Where the figures of a line begin; none for a line of years."""
    if not _DIGIT.search(text):
        return []
    found = [match.start() for match in _FIGURE.finditer(text) if match[0].strip()]
    rest = text[found[0] :] if found else ""
    if not found or _YEARS.fullmatch(rest) or _PERIOD.search(rest):
        return []
    return found if text[: found[0]].strip() or len(found) > 1 else []


def _tidy(label: str) -> str:
    return " ".join(label.split())


def _is_title(text: str) -> bool:
    """Whether a line is the centered title of a table or of a part of it, and heads no column."""
    bare = text.strip()
    centered = len(text) - len(text.lstrip()) >= CENTERED
    return centered and bool(bare) and not _GAP.search(bare) and not _PERIOD.search(bare)


def _joined(lines: Sequence[_Line]) -> Iterator[_Line]:
    """``lines`` with the lines of each wrapped label joined; its figures may stand on the first or the last."""
    begun: list[_Line] = []
    for line in lines:
        if begun and len(begun) < MAX_LABEL_LINES and _continues(begun, line):
            begun.append(line)
            continue
        if begun:
            yield _one(begun)
        begun = [line]
    if begun:
        yield _one(begun)


def _one(lines: Sequence[_Line]) -> _Line:
    """The lines of a label as one, on the line that has the figures."""
    if len(lines) == 1:
        return lines[0]
    with_figures = next((line for line in lines if line.figures is not None), lines[0])
    label = " ".join(line.label for line in lines)
    indent = lines[0].indent
    if with_figures.figures is None:
        return replace(with_figures, text=" " * indent + label, label=label)
    text = " " * indent + "x" + with_figures.text[indent + 1 :] if indent else with_figures.text
    return replace(with_figures, text=text, label=label)


def _continues(begun: Sequence[_Line], line: _Line) -> bool:
    """Whether the label of ``line`` goes on from the lines ``begun``."""
    first, upper = begun[0], begun[-1]
    if not upper.label or not line.label or first.title or line.title or upper.label.endswith((":", ".")):
        return False
    goes_on = re.match(r"[a-z]|\((?!\w\))", line.label) is not None
    if any(each.figures is not None for each in begun):  # the figures stand on the first line
        return line.figures is None and goes_on and line.indent > first.indent and len(line.label) <= 60
    if line.figures is None and (_PERIOD.search(upper.label) or _PERIOD.search(line.label)):
        return False  # headings of columns
    if _GAP.search(upper.text.strip()) or line.indent < first.indent:
        return False
    open_ended = _OPEN_ENDED.search(upper.label, max(0, len(upper.label) - _LONGEST_END)) is not None
    if goes_on or open_ended:
        return True
    if line.figures is None or line.indent <= first.indent or _SECTION.match(first.label):
        return False
    width = line.figures * _LABEL_SHARE
    fits = len(upper.text) + 1 + len(line.label.split(maxsplit=1)[0]) <= width
    return not fits and _case(upper.label) is not None and _case(upper.label) == _case(line.label)


def _case(label: str) -> str | None:
    """How a label is capitalized: "upper", "title", or None if neither."""
    if label.isupper():
        return "upper"
    words = [word for word in re.findall(r"[^\W\d_]+", label) if word.lower() not in _MINOR]
    return "title" if all(word[0].isupper() for word in words) else None


def _is_prose(line: str) -> bool:
    """Whether a line is justified prose, whose wide spaces do not separate cells."""
    if _WIDE_GAP.search(line.strip()):
        return False
    words = line.split()
    figures = sum(1 for word in words if _DIGIT.search(word))
    ends_in_figures = len(words) > 1 and all(_DIGIT.search(word) for word in words[-2:])
    return not ends_in_figures and len(_LOWER_WORD.findall(line)) >= max(_PROSE_WORDS, 2 * figures)


def _without_boxes(grid: Grid) -> Grid:
    return replace(grid, rows=tuple(tuple(cell._replace(box=None) for cell in row) for row in grid.rows))
