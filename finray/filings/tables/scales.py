"""Reads the scale, unit and currency of printed figures: "(in millions, except per share data)"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

from finray.core.currencies import CURRENCIES, SHARED
from finray.core.vocabulary import SCALE, SCALES, any_of
from finray.filings.tables.currencies import currency_beside, currency_of

_WORDS = {**SCALES, "000": 10**3, "th": 10**3, "mm": 10**6, "k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9}
_CODE = any_of(code.lower() for code in CURRENCIES)
_SCALE = re.compile(
    r"(?:\b(?:in\s*+|(?:of|are|expressed in|stated in)\s++)(?:u\.?s\.?\s*+)?(?:(?:\$|us\$|usd|dollars)\s*+)?"
    rf"(?P<word>{SCALE})s?\b|"
    rf"[(\[,|]\s*+(?:(?:us|u\.s\.)\s*+)?(?:[$€£¥]\s*+)?(?:amounts? )?(?P<bare>{SCALE})s?\b|"
    rf"\$\s*+(?P<dollars>{SCALE})s?\b|"
    rf"(?<!\d\n)(?<!\d\s\n)^[^\S\n]*+(?:[$€£¥]\s*+)?(?P<alone>{SCALE})s?(?: of (?:u\.?s\.? )?dollars)?\b|"
    r"(?:\$|in\s++|\(\s*+)(?P<zeros>000)['’]?s?\b|"
    rf"(?<![\w.])(?:us\s\$|us\sd|[a-z]{{0,3}}\$|rmb|{_CODE}|[€£¥₹₩])\s?['‘’`]?"
    r"(?P<mark>000|k|mn?|bn|thousand|million|billion)s?(?!\w|[.,]\d)|"
    rf"(?<![\w.])(?:r\s(?P<rand>m|mn|bn|{SCALE})s?|(?P<chilean>th|mm?)ch\$)(?![\w.]))",
    re.IGNORECASE | re.MULTILINE,
)
_SCALE_HINT = re.compile(rf"{SCALE}|000|[$€£¥₹₩a-z]\s?['‘’`]?(?:k|mn?|bn)s?(?!\w)|ch\$")
"""The word of scale in a match of ``_SCALE``, in lower case. A search for it takes a tenth of the time."""
_MOST_PRINTED = 10**7
"""A printed figure of this size is not in millions: nobody reports ten trillion that way."""
_BEFORE, _AFTER = 60, 40
"""Characters around the word that ``_SCALE`` may match."""
_EXCEPT_SHARES = re.compile(
    r"except[^.\n]{0,60}?(?<!per )(?<!per common )(?<!per-)\b(?:share data|share amounts|"
    r"shares?\b(?! per)(?!\s*(?:and|,|or)?\s*$)|number of shares|share and per)",
    re.IGNORECASE,
)
_SHARES_IN = re.compile(
    rf"(?:shares?|share data|share amounts)\b[^.\n$]{{0,50}}?\bin (?P<after>{SCALE})s", re.IGNORECASE
)
_BOTH_IN = re.compile(rf"(?:dollars|amounts|\$)[^.\n]{{0,12}}(?:and|,) shares[^.\n]{{0,10}}in {SCALE}s", re.IGNORECASE)
_PER_SHARE = re.compile(
    r"\bper\b.{0,25}\b(?:share|unit|ads)s?\d{0,2}\b|\beps\b|\bper basic|\bper diluted", re.IGNORECASE
)
_SHARES = re.compile(
    r"\b(?:weighted|average)\b.{0,60}\b(?:shares?|units|basic|diluted|outstanding)|"
    r"\b(?:shares|units)\b.{0,40}\b(?:outstanding|used|issued|authorized|diluted|basic)|\bnumber of (?:common )?shares|"
    r"\b(?:basic|diluted)\b.{0,25}\bshares|dilutive.{0,30}(?:shares|securities|options)",
    re.IGNORECASE,
)
_PAR_VALUE = re.compile(r"preferred stock|common (?:stock|shares), ", re.IGNORECASE)
_SHARE_SECTION = re.compile(
    r"\b(?:weighted|average)\b.{0,40}\bshares|^\W*(?:number of |common |outstanding )*shares outstanding|"
    r"^\W*number of .{0,20}shares|\bdilutive\b.{0,40}\bshares",
    re.IGNORECASE,
)
_SHARES_USED = re.compile(r"^\W*(?:common )?shares used\b", re.IGNORECASE)
"""Begins the heading over counts of shares, even if it goes on "in computing earnings per share"."""
_COUNTED = re.compile(
    rf"\bshares\b.{{0,40}}?\b(?:authorized|issued|outstanding)\W{{0,3}}(?:of )?\d+(?:,\d{{3}}|.?{SCALE})|"
    rf"\d(?:,\d{{3}}|.?{SCALE})\b.{{0,20}}?\bshares\b",
    re.IGNORECASE,
)
"""A label that gives the shares itself: the figure behind "shares authorized 24,000" is an amount."""
_AMOUNT = re.compile(
    r"\$|par value|stated value|at cost|proceeds|repurchase|purchase|payments?|issuance|value", re.IGNORECASE
)
_PER_SHARE_ROW = re.compile(
    r"\b(?:basic|diluted|dilution|continuing|discontinued|total|net (?:income|loss|earnings)|common|income|loss|"
    r"earnings|declared|dividends?)\b",
    re.IGNORECASE,
)
_PRICED = re.compile(
    r"\b(?:stock|share|market|closing|exercise|strike|conversion|offering|subscription) prices?\b|"
    r"\bprices? (?:of|paid for) (?:the |our |a |an |one )?"
    r"(?:company's |class \w |common |ordinary ){0,3}(?:stock|shares?)\b|"
    r"\bcommon (?:share|stock)holders\W*$|\bassuming dilution\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"\W{0,4}(?:basic|diluted|basic and diluted)\W{0,4}", re.IGNORECASE)
_AVERAGE = re.compile(r"used|weighted|average|shares outstanding", re.IGNORECASE)
_MOVED = re.compile(r"issued|repurchase|withheld|purchase|exercise|retire", re.IGNORECASE)
_MONEY_ROW = re.compile(r"[$€£]|\bdividends?\b")
_SHARES_WORD = re.compile(r"\bshares\b", re.IGNORECASE)
_DILUTED = re.compile(r"\b(?:basic|diluted|dilution|dilutive)\b", re.IGNORECASE)
_OWN_SCALE = re.compile(rf"\((?:in )?(?:\$ ?)?(?:amounts )?(?:in )?(?P<word>{SCALE})s?\)", re.IGNORECASE)
_HEADING = 400
"""Characters; a longer text is a page, whose scale is not cached."""

ScaledUnit = tuple[str, int]
"""Unit and multiplier of a figure: ("USD", 1_000_000)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """``money`` multiplies amounts, ``shares`` share counts. Per-share amounts and ratios are never scaled."""

    money: int = 1
    shares: int = 1
    shares_exempt: bool = False
    """The scale is announced "except share data"."""
    currency: str = "USD"
    named: str | None = field(default=None, compare=False)
    """The currency that the text names, or the sign or word that several share; None if it names none."""

    def reported_in(self, currency: str) -> Self:
        """This scale for tables in ``currency``, unless it names another."""
        own = currency if self.named is None else currency_of(self.named, currency)
        return self if own == self.currency else replace(self, currency=own)


