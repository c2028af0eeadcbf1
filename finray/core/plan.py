"""The computation that a numeric question asks for: metrics, operands and the program over them.

A plan makes a numeric answer checkable: the curator asks for each operand that is not covered yet, the answerer reads
the operands and runs the program, and both are shown to the person who asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from finray.core.filing import Filing, LineItem
from finray.core.period import Period

Unit = Literal["ratio", "percent", "USD", "days", "USD/share", "shares"]
Measure = Literal["money", "shares", "per share", "percent"]
Kind = Literal[
    "value", "growth", "change", "average", "total", "cagr", "difference", "highest", "which", "trend", "versus", "sign"
]


@dataclass(frozen=True, slots=True)
class Formula:
    """A metric. ``names`` are what people call it, ``expression`` is over canonical line items and phrases."""

    key: str
    names: tuple[str, ...]
    expression: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase that some row of a table may print. ``text`` is as the question has it, ``words`` are for
    comparison, ``metrics`` the canonical line items in it with the words that name each."""

    text: str
    words: tuple[str, ...]
    metrics: tuple[tuple[str, frozenset[str]], ...]
    measure: Measure
    instant: bool = False
    """The question asks for the balance on a day ("at the end of"), not for a flow over a period."""
    must: frozenset[str] = frozenset()
    """The row itself must hold one of these words: "Increase in inventories", not inventories."""
    stated: bool = False
    """The question names the measure ("in USD millions"), so no row of another measure can answer."""

    @property
    def opening(self) -> bool:
        """Whether the balance at the beginning of the period is asked for."""
        return bool({"begin", "beginn", "open"} & set(self.words))

    @property
    def name(self) -> str:
        """The phrase as the name of an operand in a program: "current_federal_income_tax_expense"."""
        return "_".join(re.findall(r"[a-z][a-z0-9]*", self.text.lower())[:8]) or "amount"


@dataclass(frozen=True, slots=True)
class Measures:
    """One reading of what the question measures. ``formulas`` are over canonical line items and the names of
    ``phrases``, which are looked up by their words."""

    formulas: tuple[Formula, ...]
    phrases: Mapping[str, Phrase] = field(default_factory=dict)
    settled: bool = False
    """The formula already has the comparison or the sum that the question asks for; do not add another."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One number that the program needs: ``item`` of one company and period, called ``name`` in the program.

    ``item`` is a canonical line item, or the name of ``phrase``, which is looked up by its words. ``wording`` is for
    people.
    """

    name: str
    company: str
    item: str
    period: Period
    wording: str
    phrase: Phrase | None = None

    def described(self, company: str) -> str:
        """For a person: "revenue of Acme Corp for FY 2023"."""
        return f"{self.wording} of {company} for {self.period}"


@dataclass(frozen=True, slots=True)
class Plan:
    """How to compute an answer. ``program`` is over names of operands, ``unit`` is the unit of its value, ``metric``
    is its name for people.

    ``parts`` are programs whose values are shown beside the result (the years of a trend, the companies compared).
    For "highest", ``program`` is empty and the value is that of the second metric of the winner.
    """

    kind: Kind
    program: str
    unit: Unit
    metric: str
    operands: tuple[Operand, ...]
    parts: tuple[tuple[str, str], ...] = ()
    part_unit: Unit = "USD"
    choose: tuple[tuple[str, str, str], ...] = ()
    """For "highest": (company, program that ranks, program that answers), one for each company."""
    lowest: bool = False
    """For "highest" and "which", the smallest wins. For "trend" and "versus", the question claims a fall, or less. For
    "difference", the later figure is subtracted from the earlier one."""
    spelled: bool = False
    """The question itself names every operand, not only the formula."""
    derived: tuple[str, ...] = ()
    """Periods computed as differences of others: "Q4 2022: the year less nine months"."""
    lacking: tuple[str, ...] = ()
    """Names of companies that the question compares and the index has no figure of."""

    def __str__(self) -> str:
        program = self.program or "; ".join(f"{company}: {rank}" for company, rank, _ in self.choose)
        return f"{self.kind} of {self.metric}: {program}"


@dataclass(frozen=True, slots=True)
class Found:
    """``operand`` read from ``line_item`` of ``filing``. ``value`` is in base units with the sign that formulas expect:
    what was paid or spent is positive. ``unit`` is that of ``value``; every currency counts as dollars, and
    ``currency`` is its ISO 4217 code, "" for what is not money, such as a number of stores."""

    operand: Operand
    filing: Filing
    line_item: LineItem
    value: float
    unit: Unit
    currency: str
    score: float = 1.0
    """How well the row fits a phrase; 1 for a row that a formula names."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which operands of ``plan`` some passages cover: those found, by name, and those absent."""

    plan: Plan
    found: Mapping[str, Found]
    absent: tuple[Operand, ...]
