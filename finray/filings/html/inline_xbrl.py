"""Inline XBRL in EDGAR HTML: the dei: cover tags, contexts and numeric facts (Inline XBRL 1.1; EDGAR Filer Manual
volume II, chapter 6)."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from lxml import etree

from finray.core.filing import FiscalPeriod
from finray.core.vocabulary import NUMBERS
from finray.filings.cover.facts import MAX_FACT, Facts, file_number, padded_cik
from finray.filings.dates import first_date, month_day
from finray.filings.html.tree import Element, one_line, text_content
from finray.filings.tables.tags import Context

TAGGED_NUMBER = "ix:nonfraction"
"""HTML parsers keep the prefix and lower the case."""
_PERIODS: dict[str, FiscalPeriod] = {period: period for period in get_args(FiscalPeriod)}
_TICKER = re.compile(r"(?!(?:n/a|none|not applicable)$)[a-z\d.\-/ ]{1,12}", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"\A(?:19|20)\d\d\Z")
_NUMBER = re.compile(r"\A\d[\d,.\s]*\Z|\A\.\d+\Z")
_WORDS = dict.fromkeys(("", "-", "–", "—", "nil", "none", "no"), 0.0) | {
    word: float(number) for word, number in NUMBERS.items() if number <= 10
}


@dataclass(frozen=True, slots=True)
class NumericFact:
    """One ``ix:nonFraction``. ``value`` is scaled and signed, in ``unit`` ("usd", "shares", "usd/shares", "pure")."""

    concept: str
    context: str
    value: float
    unit: str
    scale: int
    element: Element


def has_inline_xbrl(root: Element) -> bool:
    return next(root.iter("ix:header", "ix:nonnumeric", TAGGED_NUMBER), None) is not None


def cover_facts(root: Element) -> Facts:
    """The facts of the dei: tags. The first tag of a name counts: a filing of co-registrants names the parent first."""
    texts: dict[str, str] = {}
    for element in root.iter("ix:nonnumeric", TAGGED_NUMBER):
        prefix, _, name = (element.get("name") or "").lower().partition(":")
        if prefix == "dei" and name not in texts and (text := one_line(element)[:MAX_FACT]):
            texts[name] = text
    form = texts.get("documenttype", "").upper() or None
    amendment = texts.get("amendmentflag")
    flag = None if amendment is None else amendment.lower() in ("true", "☒", "yes", "x", "þ")
    year = texts.get("documentfiscalyearfocus", "")
    return Facts(
        company=texts.get("entityregistrantname"),
        form=form,
        cik=padded_cik(texts.get("entitycentralindexkey", "")),
        ticker=ticker.upper() if _TICKER.fullmatch(ticker := texts.get("tradingsymbol", "")) else None,
        commission_file_number=file_number(texts.get("entityfilenumber", "")),
        amendment=True if form and form.endswith("/A") else flag,
        period_end=first_date(texts.get("documentperiodenddate", "")),
        fiscal_year=int(year) if _YEAR.match(year) else None,
        fiscal_period=_PERIODS.get(texts.get("documentfiscalperiodfocus", "").upper()),
        fiscal_year_end=month_day(texts.get("currentfiscalyearenddate", "")),
    )


def contexts(root: Element) -> dict[str, Context]:
    """Contexts by id, without those whose dates cannot be read."""
    read = {element.get("id") or "": _context(element) for element in root.iter("xbrli:context", "context")}
    return {name: context for name, context in read.items() if context is not None}


def _context(element: Element) -> Context | None:
    start = end = None
    members: list[tuple[str, str]] = []
    for child in element.iterdescendants(etree.Element):
        name = child.tag.rpartition(":")[2]
        if name in ("instant", "enddate"):
            end = _read_date(text_content(child))
        elif name == "startdate":
            start = _read_date(text_content(child))
        elif name in ("explicitmember", "typedmember"):
            members.append(((child.get("dimension") or "")[:MAX_FACT], text_content(child).strip()[:MAX_FACT]))
    if end is None:
        return None
    months = 0 if start is None else max(1, round(((end - start).days + 1) / 30.44))
    return Context(end, months, start, tuple(sorted(members)))


@lru_cache(maxsize=1024)  # a filing has hundreds of contexts of a few periods
def _read_date(text: str) -> dt.date | None:
    return first_date(text)


def units(root: Element) -> dict[str, str]:
    """Units by id: "usd", "shares", "usd/shares", "pure"."""
    return {
        element.get("id") or "": "/".join(
            text_content(measure).strip().rpartition(":")[2].lower()
            for measure in element.iterdescendants("xbrli:measure", "measure")
        )
        for element in root.iter("xbrli:unit", "unit")
    }


def numeric_facts(root: Element) -> Iterator[NumericFact]:
    """Each ``ix:nonFraction`` that prints a number, in document order."""
    names = units(root)
    facts = (numeric_fact(element, names) for element in root.iter(TAGGED_NUMBER))
    return (fact for fact in facts if fact is not None)


def numeric_fact(element: Element, names: Mapping[str, str]) -> NumericFact | None:
    """The fact of an ``ix:nonFraction``, None if it prints no number; ``names`` are the document's units by id."""
    scale, value = read_power(element.get("scale")), printed_number(text_content(element))
    if scale is None or value is None:
        return None
    unit = element.get("unitref") or ""
    return NumericFact(
        concept=(element.get("name") or "")[:MAX_FACT],
        context=element.get("contextref") or "",
        value=(-value if element.get("sign") == "-" else value) * 10.0**scale,
        unit=names.get(unit, unit.lower()),
        scale=scale,
        element=element,
    )


@lru_cache(maxsize=256)
def read_power(text: str | None) -> int | None:
    """The power of ten in a tag's ``scale``; None if it is not a number of at most two digits."""
    return int(text or 0) if re.fullmatch(r"(?:[+-]?\d{1,2})?", text or "") else None


def printed_number(text: str) -> float | None:
    """The number that an ``ix:nonFraction`` prints, without its sign: "1,234.5", "—" (zero), "three". None for other
    texts."""
    text = text.strip().strip("$€£()%").strip()
    if len(text) > MAX_FACT:
        return None
    if (word := text.lower()) in _WORDS:
        return _WORDS[word]
    if not text.isascii() or not _NUMBER.match(text):
        return None
    digits = "".join(text.replace(",", "").split())
    return float(digits) if digits.count(".") <= 1 else None
