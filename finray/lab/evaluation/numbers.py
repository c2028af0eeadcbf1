"""Reads numbers in answers: currency, commas, percent, basis points and scale words.

``mentions.py`` excludes numbers that are not figures (citations, dates, note numbers).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

_SCALES = {
    "thousand": 10**3, "thousands": 10**3, "k": 10**3,
    "million": 10**6, "millions": 10**6, "mn": 10**6, "mm": 10**6, "mio": 10**6, "m": 10**6,
    "billion": 10**9, "billions": 10**9, "bn": 10**9, "b": 10**9,
    "trillion": 10**12, "trillions": 10**12, "tn": 10**12, "t": 10**12,
}  # fmt: skip
_SCALE_WORDS = "|".join(sorted((word for word in _SCALES if len(word) > 1), key=len, reverse=True))
_PERCENT = ("percentage points", "percentage point", "percent", "per cent", "pct", "%")
_BASIS_POINTS = ("basis points", "basis point", "bps", "bp")
_PARTS = "|".join(re.escape(word) + (r"\b" if word[-1].isalpha() else "") for word in (*_PERCENT, *_BASIS_POINTS))
_CURRENCY = r"(?:US\$|USD|EUR|GBP|[$€£¥])"
_DOLLARS = r"(?:U\.?S\.?\ ?)?(?:USD|dollars?|\$|EUR|GBP)"
_UNITS = (
    r"(?:per share|a share|/share|shares?|times?|x|days?|years?|months?"
    r"|dollars?|US dollars|USD|cents?|people|employees)"
)

# Expects single spaces, so that long runs of white space cannot slow down the search.
_NUMBER = re.compile(
    rf"""
    (?P<open>\()? [ ]?
    (?: (?<![\w%).]) (?P<sign>[-−–+]|(?:minus|negative)[ ]) )?
    (?: {_CURRENCY} [ ]? (?P<inner>[-−–])? (?P<nested>\()? [ ]? )?
    (?P<digits> (?: \d{{1,3}}(?:,\d{{3}})+ | \d+ ) (?:\.\d+)? | \.\d+ )
    (?: e (?P<exponent>[-+]?\d{{1,3}}) (?![\w.]) )?
    (?P<close>\))?
    (?P<suffix> [ -]? (?: {_PARTS} )
              | [ -]? (?: {_SCALE_WORDS} ) \b
              | [ ]? \( (?:in[ ])? (?:{_DOLLARS}[ ])? (?: {_SCALE_WORDS} ) \)
              | [ ] in[ ] (?:{_DOLLARS}[ ])? (?: {_SCALE_WORDS} ) \b
              | [kmb] \b | [ ]? (?-i:[KMBT]) \b )?
    (?P<end>\))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PAGES = r"\d+(?: ?[-–] ?\d+)?"
