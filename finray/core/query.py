"""A question, read: companies, periods, forms, metrics, statements, and what is to be computed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from finray.core.filing import Statement
from finray.core.period import Period
from finray.core.plan import Measures

SpanKind = Literal["company", "period", "form", "statement", "metric", "definition", "unit", "operator"]
PIECES = " … "
"""Stands between the pieces of a quantity's words that are not next to one another."""
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
    """``scale`` is the word an amount is shown in, None where the question leaves it open. ``currency`` is the ISO 4217
    code of amounts, "" if they are not money. ``unit`` is what the figure must measure, None if the question does not
    say."""

    scale: str | None
    decimals: int | None
    currency: str = "USD"
    unit: AskedUnit | None = None


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
    """Words that are neither company, period, metric nor the common words of a numeric question: with any left, the
    question asks for something narrower than its metrics ("wages as a percent of sales", "adjusted EBITDA")."""
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
    """Passages that a query writer imagined; their vectors are searched with that of ``question``, unless that is
    empty."""
    anywhere: bool = False
    """Whether filings of all companies are searched if the index has none of a named one: it may be a nickname or a
    former name, and a model judges what is found."""
    operation: str = ""
    """What the trained reader finds is done with ``quantities``: "value", "growth", "share" …; "defined" if the
    question says how; "" if it is not known."""
    quantities: tuple[str, ...] = ()
    """The words of the question that name each figure, as the tagger reads them; PIECES is between those apart."""
    own_words: str = ""
    """The text as asked, if the ``usual_name`` of a metric stands in ``question`` and ``text`` in place of it."""
    usual_name: str = ""

    @property
    def worded(self) -> str:
        """``text`` for people: in the question's own words."""
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
