"""Inline XBRL in EDGAR HTML: the dei: cover tags, contexts and numeric facts (Inline XBRL 1.1; EDGAR Filer Manual
volume II, chapter 6)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import lxml.html

from finray.core.types import FiscalPeriod
from finray.core.vocabulary import NUMBERS
from finray.filings.dates import first_date, month_day
from finray.filings.facts import MAX_FACT, Facts, file_number, padded_cik

_PERIODS: dict[str, FiscalPeriod] = {"FY": "FY", "Q1": "Q1", "Q2": "Q2", "Q3": "Q3", "Q4": "Q4"}
_COVER_TAGS = frozenset(
    (
        "dei:entityregistrantname",
        "dei:entitycentralindexkey",
        "dei:tradingsymbol",
        "dei:documenttype",
        "dei:amendmentflag",
        "dei:entityfilenumber",
        "dei:documentperiodenddate",
        "dei:documentfiscalyearfocus",
        "dei:documentfiscalperiodfocus",
        "dei:currentfiscalyearenddate",
    )
)
_NO_PART = re.compile(r":(?:OperatingSegments|ReportableSegment\w*|ConsolidatedEntities|ParentCompany)Member$")
"""Members that describe consolidation, not a part of the company."""
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_YEAR = re.compile(r"\A(?:19|20)\d\d\Z")
_NUMBER = re.compile(r"\A\d[\d,.\s]*\Z|\A\.\d+\Z")
_DASHES = frozenset(("", "-", "–", "—", "nil", "none", "no"))
_WORDS = {word: float(number) for word, number in NUMBERS.items() if number <= 10}


@dataclass(frozen=True, slots=True)
class Context:
    """A fact's context: end and months of its period (0 for an instant), and whether it is about a part of the company
    (a segment, a class of stock).

    ``start`` is None for an instant. ``members`` name the part: (axis, member) as qualified names, sorted.
    """

    end: dt.date
    months: int
    has_dimensions: bool
    start: dt.date | None = None
    members: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """A filing's contexts and units by id, as its tags refer to them."""

    contexts: Mapping[str, Context] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NumericFact:
    """One ``ix:nonFraction``. ``value`` is scaled and signed, in ``unit`` ("usd", "shares", "usd/shares", "pure")."""

    concept: str
    context: str
    value: float
    unit: str
    scale: int
    element: lxml.html.HtmlElement


def has_inline_xbrl(root: lxml.html.HtmlElement) -> bool:
    return next(root.iter("ix:header", "ix:nonnumeric", "ix:nonfraction"), None) is not None


def cover_facts(root: lxml.html.HtmlElement) -> Facts:
    """Facts from the dei: tags; the first tag counts, since a filing of co-registrants names the parent first."""
    tags: dict[str, lxml.html.HtmlElement] = {}
    for element in root.iter("ix:nonnumeric", "ix:nonfraction"):
        name = (element.get("name") or "").lower()
        if name in _COVER_TAGS and name not in tags and (element.text_content() or "").strip():
            tags[name] = element
    texts = {
        name.removeprefix("dei:"): " ".join(element.text_content().split())[:MAX_FACT] for name, element in tags.items()
    }
    form = texts.get("documenttype")
    amendment = texts.get("amendmentflag")
    flag = None if amendment is None else amendment.lower() in ("true", "☒", "yes", "x", "þ")
    year = texts.get("documentfiscalyearfocus", "")
    return Facts(
        company=texts.get("entityregistrantname"),
        form=form.upper() if form else None,
        cik=padded_cik(texts.get("entitycentralindexkey", "")),
        ticker=_ticker(texts.get("tradingsymbol")),
        commission_file_number=file_number(texts.get("entityfilenumber", "")),
        amendment=True if form and form.upper().endswith("/A") else flag,
        period_end=first_date(texts.get("documentperiodenddate", "")),
        fiscal_year=int(year) if _YEAR.match(year) else None,
        fiscal_period=_PERIODS.get(texts.get("documentfiscalperiodfocus", "").upper()),
        fiscal_year_end=month_day(texts.get("currentfiscalyearenddate", "")),
    )


