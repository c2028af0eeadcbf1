"""Finds whose statement a page prints in a combined report of several registrants, such as a parent and subsidiaries.

Such a report prints each registrant's statements under its own name, mostly the parent's first.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

HEAD_LINES = 14
"""Lines at the top of a page among which are the name and the title of a statement."""
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


def registrants_of(texts: Sequence[str], is_title: Callable[[str], bool]) -> list[Headed | None]:
    """The registrant whose statement each page prints; all None unless two registrants print statements.

    ``is_title`` says whether a line, in lower case, is the title of a statement. A page without a title has the
    registrant that its running head names.
    """
    heads = [_head(text) for text in texts]
    found = [_titled(head, is_title) for head in heads]
    known = {each.key: each for each in reversed(found) if each is not None}
    if len(known) < 2:
        return [None] * len(texts)
    for number, head in enumerate(heads):
        if found[number] is None:
            named = (_name_of(line) for line in head[:_RUNNING])
            running = next((each for each in named if each is not None and each.key in known), None)
            found[number] = running
    return [known[each.key] if each is not None else None for each in found]


def own_registrant(headed: Sequence[Headed | None], company: str) -> Headed | None:
    """The registrant of ``headed`` that is the ``company`` which files the report: by its name, else the first."""
    distinct = {each.key: each for each in headed if each is not None}
    key = _key(company)
    if key in distinct:
        return distinct[key]
    alike = [each for each in distinct.values() if _core(each.key) == _core(key)]
    return alike[0] if alike else next(iter(distinct.values()), None)


def _head(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in islice(text.split("\n"), 6 * HEAD_LINES))
    return list(islice(filter(None, lines), HEAD_LINES))


def _titled(head: Sequence[str], is_title: Callable[[str], bool]) -> Headed | None:
    """The registrant named above the first title of ``head``, in the same line or, else, just below it."""
    for number, line in enumerate(head):
        if len(line) > MAX_NAME + 80 or not is_title(line.lower()):
            continue
        title = _TITLE.search(line)
        own = _name_of(line[: title.start()]) if title and title.start() else None
        above = (_name_of(each) for each in reversed(head[:number]))
        below = (_name_of(each) for each in head[number + 1 : number + 2])
        return own or next(filter(None, above), None) or next(filter(None, below), None)
    return None


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
