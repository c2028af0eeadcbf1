"""A question as it was read: companies, periods, forms, metrics, statements, and what to compute."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from finray.core.filing import Statement
from finray.core.period import Period
from finray.core.plan import Measures

SpanKind = Literal["company", "period", "form", "statement", "metric", "definition", "unit", "operator"]
PIECES = " … "
"""Joins words of one quantity that are not adjacent in the question."""
AskedUnit = Literal["money", "percent", "ratio", "per share", "shares", "count", "days"]


@dataclass(frozen=True, slots=True)
class Span:
    """``Query.text[start:end]`` was read as ``value``: a company's key, a canonical line item or formula, a form ..."""

    kind: SpanKind
    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class Shape:
    """How a figure is to be written. ``scale`` is the word for the scale of amounts ("million"), None if the question
    leaves it open. ``currency`` is the ISO 4217 code of amounts, "" if they are not money. ``unit`` is what the figure
    must measure, None if the question does not say."""

    scale: str | None
    decimals: int | None
    currency: str = "USD"
    unit: AskedUnit | None = None


@dataclass(frozen=True, slots=True)
class OwnName:
    """``name`` of a question that ``company``, a key of the catalog, calls its own, by what its filing says.

    ``relation`` is "company" for a former or short name, "part" for a brand, a subsidiary or a segment: only rows and
    sentences that print one of ``spellings`` answer for a part. ``sentence`` is the proof, on ``page`` of the filing;
    it is empty if the name is only a thing that the company's filings write of.
    """

    name: str
    company: str
    relation: Literal["company", "part"]
    spellings: tuple[str, ...]
    filing_id: str = ""
    page: int = 0
    sentence: str = ""
    with_company: bool = False
    """The question names the company, too: "Walmart International"."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, understood.

    ``question`` is the question as asked, ``text`` the same without its instructions and boilerplate (HiREC's q').
    ``companies`` are keys of the company catalog, ``unknown_companies`` names that the index does not hold.
    ``metrics`` are canonical line items or named formulas in the order they appear; ``statements`` the primary
    statements that the question names (``statements_named``) or that its metrics imply.
    """

    question: str
    text: str
    companies: tuple[str, ...] = ()
    unknown_companies: tuple[str, ...] = ()
    periods: tuple[Period, ...] = ()
    source: tuple[Period, ...] = ()
    """Those of ``periods`` that name the filing to read, if the question asks for others inside it: "in the 2017 annual
    report, what is expected for 2021?"."""
    again: tuple[Period, ...] = ()
    """Those of ``source`` whose own figures are asked for too: "in the 2018 report, sales of 2017 and 2018"."""
    last_years: int | None = None
    forms: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    statements_named: tuple[Statement, ...] = ()
    names: tuple[str, ...] = ()
    """The words by which the question calls its companies."""
    unexplained: tuple[str, ...] = ()
    """Words that are not a company, a period, a metric or common in numeric questions. If there are any, the question
    asks for something narrower than its metrics ("wages as a percent of sales", "adjusted EBITDA")."""
    terms: tuple[str, ...] = ()
    """Words added to ``text`` for lexical search: the accounting wording behind everyday terms."""
    spans: tuple[Span, ...] = ()
    """Which words of ``text`` were read as what, in reading order."""
    intents: frozenset[str] = frozenset()
    """What kind of answer is asked for; question/intents.toml has the names."""
    shape: Shape = Shape(None, None)
    """How a figure is to be written."""
    measures: tuple[Measures, ...] = ()
    """Readings of what is to be computed, the likeliest first; empty if the answer is not a figure."""
    imagined: tuple[str, ...] = ()
    """Passages that a query writer imagined. The search uses their vectors beside that of ``question``, if that is not
    empty."""
    anywhere: bool = False
    """Whether filings of all companies are searched if the index has none of a named one: it may be a nickname or a
    former name, and a model judges what is found."""
    operation: str = ""
    """What to do with ``quantities`` according to the trained reader: "value", "growth", "share" …; "defined" if the
    question says how; "" if unknown."""
    quantities: tuple[str, ...] = ()
    """The words of the question that name each figure, as the tagger reads them, joined by PIECES if not adjacent."""
    own_words: str = ""
    """The text as asked, if ``question`` and ``text`` have a metric's ``usual_name`` instead of the words asked."""
    usual_name: str = ""

    own_names: tuple[OwnName, ...] = ()
    """Names in the question that are not a registrant's, with the company that calls them its own."""
    unclear: str = ""
    """What the question leaves open, for people: which of several companies it means."""
    over_all: bool = False
    """The question compares all companies of the index: "which of them …"."""

    @property
    def part_names(self) -> tuple[str, ...]:
        """The spellings of brands, subsidiaries and segments that rows and sentences must print to answer; none if a
        model judges what is found."""
        if self.anywhere:
            return ()
        parts = (own for own in self.own_names if own.relation == "part" and not own.with_company)
        return tuple(dict.fromkeys(spelling for own in parts for spelling in own.spellings))

    @property
    def worded(self) -> str:
        """``text`` in the question's own words, for people."""
        return self.own_words or self.text

    @property
    def filed(self) -> tuple[Period, ...]:
        """The periods whose filings may answer."""
        return self.source or self.periods

    @property
    def asked(self) -> tuple[Period, ...]:
        """The periods whose figures are asked for."""
        return tuple(p for p in self.periods if p not in self.source or p in self.again) or self.periods

    @property
    def years(self) -> tuple[int, ...]:
        return tuple(sorted({period.year for period in self.periods}))

    @property
    def latest(self) -> Period | None:
        """The period whose filing should hold the answer: filings print comparatives of earlier ones."""
        return max(self.filed, key=_recency) if self.periods else None


def _recency(period: Period) -> tuple[int, int, dt.date]:
    order = {"Q1": 1, "Q2": 2, "Q3": 3, "Q4": 4, "FY": 4, None: 0}
    return (period.year, order[period.part], period.date or dt.date.min)