def read_scale(text: str) -> Scale | None:
    """The scale that ``text`` (a heading, or the top of a page) announces, if any."""
    return _scale_of_heading(text) if len(text) <= _HEADING else _scale_in(text)


@lru_cache(maxsize=4096)  # labels and headings are read several times
def _scale_of_heading(text: str) -> Scale | None:
    return _scale_in(text)


def _scale_in(text: str) -> Scale | None:
    printed, text = text, text.lower()
    match = next(filter(None, (_SCALE.search(text, *part) for part in _around_scales(text))), None)
    if match is None:
        return None
    word = next(value for value in match.groups() if value)
    money = shares = _WORDS[word]
    nearby = text[max(0, match.start() - 60) : match.end() + 160]
    exempt = False
    if not _BOTH_IN.search(nearby):
        if own := _SHARES_IN.search(nearby):
            shares = _WORDS[own["after"].lower()]
        elif _EXCEPT_SHARES.search(nearby):
            shares, exempt = 1, True
    named = currency_beside(printed if len(printed) == len(text) else text, match.start(), match.end())
    return Scale(money, shares, exempt, "USD" if named is None or named in SHARED else named, named)


def _around_scales(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the parts of ``text`` around words of scale; they do not overlap."""
    begin = end = -1
    for hint in _SCALE_HINT.finditer(text):
        if hint.start() - _BEFORE > end:
            if end >= 0:
                yield begin, end
            begin = max(0, hint.start() - _BEFORE)
        end = hint.end() + _AFTER
    if end >= 0:
        yield begin, end


@dataclass(frozen=True, slots=True)
class _UnitWords:
    """What the label of a row, and the heading over it, tell about its unit."""

    per_share: bool
    per_share_heading: bool
    per_share_row: bool
    shares: bool
    shares_used: bool
    """The heading over the row is "Shares used in computing ..."."""
    shares_section: bool
    average: bool
    """The label names shares from which a figure per share is computed."""
    moved: bool
    par_value: bool
    priced: bool
    """The label names a price of a share, or the earnings of those who hold it."""
    bare: bool
    """The label is only "Basic" or "Diluted"."""
    own_scale: int | None
    own_scale_heading: int | None


@lru_cache(maxsize=4096)  # called for each figure of a row
def _unit_words(label: str, heading: str) -> _UnitWords:
    own, above = _OWN_SCALE.search(label), _OWN_SCALE.search(heading)
    diluted = _SHARES_WORD.search(heading) is not None and _DILUTED.search(label) is not None
    per_share_heading = _PER_SHARE.search(heading) is not None
    by_section = _SHARE_SECTION.search(heading) is not None and not per_share_heading
    return _UnitWords(
        per_share=_PER_SHARE.search(label) is not None,
        per_share_heading=per_share_heading,
        per_share_row=_PER_SHARE_ROW.search(label) is not None,
        shares=_SHARES.search(label) is not None and not _AMOUNT.search(label) and not _COUNTED.search(label),
        shares_used=_SHARES_USED.search(heading) is not None,
        shares_section=not _MONEY_ROW.search(label) if by_section else diluted,
        average=_AVERAGE.search(label) is not None,
        moved=_MOVED.search(label) is not None,
        par_value=_PAR_VALUE.match(label) is not None,
        priced=_PRICED.search(label) is not None,
        bare=_BARE.fullmatch(label) is not None,
        own_scale=_WORDS[own["word"].lower()] if own else None,
        own_scale_heading=_WORDS[above["word"].lower()] if above else None,
    )


def is_per_share(label: str) -> bool:
    """Whether the ``label`` of a row names an amount per share."""
    return _PER_SHARE.search(label) is not None


def row_unit(
    label: str, section: str | None, value: float, decimals: int, scale: Scale, printed_currency: str | None = None
) -> ScaledUnit:
    """The unit of a figure in a row with this ``label``: ("USD", scale), ("USD/share", 1) or ("shares", scale)."""
    words = _unit_words(label, section or "")
    if printed_currency is None and _is_share_count(words, decimals, value):
        own = words.own_scale_heading if words.own_scale is None else words.own_scale
        if own is not None:
            return "shares", own
        return "shares", share_scale(value, decimals, scale, moved=words.moved)
    if _is_per_share(words, decimals, value) or (scale.money >= 1000 and _is_in_cents(words, decimals, value)):
        return f"{scale.currency}/share", 1
    if words.own_scale is None and scale.money >= 10**6 and abs(value) >= _MOST_PRINTED:
        return scale.currency, 1  # "$3,522,218,861" on a page of millions
    return scale.currency, scale.money if words.own_scale is None else words.own_scale


def share_scale(value: float, decimals: int, scale: Scale, *, moved: bool) -> int:
    """The multiplier of a share count.

    If shares are exempt from the scale but the count is below 100,000, the exemption was meant for per-share amounts:
    no company has so few outstanding. Shares ``moved`` in a year (issued, repurchased) can be few.
    """
    if scale.shares_exempt and not moved and (abs(value) < 100_000 or decimals):
        return scale.money
    return scale.shares


def _is_per_share(words: _UnitWords, decimals: int, value: float) -> bool:
    small = abs(value) < 10_000 and (decimals >= 2 or value == 0 or (abs(value) < 1_000 and decimals == 1))
    if words.per_share and not words.par_value:
        return small or (decimals == 0 and abs(value) < 100)
    return words.per_share_heading and small and (decimals >= 2 or value == 0) and words.per_share_row


def _is_in_cents(words: _UnitWords, decimals: int, value: float) -> bool:
    """Whether a figure with cents, in a table of thousands or millions, is per share by what is said around it."""
    if decimals != 2 or abs(value) >= (100 if words.bare and not words.per_share_heading else 10_000):
        return False
    return words.per_share_heading or words.priced or words.bare


def _is_share_count(words: _UnitWords, decimals: int, value: float) -> bool:
    price = decimals >= 2 and abs(value) < 100
    if words.per_share and not words.average:
        return words.shares_used and not price
    if price and words.per_share:
        return False
    if words.shares:
        return True
    return words.shares_section and not (price and words.per_share_heading)
