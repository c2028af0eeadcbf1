"""The registrant's name on an SEC cover page or signature page: the most likely candidate.

Three things count: where the candidate is relative to the captions, whether it looks like a company's name, and how
often the report mentions it. Cover layouts vary, but every report mentions its registrant often.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from finray.filings.cover.names import MAX_NAME, only_suffix, tidy_name
from finray.filings.dates import find_dates
from finray.filings.tables.captions import CAPTION_WORDS, CoverText, fold, has_caption


def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(word) for word in words.split(","))


_SIGNED = re.compile(r"\(\s{0,2}registrant\s{0,2}\)", re.IGNORECASE)
_CORPORATE = re.compile(
    r"\b(?:inc|incorporated|corp|corporation|company|co|ltd|limited|plc|llc|l\.l\.c|l\.?p|n\.?v|s\.?a|trust|group"
    r"|holdings|bancorp|partnership)\b\.?\W*$",
    re.IGNORECASE,
)
_FILE_NUMBER = re.compile(
    r"(?:number|no\.?|file)?\s{0,3}:?\s{0,3}\b[\dlIO]{1,3}\s?-\s?\d[\dlIO]{2,5}(?:-\d{1,3})?\b[.:]?", re.IGNORECASE
)
_STATE_OF = re.compile(r"^an?\s++(.*\S)\s+(?:corporation|company|trust|partnership)$", re.IGNORECASE)
_DATE_LINE = re.compile(r"^\W*+(?:[A-Z][A-Za-z]{2,8}\.?\s+\d{1,2},?\s+)?(?:19|20)\d\d\W*+(?:or)?\W*+$")
_LETTERS = re.compile(r"[A-Za-z]{2}|\d[A-Z]\b|[A-Z]\s?&\s?[A-Z]")
_FORM_LINE = re.compile(
    r"\bform\s+(?:10|8|20|40|6)\b|\bmark\s+one\b|\b20549\b|^\W*for\s+the\b|\breported\b", re.IGNORECASE
)
_PLACE_PREFIX = re.compile(r"^\W*(?:(?:state|commonwealth|province)\s+of|the)\s+", re.IGNORECASE)
_PLACES = _folded(
    """alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii, idaho,
    illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
    mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north
    carolina, north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota,
    tennessee, texas, utah, vermont, virginia, washington, west virginia, wisconsin, wyoming, district of columbia,
    puerto rico, bermuda, cayman islands, ireland, jersey, england, england and wales, united kingdom, netherlands,
    luxembourg, switzerland, canada, israel, british virgin islands, marshall islands, ontario, british columbia,
    singapore, liberia, panama, curaçao"""
)
_NO_NAMES = _folded(
    """united states, united states of america, commission, registrant, signature, signatures, number, exact, name,
    reported, or, of, to, and, for, from, none, yes, no, index, contents, washington dc, not applicable, issuer, the,
    in its charter, charter, its charter, specified, company, jurisdiction, incorporation, organization, employer,
    identification, state"""
)
_EXCHANGES = frozenset(("nyse", "nasdaq", "cboe", "exchange"))
_ITSELF = tuple(fold(f"the {kind}") for kind in ("company", "corporation", "trust", "partnership", "registrant"))
_ABOVE, _BELOW, _BEHIND_NUMBER, _SIGNED_ABOVE, _ANYWHERE = 6.0, 4.0, 3.0, 3.0, 1.0
"""Weight of a name's position: above its caption, below it, after the file number, above "(Registrant)", elsewhere."""
_REACH = 900
_MAX_TEXT = 400_000
"""Characters of the report in which names are counted."""
_MANY_MENTIONS = 7
"""More mentions do not make a name more likely."""
_MAX_CAPTIONS, _MAX_CANDIDATES, _MAX_SPELLINGS = 10, 40, 100
_LOOKS = {"o": "[o0]", "i": "[il1]", "s": "[s5]", "b": "[b8]", "e": "[ec]", "m": "(?:m|rn)"}
_CELLS_ABOVE = 6


