"""Finds the headings printed on each page.

PDF text has no fonts, and every table cell is a line of its own, so a heading is recognized by its form: a short line
without a final period or figures, in title case or capitals, or numbered like a note, Item, table or exhibit. Row
labels in title case match too; they also describe the page.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

MAX_CHARACTERS = 110
MAX_WORDS = 14
MAX_HEADINGS = 40
"""Per page; a page with more short capitalized lines is a list of names."""
MAX_RUN = 4
"""A longer run of lines that look like headings is a list or the head of a table."""
RUNNING_SHARE = 0.2
"""A line on a larger share of the pages, and on at least four, is a running header or footer."""

_NUMBERED = re.compile(
    r"^(?:notes? \d{1,2}[a-z]?\b|item \d{1,2}[abc]?\b|item \d\.\d\d|table \d{1,3}\b|exhibit \d|part [iv]{1,3}\b|"
    r"\(?\d{1,2}[.)]\)?\s+(?=[A-Z]))",
    re.I,
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’&-]*")
_SMALL = frozenset(
    (
        "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "its", "of", "on", "or", "our", "per", "than",
        "that", "the", "to", "under", "upon", "versus", "vs", "with",
    )
)  # fmt: skip
_FIGURE = re.compile(r"^[$(]*\s*(?:\d|[—–-]+\s*$|[$%]\s*$)")
_YEAR = re.compile(r"^(?:19|20)\d\d\b|^\d{1,2}/\d{1,2}/\d{2,4}")
_CONTINUED_BEGINS = re.compile(r"[\[(](?i:cont|unaudited)")
"""Occurs in each match of ``_CONTINUED``, and is found faster."""
_CONTINUED = re.compile(r"(?:(?<!\s)\s++)?[\[(](?:continued|cont['’]?d\.?|unaudited)[\])]\s*+", re.I)


def page_headings(texts: Sequence[str]) -> list[str]:
    """The headings of each page, one a line; "" if it has none. ``len(result) == len(texts)``."""
    found = [_headings(text) for text in texts]
    pages_with = Counter(line for lines in found for line in lines)
    limit = max(3, RUNNING_SHARE * len(texts))
    return ["\n".join([line for line in lines if pages_with[line] <= limit][:MAX_HEADINGS]) for lines in found]


def _headings(text: str) -> list[str]:
    """The headings of one page, each once, without "(continued)" and "(unaudited)"."""
    printed: Iterable[str] = text.splitlines()
    if _CONTINUED_BEGINS.search(text):
        printed = (_CONTINUED.sub(" ", line) for line in printed)
    lines = [bare for line in printed if (bare := line.strip(" \t|•*·:-–—"))]
    found: list[str] = []
    run: list[str] = []
    for line, after in pairwise((*lines, "")):
        if is_heading(line) and (_NUMBERED.match(line) or not is_row_label(after)):
            run.append(line)
            continue
        found += _titles(run)
        run = []
    return list(dict.fromkeys([*found, *_titles(run)]))


def _titles(run: Sequence[str]) -> list[str]:
    """The headings in a run of heading-like lines; of a long run, only its first two lines and the numbered ones."""
    if len(run) <= MAX_RUN:
        return list(run)
    return [line for at, line in enumerate(run) if at < 2 or _NUMBERED.match(line)]


def is_row_label(after: str) -> bool:
    """Whether a line that looks like a heading is the label of a row, from the line ``after`` it.

    A figure follows a label. The years of a table may follow a title.
    """
    return _FIGURE.match(after) is not None and _YEAR.match(after) is None


def is_heading(line: str) -> bool:
    """Whether ``line``, without white space at its ends, has the form of a heading."""
    if not 4 <= len(line) <= MAX_CHARACTERS or line.lower() == line.upper():  # most lines of PDF text are figures
        return False
    numbered = _NUMBERED.match(line)
    if line.endswith((".", ",", ";")) and not numbered:
        return False
    rest = line[numbered.end() :] if numbered else line
    words = _WORD.findall(rest)
    if not words or len(words) > MAX_WORDS or sum(map(str.isdigit, rest)) > 4:
        return False
    content = [word for word in words if word.lower() not in _SMALL]
    if not any(len(word) >= 4 for word in content):
        return False
    return numbered is not None or all(word[0].isupper() for word in content)
