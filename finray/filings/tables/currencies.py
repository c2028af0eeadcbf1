"""Finds the currency that a filing, a statement or the head of a column states: "(Expressed in Canadian dollars)"."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from finray.core.currencies import SHARED, UNKNOWN, Mention, meant_by, mentions
from finray.core.filing import Statement
from finray.core.forms import FOREIGN
from finray.core.vocabulary import MONTHS, NUMBERS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCALES = _words("thousand thousands million millions billion billions hundreds mn mm m k bn 000 000s")
_ANNOUNCE = _words("expressed stated presented reported shown amounts figures numbers values all are prepared")
_FILL = (
    _SCALES
    | _ANNOUNCE
    | _words(
        "in of the and or unless otherwise noted indicated specified except excepting for per share shares ads adss "
        "data amount number earnings loss income note notes unaudited audited currency s as to nominal including "
        "information par value cents whole units united rounded nearest with other than both ratios percentages "
        "presentation reporting functional basic diluted ordinary dividends american depositary respectively"
    )
)
"""Words beside a currency in the line that announces it."""
_PERIOD = (
    frozenset(MONTHS)
    | frozenset(NUMBERS)
    | _words(
        "year years ended ending end month months quarter quarters weeks week fiscal period from through at on fy ytd "
        "convenience translation translated into restated current prior previous first half total q1 q2 q3 q4 h1 h2 "
        "equivalent us"
    )
)
"""Further words in the head of a column."""
_WORD = re.compile(r"[^\W_]+")
_MAX_LINE, _MAX_LINES = 240, 40
_MAX_HEADING = 100
_BESIDE = 60
"""Characters between a scale and its currency."""
_DECLARED = re.compile(
    r"\b(?:reporting|presentation|presentational) currency\b|\b(?:expressed|presented|stated|reported|prepared) in\b|"
    r"\breferences to\b|\ball (?:dollar |monetary )?(?:amounts|figures)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<![A-Z])\. ")
_REACH = 120
"""Characters behind such words in which a declaration names the currency."""
_MAX_DECLARATIONS = 2_000
"""Declarations read of one filing."""


def is_foreign(form: str) -> bool:
    """Whether ``form`` is one of foreign private issuers, whose "$" may be any dollar."""
    return form.startswith(FOREIGN)


def currency_of(named: str, reported: str) -> str:
    """The code of a currency, or of a shared sign or word in tables that are ``reported`` in a currency."""
    return meant_by(named, reported) if named in SHARED else named


def currency_beside(text: str, start: int, end: int) -> str | None:
    """The currency that the scale ``text[start:end]`` is of, or the shared sign or word: "in millions of euros"."""
    begin = max(text.rfind("\n", 0, start) + 1, start - _BESIDE)
    line_end = text.find("\n", end)
    window = text[begin : min(len(text) if line_end < 0 else line_end, end + _BESIDE)]
    start, end = start - begin, end - begin
    for mention in mentions(window):
        if mention.end <= start:
            between = window[mention.end : start]
        elif mention.start >= end:
            between = window[end : mention.start]
        else:
            between = ""
        if _fills(between) and not re.search(r"[.;)](?=\s|$)", between):
            return _named(mention)
    return None


def stated_currency(text: str) -> str | None:
    """The first currency, or shared sign or word, that a line of ``text``, the head of a statement, announces."""
    for line in islice(text.split("\n"), _MAX_LINES):
        if line.strip() and len(line) <= _MAX_LINE:
            found = next((m for m in mentions(line) if _announces(line, m)), None)
            if found is not None:
                return _named(found)
    return None


@lru_cache(maxsize=4096)  # called for each figure of a column
def heading_currency(heading: str) -> str | None:
    """The currency, or shared sign or word, that the head of a column names beside its period: "2024 US$"."""
    if not heading or len(heading) > _MAX_HEADING:
        return None
    found = list(mentions(heading))
    named = {_named(mention) for mention in found}
    if len(named) != 1 or not _fills(_without(heading, found), _PERIOD):
        return None
    return named.pop()


def reported_currency(texts: Sequence[str], heads: Sequence[str], form: str) -> str:
    """The currency of a filing's statements. ``heads`` are the lines above their figures, ``texts`` all pages.

    It is the one that most heads state, else the one that the text declares. Without either it is the dollar for
    domestic forms, and "XXX" (unknown) for those of foreign private issuers.
    """
    stated = (stated_currency(head) for head in heads)
    codes = Counter(currency_of(named, UNKNOWN) for named in stated if named is not None)
    del codes[UNKNOWN]
    if codes:
        return codes.most_common(1)[0][0]
    if not is_foreign(form):
        return "USD"
    declared = Counter(islice((code for text in texts for code in _declared(text)), _MAX_DECLARATIONS))
    return declared.most_common(1)[0][0] if declared else UNKNOWN


def heads_of(texts: Sequence[str], statements: Sequence[Statement | None]) -> list[str]:
    """The top of each page with a statement."""
    return [text[:3000] for text, statement in zip(texts, statements, strict=True) if statement]


def _declared(text: str) -> Iterator[str]:
    """The codes of the currencies that sentences of ``text`` declare to be those of its amounts."""
    for match in _DECLARED.finditer(text):
        after = " ".join(text[match.end() : match.end() + _REACH].split())
        after = _SENTENCE_END.split(after, 1)[0]
        named = [mention.code for mention in mentions(after)]
        if match[0].lower() == "references to":  # "$" are to U.S. dollars
            named = named[1:] if named[:1] == [None] else []
        if code := next(filter(None, named), None):
            yield code


def _named(mention: Mention) -> str:
    return mention.code or mention.shared or UNKNOWN


def _fills(text: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether ``text`` has only words that stand beside a currency."""
    words = (word.lower() for word in _WORD.findall(text))
    return all(word in _FILL or word in more or (more and (len(word) == 1 or word.isdecimal())) for word in words)


def _without(text: str, found: Sequence[Mention]) -> str:
    kept, at = [], 0
    for mention in found:
        kept.append(text[at : mention.start])
        at = mention.end
    return " ".join([*kept, text[at:]])


def _announces(line: str, mention: Mention) -> bool:
    """Whether ``line`` holds little but the currency, in a parenthesis or as a whole, or words such as "expressed in"
    lead to it."""
    start, end = line.rfind("(", 0, mention.start), line.find(")", mention.end)
    if end < 0 or ")" in line[start + 1 : mention.start]:
        start, end = -1, len(line)
    part = line[start + 1 : end]
    if not re.search(r"\d[\d,.]*\d", part) and _fills(_without(part, list(mentions(part)))):
        return True
    before = [word.lower() for word in _WORD.findall(line[: mention.start])]
    while before and (before[-1] in _SCALES or before[-1] in ("of", "the")):
        before.pop()
    return len(before) > 1 and before[-1] == "in" and before[-2] in _ANNOUNCE
