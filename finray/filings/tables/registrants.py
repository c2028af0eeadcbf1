"""Finds whose statement a page prints in a combined report of several registrants, such as a parent and subsidiaries.

Such a report prints each registrant's statements under its own name, mostly the parent's first.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from finray.filings.tables.grids import Grid

HEAD_LINES = 14
"""Lines at the top of a page among which are the name and the title of a statement."""
_MAX_LINES = 5_000
MAX_NAME = 120
"""Characters; a longer line is not a name."""
_RUNNING = 3
"""Lines at the top of a page that may be a running head with the registrant's name."""
_LEGAL = {
    "inc": "incorporated", "corp": "corporation", "co": "company", "cos": "companies", "ltd": "limited", "lp": "lp",
    "partnership": "lp", "llc": "llc", "plc": "plc", "incorporated": "incorporated", "corporation": "corporation",
    "company": "company", "companies": "companies", "limited": "limited", "trust": "trust", "nv": "nv", "sa": "sa",
    "ag": "ag", "se": "se", "partners": "partners", "holdings": "holdings", "bancorp": "bancorp", "cooperative":
    "cooperative", "association": "association",
}  # fmt: skip
"""Words that end the name of a company -> the form that is compared."""
_SUBSIDIARIES = re.compile(
    r"[\s,]{1,3}(?:and|&)\s(?:its\s)?(?:(?:consolidated|majority-owned|wholly[ -]owned)\s){0,2}subsidiar(?:y|ies)"
    r"(?:\scompan(?:y|ies))?\s?$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]{0,100}\)|\[[^\[\]]{0,100}\]")
_TITLE = re.compile(
    r"\b(?:(?:consolidated|combined|condensed|unaudited|interim|comparative|audited)\s){0,3}"
    r"(?:statements?\b|balance\ssheets?\b|cash\sflows?\b|income\sstatements?\b)",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"\b(?:notes?|reports?|items?|index|tables?|forms?|pages?|schedules?|exhibits?|part|accounting|auditors?|board|"
    r"directors|stockholders|shareholders|members|annual|quarterly|see|accompanying|this|these|our|we|is|are|was|were|"
    r"has|have|by|between|separately|filed|fiscal|months?|years?|ended|millions?|thousands?|dollars|llp)\b|"
    r"[?!:;$%]|\.{3}",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")

Key = tuple[str, ...]


class Headed(NamedTuple):
    """A registrant as the head of a page names it; ``key`` is equal for spellings of one name."""

    name: str
    key: Key


Places = Sequence[tuple[int, Headed]]
"""The registrants of one page, each with the offset in its text from which on statements are its own."""


def registrants_of(
    texts: Sequence[str], is_title: Callable[[str], bool], has_title: Callable[[str], bool]
) -> list[Places]:
    """The registrants whose statements each page prints; none unless two registrants print statements.

    ``is_title`` says whether a line, in lower case, is the title of a statement, ``has_title`` whether a page may have
    one. A page without a title has the
    registrant that its running head names.
    """
    pages = [_titles(text, is_title, has_title) for text in texts]
    known = {headed.key: headed for places in reversed(pages) for _, headed in reversed(places)}
    if len(known) < 2:
        return [() for _ in texts]
    found: list[Places] = []
    for text, places in zip(texts, pages, strict=True):
        if not places:
            named = (_name_of(line) for _, line in islice(_lines(text), _RUNNING))
            running = next((each for each in named if each is not None and each.key in known), None)
            places = [(0, running)] if running is not None else []
        found.append([(offset, known[headed.key]) for offset, headed in places])
    return found


def of_grids(places: Places, text: str, grids: Sequence[Grid]) -> list[Headed | None]:
    """The registrant of each of the tables ``grids`` of a page, in reading order."""
    if len(places) < 2 and all(not offset for offset, _ in places):
        return [places[0][1] if places else None] * len(grids)
    found, at = [], 0
    plain = text.lower()
    for grid in grids:
        labels = (row[0].text.lower() for row in grid.rows if len(row) > 1 and not row[0].column and row[0].text)
        at = next((place for label in labels if (place := plain.find(label, at)) >= 0), at)
        found.append(next((headed for offset, headed in reversed(places) if offset <= at), None))
        at += 1
    return found


def own_registrant(pages: Sequence[Places], company: str) -> Headed | None:
    """The registrant of ``pages`` that is the ``company`` which files the report: by its name, else the first."""
    distinct = {headed.key: headed for places in pages for _, headed in places}
    key = _key(company)
    if key in distinct:
        return distinct[key]
    alike = [each for each in distinct.values() if _core(each.key) == _core(key)]
    return alike[0] if alike else next(iter(distinct.values()), None)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of the lines that are not empty."""
    at = 0
    for line in islice(text.split("\n"), _MAX_LINES):
        if plain := " ".join(line.split()):
            yield at, plain
        at += len(line) + 1


def _titles(text: str, is_title: Callable[[str], bool], has_title: Callable[[str], bool]) -> list[tuple[int, Headed]]:
    """The registrants named at the titles of a page, each with the offset of the first line of its head; 0 for a title
    among the first lines of the page."""
    if not has_title(text):
        return []
    found: list[tuple[int, Headed]] = []
    lines = list(_lines(text))
    after = 0
    for number, (offset, line) in enumerate(lines):
        if len(line) > MAX_NAME + 80 or not is_title(line.lower()):
            continue
        above = lines[max(after, number - HEAD_LINES) : number]
        headed = _at_title(line, [each for _, each in above], [each for _, each in lines[number + 1 : number + 2]])
        after = number + 1
        if headed is not None and (not found or found[-1][1].key != headed.key):
            found.append((0 if number < HEAD_LINES and not found else offset, headed))
    return found


def _at_title(line: str, above: Sequence[str], below: Sequence[str]) -> Headed | None:
    """The registrant named in the ``line`` of a title, else above it, else just below it."""
    title = _TITLE.search(line)
    own = _name_of(line[: title.start()]) if title and title.start() else None
    return own or next((each for other in (*reversed(above), *below) if (each := _name_of(other)) is not None), None)


def _name_of(line: str) -> Headed | None:
    """The company that a line names and nothing else; None for other lines."""
    if not 4 <= len(line) <= MAX_NAME:
        return None
    name = _ASIDE.sub(" ", line)
    name = " ".join(_SUBSIDIARIES.sub("", name.rstrip(" .,—–-*|")).split()).strip(" ,—–-*|")
    words = _WORD.findall(name)
    if not 2 <= len(words) <= 12 or _NOT_A_NAME.search(name) or any(word.isdecimal() for word in words[1:]):
        return None
    key = _key(name)
    if key[-1] not in _LEGAL.values() or len(key) < 2:
        return None
    capitals = sum(word[0].isupper() or word[0].isdigit() for word in words)
    return Headed(name, key) if capitals >= 0.6 * len(words) else None


def _key(name: str) -> Key:
    words = [word.lower().replace(".", "").replace("’", "'") for word in _WORD.findall(name)]
    words = words[1:] if words[:1] == ["the"] else words
    return tuple(_LEGAL.get(word, word) for word in words) or ("",)


def _core(key: Key) -> Key:
    """``key`` without its legal form."""
    words = list(key)
    while len(words) > 1 and words[-1] in _LEGAL.values():
        words.pop()
    return tuple(words)
