"""Inline XBRL in EDGAR HTML: the dei: cover tags, contexts and numeric facts (Inline XBRL 1.1; EDGAR Filer Manual
volume II, chapter 6). benchmarks/xbrl_facts.py compares all of them with an XBRL processor."""

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from lxml import etree

from finray.core.filing import FiscalPeriod
from finray.filings.cover.facts import MAX_FACT, Facts, file_number, padded_cik
from finray.filings.dates import first_date
from finray.filings.html.transformations import (
    transformed_boolean,
    transformed_date,
    transformed_month_day,
    transformed_number,
)
from finray.filings.html.tree import Element, text_content
from finray.filings.tables.tags import Context

TAGGED_NUMBER = "ix:nonfraction"
"""HTML parsers keep the prefix and lower the case."""
_PERIODS: dict[str, FiscalPeriod] = {period: period for period in get_args(FiscalPeriod)}
_TICKER = re.compile(r"(?!(?:n/a|none|not applicable)$)[a-z\d.\-/ ]{1,12}", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"\A(?:19|20)\d\d\Z")
_TIME = re.compile(r"T(?=\d\d:)", re.ASCII)
_MIDNIGHT = re.compile(r"T00:00(?::00(?:\.0{1,9})?)?(?:Z|[+-]\d\d:\d\d)?\s*\Z", re.ASCII)
_MOST_CONTINUATIONS = 100


@dataclass(frozen=True, slots=True)
class NumericFact:
    """One ``ix:nonFraction``. ``value`` is scaled and has the sign of the tag, whatever is printed; it is in ``unit``
    ("usd", "shares", "usd/shares", "pure")."""

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
    tags: dict[str, tuple[str, str | None]] = {}
    more = {element.get("id") or "": element for element in root.iter("ix:continuation")}
    for element in root.iter("ix:nonnumeric", TAGGED_NUMBER):
        prefix, _, name = (element.get("name") or "").lower().partition(":")
        if prefix == "dei" and name not in tags and not is_nil(element) and (text := _whole_text(element, more)):
            tags[name] = text, element.get("format")
    texts = {name: text for name, (text, _) in tags.items()}
    form = texts.get("documenttype", "").upper() or None
    flag = transformed_boolean(*tags["amendmentflag"]) if "amendmentflag" in tags else None
    year = texts.get("documentfiscalyearfocus", "")
    return Facts(
        company=texts.get("entityregistrantname"),
        form=form,
        cik=padded_cik(texts.get("entitycentralindexkey", "")),
        ticker=ticker.upper() if _TICKER.fullmatch(ticker := texts.get("tradingsymbol", "")) else None,
        commission_file_number=file_number(texts.get("entityfilenumber", "")),
        amendment=True if form and form.endswith("/A") else flag,
        period_end=transformed_date(*tags.get("documentperiodenddate", ("", None))),
        fiscal_year=int(year) if _YEAR.match(year) else None,
        fiscal_period=_PERIODS.get(texts.get("documentfiscalperiodfocus", "").upper()),
        fiscal_year_end=transformed_month_day(*tags.get("currentfiscalyearenddate", ("", None))),
    )


def is_nil(element: Element) -> bool:
    """Whether a tag says that its fact has no value (``xsi:nil``), whatever is printed."""
    return (element.get("xsi:nil") or "").strip() in ("true", "1")


def _whole_text(element: Element, more: Mapping[str, Element]) -> str:
    """The text of a tag and of the ``ix:continuation`` elements that go on with it, without what ``ix:exclude`` leaves
    out; at most 300 characters."""
    parts: list[str] = []
    at: Element | None = element
    for _ in range(_MOST_CONTINUATIONS):
        if at is None or sum(map(len, parts)) > MAX_FACT:
            break
        parts.append(_included_text(at))
        at = more.get(at.get("continuedat") or "")
    return " ".join(" ".join(parts).split())[:MAX_FACT]


def _included_text(element: Element) -> str:
    excluded = set(element.iter("ix:exclude"))
    if not excluded:
        return text_content(element)
    parts: list[str] = []
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if event == "start" and node in excluded:
            walk.skip_subtree()
        elif event == "start":
            parts.append(node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
    return "".join(parts)


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
            end = _last_day(text_content(child))
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
    return first_date(_TIME.split(text, 1)[0])


def _last_day(text: str) -> dt.date | None:
    """The day at whose end a period ends. Midnight, "2025-01-01T00:00:00", ends the day before (XBRL 2.1, section
    4.7.2)."""
    date = _read_date(text)
    return date - dt.timedelta(days=1) if date is not None and _MIDNIGHT.search(text) else date


def units(root: Element) -> dict[str, str]:
    """Units by id: "usd", "shares", "usd/shares", "pure"; the measures of a product are joined by "*"."""
    return {element.get("id") or "": _unit(element) for element in root.iter("xbrli:unit", "unit")}


def _unit(element: Element) -> str:
    over: list[str] = []
    under: list[str] = []
    for measure in element.iterdescendants("xbrli:measure", "measure"):
        divides = next(measure.iterancestors("xbrli:unitdenominator", "unitdenominator"), None) is not None
        (under if divides else over).append(text_content(measure).strip().rpartition(":")[2].lower())
    return "/".join("*".join(each) for each in (over, under) if each)


def numeric_facts(root: Element) -> Iterator[NumericFact]:
    """Each ``ix:nonFraction`` that prints a number, in document order."""
    names = units(root)
    facts = (numeric_fact(element, names) for element in root.iter(TAGGED_NUMBER))
    return (fact for fact in facts if fact is not None)


def numeric_fact(element: Element, names: Mapping[str, str]) -> NumericFact | None:
    """The fact of an ``ix:nonFraction``, None if it prints no number or is nil; ``names`` are the document's units by
    id."""
    value = tagged_value(element)
    if value is None:
        return None
    unit = element.get("unitref") or ""
    return NumericFact(
        concept=(element.get("name") or "")[:MAX_FACT],
        context=element.get("contextref") or "",
        value=value,
        unit=names.get(unit, unit.lower()),
        scale=read_power(element.get("scale")) or 0,
        element=element,
    )


def tagged_value(element: Element) -> float | None:
    """The value of an ``ix:nonFraction``: the printed number as its format reads it, scaled, with the sign of the tag.
    None if it is nil or no number is printed."""
    scale = read_power(element.get("scale"))
    number = None if is_nil(element) else transformed_number(text_content(element), element.get("format"))
    if scale is None or number is None:
        return None
    value = float(number.scaleb(scale))
    if not math.isfinite(value):
        return None
    return -value if element.get("sign") == "-" and value else value


@lru_cache(maxsize=256)
def read_power(text: str | None) -> int | None:
    """The power of ten in a tag's ``scale``; None if it is not a number of at most two digits."""
    return int(text or 0) if re.fullmatch(r"(?:[+-]?\d{1,2})?", text or "") else None