_CITATION = re.compile(
    rf"\(?\b(?:pp?\.|pages?|pp\b)[ ]?{_PAGES}(?:(?:,[ ]?|[ ]?;[ ]?|,?[ ]and[ ]|[ ]&[ ]){_PAGES}(?![\d.,]*[%\d]))*\)?",
    re.IGNORECASE,
)
_NAME_BEFORE = re.compile(r"[A-Za-z_]")  # FY2019, Q3
_NAME_AFTER = re.compile(r"-[A-Za-z]")  # 10-K
_ASIDE_BEFORE = re.compile(r"(?:[\d%).]|[a-z])[ ]?$", re.IGNORECASE)
_LINKING = re.compile(r"(?:\b(?:is|was|were|are|be|of|to|at|by|from)|[:=])[ ]?$", re.IGNORECASE)
_ONLY_A_NUMBER = re.compile(
    r"(?:approximately|approx\.|about|around|roughly|nearly|~|≈)? ?(?P<number>.+?)"
    rf" ?(?:(?<![a-z]){_UNITS})? ?\.?",
    re.IGNORECASE,
)
_STATED_SCALE = re.compile(
    rf"""
    \b in \s++ (?:units?\s++of\s++)? (?:{_DOLLARS}\s*+)? \(? (?:in\s++)? (?P<after>{_SCALE_WORDS}) \b
    | {_DOLLARS} \s*+ (?:\(\s*+)? (?:in\s++)? (?P<beside>{_SCALE_WORDS}) \b
    | \( \s*+ (?P<bare>thousands|millions|billions) \s*+ \)
    | \(?\b in \s++ (?:{_DOLLARS}\s*+) (?P<letter>(?-i:[KMB])) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STATED_PERCENT = re.compile(r"%|\bper ?cent|\bpercentage|\bpct\b|\bbasis points?\b|\bbps\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """``face`` is the printed number (65.4), ``places`` its number of decimals, ``factor`` its multiplier (0.01 for
    "%", 0.0001 for "bps", 10**6 for "million", 1 by default)."""

    face: Decimal
    places: int
    factor: Decimal = Decimal(1)

    @property
    def value(self) -> Decimal:
        return self.face * self.factor

    def __neg__(self) -> Number:
        return Number(-self.face, self.places, self.factor)

    def __abs__(self) -> Number:
        return Number(abs(self.face), self.places, self.factor)


@dataclass(frozen=True, slots=True)
class Found:
    """A number, and its characters ``start`` to ``end`` in the squeezed text."""

    number: Number
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question requires of the number: its scale ("in USD millions") and whether it mentions percent."""

    scale: Decimal | None = None
    percent: bool = False


def find_numbers(text: str) -> tuple[Number, ...]:
    """The numbers in ``text``, left to right, without those in page citations ("p. 12") and names ("Q3", "10-K")."""
    return tuple(found.number for found in located_numbers(_CITATION.sub(" ", squeezed(text))))


def located_numbers(line: str) -> tuple[Found, ...]:
    """The numbers of ``line``, whose white space is squeezed, with their positions; those in names are left out."""
    return tuple(
        Found(_number(match, aside=_is_aside(line, match)), match.start(), match.end())
        for match in _NUMBER.finditer(line)
        if not _in_name(line, match)
    )


def only_number(text: str) -> Number | None:
    """The number if ``text`` is only a number with currency, unit or "about"; None for other texts."""
    line = squeezed(text)
    match = _NUMBER.fullmatch(line)
    framed = None if match else _ONLY_A_NUMBER.fullmatch(line)
    if framed is not None:
        match = _NUMBER.fullmatch(framed["number"])
    return None if match is None else _number(match)


def number_of(value: float, unit: str | None) -> Number:
    """A computed or tagged ``value`` as a number without decimals, with the factor of its ``unit``."""
    return Number(Decimal(repr(float(value))), 0, unit_factor(unit or ""))


def wanted_number(question: str) -> Wanted:
    """The scale and percent that ``question`` requires of its answer."""
    return Wanted(stated_scale(question), _STATED_PERCENT.search(question) is not None)


def stated_scale(question: str) -> Decimal | None:
    """The scale that ``question`` requires of its answer ("in USD millions"), if any."""
    found = _STATED_SCALE.search(squeezed(question))
    word = found and next(group for group in found.groups() if group)
    return Decimal(_SCALES[word.lower()]) if word else None


def equal_at_digits(reference: Number, answer: Number, wanted: Wanted | None = None) -> bool:
    """LOFin's numeric accuracy: ``answer`` equals ``reference`` after rounding or truncating to its decimals.

    Percent and scale words count: 65.4% is 0.654 and $1.2 billion is 1,200 million. If one of the two has no scale,
    equal digits suffice, with two exceptions:

    * A scale in the question applies to a reference without one: "1,577 thousand" is not 1,577 if the question asks
      for millions.
    * A bare reference below 1 is a ratio: 0.66% is not 0.66, unless the question mentions percent.
    """
    wanted = wanted or Wanted()
    same = answer.factor == reference.factor  # then no arithmetic may round a long number
    candidates = {answer.face if same else answer.value / reference.factor}
    if reference.factor != 1:
        if answer.factor == 1:
            candidates.add(answer.face)
    elif answer.factor == 1:
        if wanted.scale is not None:
            candidates.add(answer.face / wanted.scale)
    elif answer.factor < 1:
        if wanted.scale is None and (wanted.percent or abs(reference.face) >= 1):
            candidates.add(answer.face)
    else:
        candidates.add(answer.face if wanted.scale is None else answer.value / wanted.scale)
    return any(_agrees(candidate, reference) for candidate in candidates)


def unit_factor(unit: str) -> Decimal:
    """The multiplier of ``unit``: 0.01 for "percent", 10**6 for "USD millions", 1 for "USD" or "days"."""
    words = [word for word in re.split(r"[\s()/]+", unit.strip().lower()) if word]
    whole = _factor(" ".join(words))
    if whole != 1:
        return whole
    factors = [_factor(word) for word in words if len(word) > 1 or word == "%"]
    return next((factor for factor in factors if factor != 1), Decimal(1))


def same_when_printed(printed: Number, value: Number) -> bool:
    """Whether ``printed`` is ``value``, rounded or truncated to the digits of ``printed``."""
    return _agrees(value.value / printed.factor, printed)


def squeezed(text: str) -> str:
    """``text`` with single spaces, and none at its ends."""
    return " ".join(text.split())


def without_citations(line: str) -> str:
    """``line`` without its page citations."""
    return _CITATION.sub(" ", line)


def _agrees(candidate: Decimal, reference: Number) -> bool:
    if not candidate.is_finite():
        return False
    if candidate.adjusted() + reference.places > 25:  # beyond the 28 digits of the arithmetic
        return candidate == reference.face
    step = Decimal(1).scaleb(-reference.places)
    return reference.face in (
        candidate.quantize(step, rounding=ROUND_HALF_UP),
        candidate.quantize(step, rounding=ROUND_DOWN),
    )


def _in_name(line: str, match: re.Match[str]) -> bool:
    start = match.end() - len(match[0].lstrip(" "))
    named_before = start > 0 and _NAME_BEFORE.match(line[start - 1])
    named_after = match["suffix"] is None and _NAME_AFTER.match(line, match.end("digits"))
    return bool(named_before or named_after)


def _is_aside(line: str, match: re.Match[str]) -> bool:
    """Whether parentheses around a number, "(3.4%)", are an aside to the text before them, not a minus sign."""
    before = line[max(0, match.start() - 12) : match.start()]
    return _ASIDE_BEFORE.search(before) is not None and _LINKING.search(before) is None


def _number(match: re.Match[str], *, aside: bool = False) -> Number:
    digits = match["digits"].replace(",", "")
    exponent = int(match["exponent"] or 0)
    face = Decimal(digits).scaleb(exponent) if exponent else Decimal(digits)
    negative = (match["sign"] or "+").strip().lower() != "+" or match["inner"] is not None
    opened = (match["open"] or match["nested"]) is not None
    around_all = match["suffix"] is not None and match["end"] is not None and not aside
    parenthesized = opened and (match["close"] is not None or around_all)
    places = max(0, len(digits.partition(".")[2]) - exponent)
    return Number(-face if negative or parenthesized else face, places, _factor(match["suffix"]))


def _factor(suffix: str | None) -> Decimal:
    word = re.sub(rf"^[ (-]*(?:in )?(?:{_DOLLARS} )?|\)$", "", suffix or "", flags=re.IGNORECASE).lower()
    if word in _PERCENT:
        return Decimal("0.01")
    if word in _BASIS_POINTS:
        return Decimal("0.0001")
    return Decimal(_SCALES.get(word, 1))