def _ticker(text: str | None) -> str | None:
    if (
        text is None
        or not re.fullmatch(r"[A-Za-z0-9.\-/ ]{1,12}", text)
        or text.lower() in ("n/a", "none", "not applicable")
    ):
        return None
    return text.upper()


def words_of_name(name: str) -> list[str]:
    """ "us-gaap:OtherLiabilitiesCurrent" as ["Other", "Liabilities", "Current"]."""
    return _CAMEL.findall(name.rpartition(":")[2])


def part_of(context: Context) -> str | None:
    """The part of the company that ``context`` is about, in words ("Americas segment"); None for the whole."""
    names = [
        " ".join(words_of_name(member.removesuffix("Member")))
        for _, member in context.members
        if not _NO_PART.search(member)
    ]
    return ", ".join(name for name in names if name) or None


def contexts(root: lxml.html.HtmlElement) -> dict[str, Context]:
    """Contexts by id, without those whose dates cannot be read."""
    found: dict[str, Context] = {}
    for element in root.iter("xbrli:context", "context"):
        context = _context(element)
        if context is not None:
            found[element.get("id") or ""] = context
    return found


def _context(element: lxml.html.HtmlElement) -> Context | None:
    start = end = None
    dimensions = False
    members: list[tuple[str, str]] = []
    for child in element.iterdescendants():
        name = child.tag.rpartition(":")[2] if isinstance(child.tag, str) else ""
        if name in ("instant", "enddate"):
            end = first_date(child.text_content())
        elif name == "startdate":
            start = first_date(child.text_content())
        elif name in ("explicitmember", "typedmember"):
            dimensions = True
            members.append(((child.get("dimension") or "")[:MAX_FACT], child.text_content().strip()[:MAX_FACT]))
    if end is None:
        return None
    months = 0 if start is None else max(1, round(((end - start).days + 1) / 30.44))
    return Context(end, months, dimensions, start, tuple(sorted(members)))


def units(root: lxml.html.HtmlElement) -> dict[str, str]:
    """Units by id: "usd", "shares", "usd/shares", "pure"."""
    found = {}
    for element in root.iter("xbrli:unit", "unit"):
        measures = [
            child.text_content().strip().rpartition(":")[2].lower()
            for child in element.iterdescendants()
            if isinstance(child.tag, str) and child.tag.rpartition(":")[2] == "measure"
        ]
        found[element.get("id") or ""] = "/".join(measures)
    return found


def numeric_facts(root: lxml.html.HtmlElement) -> Iterator[NumericFact]:
    """Each ``ix:nonFraction`` that prints a number, in document order."""
    names = units(root)
    for element in root.iter("ix:nonfraction"):
        scale_text = element.get("scale") or "0"
        if not re.fullmatch(r"[+-]?\d{1,2}", scale_text):
            continue
        value = printed_number(element.text_content())
        if value is None:
            continue
        scale = int(scale_text)
        sign = -1 if element.get("sign") == "-" else 1
        unit = element.get("unitref") or ""
        yield NumericFact(
            concept=(element.get("name") or "")[:MAX_FACT],
            context=element.get("contextref") or "",
            value=sign * value * 10.0**scale,
            unit=names.get(unit, unit.lower()),
            scale=scale,
            element=element,
        )


def printed_number(text: str) -> float | None:
    """The number that an ``ix:nonFraction`` prints, without sign: "1,234.5", "—" (zero), "three". None for others."""
    text = text.strip().strip("$€£()%").strip()
    if len(text) > MAX_FACT:
        return None
    if text.lower() in _DASHES:
        return 0.0
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if not text.isascii() or not _NUMBER.match(text):
        return None
    digits = "".join(text.replace(",", "").split())
    return float(digits) if digits.count(".") <= 1 else None
