"""Numbers as people write them in answers: currency, commas, percent, basis points and scale words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

_SCALES = {
    "thousand": 10**3, "thousands": 10**3, "k": 10**3,
    "million": 10**6, "millions": 10**6, "mn": 10**6, "mm": 10**6, "mio": 10**6, "m": 10**6,
    "billion": 10**9, "billions": 10**9, "bn": 10**9, "b": 10**9,
    "trillion": 10**12, "trillions": 10**12, "tn": 10**12,
}  # fmt: skip
_PERCENT = ("percentage points", "percentage point", "percent", "per cent", "pct", "%")
_BASIS_POINTS = ("basis points", "basis point", "bps", "bp")
_CURRENCY = r"(?:US\$|USD|EUR|GBP|[$€£¥])"
_UNITS = (
    r"(?:per share|a share|/share|shares?|times?|x|days?|years?|months?"
    r"|dollars?|US dollars|USD|cents?|people|employees)"
)

# White space is squeezed to single blanks first, so that no run of it can make the search slow.
_NUMBER = re.compile(
    rf"""
    (?P<open>\()? [ ]?
    (?: (?<![\w%).]) (?P<sign>[-−–+]) )?
    (?: {_CURRENCY} [ ]? (?P<inner>[-−–])? (?P<nested>\()? [ ]? )?
    (?P<digits> (?: \d{{1,3}}(?:,\d{{3}})+ | \d+ ) (?:\.\d+)? | \.\d+ )
    (?P<close>\))?
    (?P<suffix> [ ]? (?: {"|".join(re.escape(word) for word in (*_PERCENT, *_BASIS_POINTS))} )
              | [ ]? (?: {"|".join(sorted((w for w in _SCALES if len(w) > 1), key=len, reverse=True))} ) \b
              | [kmb] \b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CITATION = re.compile(r"\(?\b(?:pp?\.|pages?) ?\d+(?: ?[-–] ?\d+)?\)?", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"[A-Za-z_]")  # FY2019, Q3
_NAME_AFTER = re.compile(r"-[A-Za-z]")  # 10-K
_ONLY_A_NUMBER = re.compile(
    r"(?:approximately|approx\.|about|around|roughly|nearly|~|≈)? ?(?P<number>.+?)"
    rf" ?(?:(?<![a-z]){_UNITS})? ?\.?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """``face`` is what is printed (65.4), ``places`` its decimals, ``factor`` what the words beside it
    multiply it with (0.01 for "%", 0.0001 for "bps", 10**6 for "million", 1 where nothing is said)."""

    face: Decimal
    places: int
    factor: Decimal = Decimal(1)

    @property
    def value(self) -> Decimal:
        return self.face * self.factor


def find_numbers(text: str) -> tuple[Number, ...]:
    """The numbers in ``text``, left to right. Page citations ("p. 12") and names ("Q3", "10-K") hold none."""
    line = _CITATION.sub(" ", _squeezed(text))
    return tuple(_number(match) for match in _NUMBER.finditer(line) if not _in_name(line, match))


def only_number(text: str) -> Number | None:
    """The number that ``text`` consists of, with at most currency, unit and "about"; None for other texts."""
    framed = _ONLY_A_NUMBER.fullmatch(_squeezed(text))
    match = None if framed is None else _NUMBER.fullmatch(framed["number"])
    return None if match is None else _number(match)


def stated_scale(question: str) -> Decimal | None:
    """The scale in which ``question`` wants its answer ("in USD millions"), None where it names none."""
    found = re.search(
        r"\bin\s+(?:(?:US|U\.S\.)\s*)?(?:(?:USD|dollars?|\$|EUR|GBP)\s*)?\(?(?:in\s+)?(thousand|million|billion)s?\b",
        question,
        re.IGNORECASE,
    )
    return None if found is None else Decimal(_SCALES[found[1].lower()])


def equal_at_digits(reference: Number, answer: Number, scale: Decimal | None = None) -> bool:
    """LOFin's numeric accuracy: ``answer`` equals ``reference`` after rounding or truncating to its decimals.

    Percent and scale words are considered: 65.4% is 0.654 and $1.2 billion is 1,200 million. Where one of the
    two says nothing of its scale, the printed digits may agree, and a scale that the question states counts
    as the reference's.
    """
    candidates = {answer.value / reference.factor}
    if answer.factor == 1 or reference.factor == 1:
        candidates.add(answer.face)
    if scale is not None and reference.factor == 1:
        candidates.add(answer.value / scale)
    return any(_agrees(candidate, reference) for candidate in candidates)


def same_when_printed(printed: Number, value: Number) -> bool:
    """Whether ``printed`` shows ``value``, rounded or truncated to its own digits."""
    return _agrees(value.value / printed.factor, printed)


def _agrees(candidate: Decimal, reference: Number) -> bool:
    if candidate.adjusted() + reference.places > 25:  # beyond the 28 digits of the arithmetic
        return candidate == reference.face
    step = Decimal(1).scaleb(-reference.places)
    return reference.face in (
        candidate.quantize(step, rounding=ROUND_HALF_UP),
        candidate.quantize(step, rounding=ROUND_DOWN),
    )


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _in_name(line: str, match: re.Match[str]) -> bool:
    start = match.end() - len(match[0].lstrip(" "))
    named_before = start > 0 and _NAME_BEFORE.match(line[start - 1])
    return bool(named_before or _NAME_AFTER.match(line, match.end("digits")))


def _number(match: re.Match[str]) -> Number:
    digits = match["digits"].replace(",", "")
    face = Decimal(digits)
    negative = match["sign"] in ("-", "−", "–") or match["inner"] is not None
    parenthesised = (match["open"] or match["nested"]) is not None and match["close"] is not None
    places = len(digits.partition(".")[2])
    return Number(-face if negative or parenthesised else face, places, _factor(match["suffix"]))


def _factor(suffix: str | None) -> Decimal:
    word = (suffix or "").strip().lower()
    if word in _PERCENT:
        return Decimal("0.01")
    if word in _BASIS_POINTS:
        return Decimal("0.0001")
    return Decimal(_SCALES.get(word, 1))