def registrant(cover: CoverText, report: str, signed: Callable[[], str | None]) -> str | None:
    """The registrant's name on ``cover``; None if it is not printed as text.

    If the cover's spelling occurs nowhere in the ``report``'s text, the report's spelling is used. If no candidate has
    the right position or looks like a company, the name from the signatures (``signed``) is the better guess.
    """
    weights: dict[str, float] = {}
    for name, weight in islice(_candidates(cover), _MAX_CANDIDATES):
        weights[name] = max(weight, weights.get(name, 0.0))
    text = " ".join(report[:_MAX_TEXT].split())

    def likelihood(name: str) -> float:
        found = re.finditer(rf"(?<![\w-]){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        mentions = sum(1 for _ in islice(found, _MANY_MENTIONS))
        return weights[name] + math.log2(1 + mentions) + (_CORPORATE.search(name) is not None)

    best = max(weights, key=likelihood, default=None)
    if best is None or (weights[best] < _ABOVE and not _CORPORATE.search(best)):
        return signed() or best
    return respelled(best, text)


def signing_registrant(pages: Sequence[str]) -> str | None:
    """The name above "(Registrant)" on the signature page, for covers that print the name as a picture."""
    for page in reversed(pages):
        for match in islice(_SIGNED.finditer(page), _MAX_CAPTIONS):
            name = _name_above(page[max(0, match.start() - 300) : match.start()].splitlines())
            if name:
                return name
    return None


def former_name(cover: CoverText) -> str | None:
    """The former name above its caption; None for "N/A", an address or a telephone number."""
    caption = cover.first("former")
    if caption is None:
        return None
    cells = _cells_above(cover.text, caption.start)[-1:]
    return _first_name(cells, corporate=True)


def respelled(name: str, text: str) -> str:
    """``name``, or its most frequent spelling in ``text`` if that differs only in spaces and look-alike letters."""
    letters = fold(name)
    if name in text or name.lower() in text.lower() or not 4 <= len(letters) <= MAX_NAME:
        return name
    pattern = r"[\W_]{0,3}".join(_LOOKS.get(letter, re.escape(letter)) for letter in letters)
    found = re.finditer(rf"(?<!\w){pattern}(?!\w)\.?", text, re.IGNORECASE)
    spellings = Counter(tidy_name(match[0]) for match in islice(found, _MAX_SPELLINGS))
    return spellings.most_common(1)[0][0] if spellings else name


def _candidates(cover: CoverText) -> Iterator[tuple[str, float]]:
    """Candidates for the name with the weight of their position; one may come several times."""
    text = cover.text
    captions = [caption for caption in cover.captions if caption.kind == "name"][:_MAX_CAPTIONS]
    for caption in captions:
        if above := _name_above(_cells_above(text, caption.start)):
            yield above, _ABOVE
        cells = _cells(text[caption.end : caption.end + _REACH].lstrip())
        below = _first_name(cells, corporate=True) or (None if above else _first_name(cells[:1], corporate=False))
        if below:
            yield below, _BELOW
    if number := cover.first("file") or cover.first("employer"):
        cells = _cells(text[number.start : number.start + _REACH])
        below = _first_name(cells, corporate=True) or (None if captions else _first_name(cells, corporate=False))
        if below:
            yield below, _BEHIND_NUMBER
    if signed := signing_registrant([text]):
        yield signed, _SIGNED_ABOVE
    marks = cover.first("marks")
    for name in _names(_cells(text[: marks.start if marks else _REACH])):
        if _CORPORATE.search(name):
            yield name, _ANYWHERE


def _cells(text: str) -> list[str]:
    return [cell for line in text.splitlines() for cell in line.split(" | ") if cell]


def _cells_above(text: str, start: int) -> list[str]:
    """The cells above a caption and before it on its line, of that line only the text after other captions, numbers and
    dates."""
    cells = _cells(text[max(0, start - 500) : start].rstrip("( \n"))
    if cells:
        own = CoverText(cells[-1])
        ends = [caption.end for caption in own.captions]
        ends += [match.end() for match in _FILE_NUMBER.finditer(own.text)]
        ends += [end for _, end, _ in find_dates(own.text)]
        cells[-1] = own.text[max(ends, default=0) :]
    return cells


def _name_above(cells: Sequence[str]) -> str | None:
    """The name directly above a caption; it may span lines ("ADVANCED MICRO", "DEVICES, INC.")."""
    parts: list[str] = []
    for cell in reversed(cells[-_CELLS_ABOVE:]):
        name = tidy_name(_FILE_NUMBER.sub("", cell))
        if not plausible(cell, name):
            if parts or _LETTERS.search(name):
                break
            continue
        if parts and not _continues(name, " ".join(parts)):
            break
        parts.insert(0, name)
    name = tidy_name(" ".join(parts))
    return name if name and not only_suffix(name) and len(name) <= MAX_NAME else None


def _continues(upper: str, lower: str) -> bool:
    """Whether ``lower`` continues a name that begins on the line ``upper``: it is not a name itself, or ``upper`` is
    incomplete and in the same case."""
    if (
        only_suffix(lower)
        or upper.endswith((",", "&"))
        or lower[0].islower()
        or lower.startswith(("& ", "OF ", "AND "))
    ):
        return True
    complete = _CORPORATE.search(upper) or len(upper.split()) > 6 or "(" in upper
    return not complete and upper.isupper() == lower.isupper()


def _first_name(cells: Sequence[str], *, corporate: bool) -> str | None:
    """The first plausible name. ``corporate`` requires a corporate suffix, which excludes addresses."""
    return next((name for name in _names(cells) if not corporate or _CORPORATE.search(name)), None)


def _names(cells: Sequence[str]) -> Iterator[str]:
    """The plausible names among ``cells``, without stock exchanges; a name may begin in the cell before."""
    before = ""
    for cell in cells:
        name = tidy_name(_FILE_NUMBER.sub("", cell))
        if not plausible(cell, name) or _EXCHANGES.intersection(re.findall(r"\w+", name.lower())):
            before = ""
            continue
        if before and _continues(before, name) and _CORPORATE.search(name) and len(before) + len(name) < MAX_NAME:
            yield f"{before} {name}"
        if not only_suffix(name):
            yield name
        before = name


def plausible(printed: str, name: str) -> bool:
    """Whether ``printed`` (tidied: ``name``) could be a name: no caption, place, date or form."""
    if not 0 < len(name) <= MAX_NAME or not _LETTERS.search(name) or has_caption(printed):
        return False
    if only_suffix(name):
        return True
    letters = fold(name)
    return (
        len(letters) > 2
        and not CAPTION_WORDS.issuperset(map(fold, name.split()))
        and letters not in _NO_NAMES
        and fold(_PLACE_PREFIX.sub("", _STATE_OF.sub(r"\1", name))) not in _PLACES
        and not letters.endswith(_ITSELF)
        and not _FORM_LINE.search(printed)
        and not _DATE_LINE.match(printed)
    )
