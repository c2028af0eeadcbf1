"""From a question to a program: which line items of which company and period, joined by which arithmetic.

A plan is what makes a numeric answer checkable: the curator asks for each operand that is not covered yet, the
answerer reads the operands and runs the program, and both are shown to the person who asked.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from finray.accounting.arithmetic import names
from finray.accounting.formulas import Formula, Unit, at_period
from finray.accounting.mentions import mentions
from finray.answering.measures import Measures
from finray.answering.phrase import Phrase
from finray.filings.canonical import canonical_items
from finray.retrieval.query import Period, Query

Kind = Literal[
    "value", "growth", "change", "average", "total", "cagr", "difference", "highest", "which", "trend", "versus", "sign"
]

_GROWTH = re.compile(
    r"\b(?:growth|grow|grew|grown|increas\w*|decreas\w*|declin\w*|chang\w*|yoy|y/y|"
    r"year[- ]over[- ]year|year[- ]on[- ]year|"
    r"improv\w*|drop\w*|rise|risen|rose|fell|fall\w*|reduc\w*|up or down)\b",
    re.I,
)
_PERCENT = re.compile(
    r"%|\bper ?cent\w*\b|\bgrowth rate\b|\brate of growth\b|\bgrowth\b|\byoy\b|\byear[- ]o\w+[- ]year\b", re.I
)
_AVERAGE = re.compile(r"(?<!weighted )(?<!weighted-)\b(?:average|mean)\b", re.I)
_SUMMED = re.compile(r"\b(?:sum|cumulative|combined|altogether|added? up)\b", re.I)
_MOVED = re.compile(
    r"\b(?:changes?|increases?|decreases?|decline|growth(?: rate)?)(?:\s*+(?:/\s*+)?\(?(?:increase|decrease)\)?)?"
    r"\s++(?:of|in)\b|"
    r"(?:%|per ?cent(?:age)?)\s+(?:change|increase|decrease|growth|decline)",
    re.I,
)
_AVERAGE_MOVE = re.compile(r"\b(?:average|mean)\s+(?:\w+\s+)?(?:changes?|increases?|decreases?|growth)\b", re.I)
_TOTAL = re.compile(r"\b(?:total|sum|cumulative|combined|altogether|in aggregate|overall|add(?:ed|ing)? up)\b", re.I)
_CAGR = re.compile(r"\bCAGR\b|\bcompound(?:ed)? annual\b", re.I)
_DIFFERENCE = re.compile(
    r"\b(?:difference|differ|compar\w+|higher|lower|more|less|larger|greater|versus|vs\.?|exceed\w*)\b", re.I
)
_APART = re.compile(
    r"\b(?:higher|lower|more|less|larger|smaller) (?:or \w+ )?(?:was|were|is|are)\b|\bdifference\b", re.I
)
_HIGHEST = re.compile(r"\b(highest|largest|greatest|most|biggest|maximum|lowest|smallest|least|minimum)\b", re.I)
_LOWEST = frozenset({"lowest", "smallest", "least", "minimum"})
_LOWER = re.compile(r"\b(?:lower|less|smaller|fewer|cheaper)\b", re.I)
_COMPARES = re.compile(
    r"\b(?:more|higher|larger|greater|bigger|lower|less|smaller|fewer|exceed\w*|outperform\w*|most|least|best|worst|"
    r"highest|largest|greatest|biggest|maximum|lowest|smallest|minimum)\b",
    re.I,
)
_WHICH = re.compile(
    r"\b(?:which|what)\s+(?:one|company|companies|firm|business|filer|registrant|(?:fiscal\s+)?(?:years?|quarters?))\b|"
    r"\bwhich\s+(?:of|had|has|have|reported|generated|earned|spent|paid|was|is)\b|^\W*who\b|\bwhose\b",
    re.I,
)
_FALLS = re.compile(
    r"\b(?:decreas\w*|declin\w*|drop\w*|fell|fall\w*|reduc\w*|shrank|shrink\w*|lower|worsen\w*)\b", re.I
)
_YES_NO = re.compile(r"^\W*(?:as of [^,]{4,30},\s*)?(?:does|do|did|has|have|is|are|was|were)\b", re.I)
_SIGN = re.compile(r"\b(positive|negative)\b", re.I)
_SEVERAL_YEARS = re.compile(r"\b(?:[2-9]|1\d|two|three|four|five|six|seven|eight|nine|ten)[- ](?:\w+ )?years?\b", re.I)
_WORD = re.compile(r"\w+")
_MAX_YEARS = 12


@dataclass(frozen=True, slots=True)
class Operand:
    """One number that the program needs: ``name`` in the program, ``item`` of one company and period. ``item`` is a
    canonical line item, or the name of ``phrase``, which is looked up by its words."""

    name: str
    company: str
    item: str
    period: Period
    phrase: Phrase | None = None

    @property
    def wording(self) -> str:
        """What a person calls it."""
        return self.phrase.text if self.phrase is not None else canonical_items()[self.item].names[0]


@dataclass(frozen=True, slots=True)
class Plan:
    """``program`` is over operand names. ``unit`` is that of its value; ``metric`` what a person calls it.

    ``parts`` are programs whose values are shown beside the result (the years of a trend, the companies compared);
    for "highest", ``program`` is empty and the value is that of the second metric of the winner.
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
    """For "highest" and "which" the least wins; for "trend" and "versus" the question says that it fell or is less."""
    spelled: bool = False
    """The question itself names every operand; else the formula does."""


def asks_for_change(query: Query) -> bool:
    """Whether the question is about how a figure moved between periods."""
    return _GROWTH.search(query.text) is not None or (
        len(query.periods) > 1 and len(query.companies) < 2 and _DIFFERENCE.search(query.question) is not None
    )


def asks_for_aggregate(query: Query) -> bool:
    """Whether the question is about the average or the sum of several figures."""
    return asks_for_average(query) or (_SUMMED.search(query.text) is not None and not _moves(query.text))


def asks_for_average(query: Query) -> bool:
    moved = _moves(query.text)
    return _AVERAGE.search(query.text) is not None and (not moved or _AVERAGE_MOVE.search(query.text) is not None)


def asks_which(query: Query) -> bool:
    """Whether the answer is a company or a year: the one whose figure is the highest, or the lowest."""
    several = len(query.companies) > 1 or len(query.periods) > 1
    return several and _WHICH.search(query.text) is not None and _COMPARES.search(query.text) is not None


def _moves(text: str) -> bool:
    """Whether a change is asked for that is not itself a line item ("the net change in cash")."""
    for mention in reversed(mentions(text)):
        text = f"{text[: mention.start]} X {text[mention.end :]}"
    return _MOVED.search(text) is not None


def build_plan(
    query: Query,
    measures: Measures,
    companies: Sequence[str],
    latest: Period | None = None,
    years: Sequence[Period] = (),
) -> Plan | None:
    """The plan of ``query`` for ``companies`` (its own, or those that retrieval settled on), None where it measures
    nothing. ``latest`` is the period to take where the question names none; ``years``, oldest first, go before
    whatever it names."""
    found = measures.formulas
    if not found or not companies:
        return None
    periods = list(years) or _periods(query, latest)
    if not periods:
        return None
    builder = _Builder(many=len(companies) > 1, phrases=measures.phrases)
    text = query.text
    formula = found[0]
    if asks_which(query) and len(found) == 1:
        lowest = _LOWER.search(text) is not None or any(word.lower() in _LOWEST for word in _HIGHEST.findall(text))
        return builder.which(formula, companies, periods if len(companies) == 1 else periods[-1:], lowest)
    if len(companies) > 1:
        if len(companies) == 2 and _YES_NO.search(text) and _COMPARES.search(text):
            return builder.versus(formula, companies, periods[-1], _LOWER.search(text) is not None)
        if superlative := _HIGHEST.search(text):
            return builder.highest(
                _ordered(found, text, superlative.end()),
                companies,
                periods[-1],
                superlative.group(1).lower() in _LOWEST,
            )
        if len(companies) == 2 and _DIFFERENCE.search(query.question):
            return builder.difference(formula, companies, periods[-1], _PERCENT.search(query.question) is not None)
        return None
    company = companies[0]
    span = len(periods) > 1
    if not span and _SEVERAL_YEARS.search(text):
        return None  # the question spans years that could not be told: one year's figure would be wrong
    if _CAGR.search(text) and span:
        return builder.over(formula, company, periods, "cagr")
    if measures.settled and not (span and (_moves(text) or asks_for_average(query))):
        return replace(builder.single(formula, company, periods[-1], "value"), spelled=True)
    if span and asks_for_average(query):
        return builder.over(formula, company, periods, "average")
    if span and _TOTAL.search(text) and not _GROWTH.search(text) and not _APART.search(text):
        return builder.over(formula, company, periods, "total")
    if _YES_NO.search(text):
        if _SIGN.search(text):
            return builder.single(formula, company, periods[-1], "sign")
        if _GROWTH.search(text):
            return replace(
                builder.over(formula, company, _two(periods), "trend"), lowest=_FALLS.search(text) is not None
            )
    if _GROWTH.search(text) and (span or _PERCENT.search(text) or formula.unit == "percent" or _moves(text)):
        percent = _PERCENT.search(query.question) is not None and formula.unit != "percent"
        return builder.over(formula, company, _two(periods), "growth" if percent else "change")
    if len(periods) == 2 and _DIFFERENCE.search(text):
        percent = _PERCENT.search(query.question) is not None and formula.unit != "percent"
        return builder.over(formula, company, periods, "growth" if percent else "change")
    return builder.single(formula, company, periods[-1], "value")


def _periods(query: Query, latest: Period | None) -> list[Period]:
    """The periods to compute over, oldest first: one quarter, or every fiscal year that the question names."""
    quarters = [p for p in query.periods if p.part in ("Q1", "Q2", "Q3", "Q4")]
    years = sorted({p.year for p in query.periods if p.part in (None, "FY") and p.date is None})
    last = max(quarters, default=None) if quarters and not years else None
    if last is not None:
        return sorted(set(quarters))
    days = {p for p in query.periods if p.date is not None}
    if days and not years:
        return sorted(days, key=lambda period: (period.date or dt.date.min, period.months or 0))
    newest = years[-1] if years else (latest.year if latest is not None else None)
    if newest is None:
        return []
    if query.last_years:
        # Growth over n years runs from the year before them.
        growth = _GROWTH.search(query.text) is not None or _CAGR.search(query.text) is not None
        count = min(query.last_years, _MAX_YEARS) + growth
        if len(years) != 2 or years[1] - years[0] + 1 != count:
            return [Period(year, "FY") for year in range(newest - count + 1, newest + 1)]
    if (
        len(years) == 2
        and 1 < years[1] - years[0] < _MAX_YEARS
        and (asks_for_average(query) or (_TOTAL.search(query.text) and not _moves(query.text)))
    ):
        years = list(range(years[0], years[1] + 1))
    return [Period(year, "FY") for year in (years or [newest])]


def _two(periods: Sequence[Period]) -> list[Period]:
    """First and last; a single period is set against the one a year before."""
    if len(periods) == 1:
        return [periods[0].years_before(1), periods[0]]
    return [periods[0], periods[-1]]


def _ordered(found: Sequence[Formula], text: str, after: int) -> tuple[Formula, Formula]:
    """(the metric that ranks, the metric that is asked for): the one behind "highest" ranks."""
    placed = {m.key: m.start for m in mentions(text)}
    behind = [f for f in found if placed.get(f.key, -1) >= after]
    ranking = behind[0] if behind else found[0]
    asked = [f for f in found if f is not ranking]
    return ranking, asked[0] if asked else ranking


def _label(period: Period) -> str:
    """A period in the name of an operand: "fy2022", "q2_2023", "6m_2024_06_28"."""
    length = f"{period.months}m_" if period.months is not None else ""
    if period.date is not None:
        return f"{length}{period.date:%Y_%m_%d}"
    return f"fy{period.year}" if period.part in (None, "FY") else f"{length}{(period.part or '').lower()}_{period.year}"


class _Builder:
    """Gathers operands while programs are written."""

    def __init__(self, *, many: bool, phrases: Mapping[str, Phrase]) -> None:
        self._many = many
        self._phrases = phrases
        self._operands: dict[str, Operand] = {}

    def single(self, formula: Formula, company: str, period: Period, kind: Kind) -> Plan:
        program = self._program(formula, company, period)
        return self._plan(kind, program, formula.unit, formula.names[0])

    def over(self, formula: Formula, company: str, periods: Sequence[Period], kind: Kind) -> Plan:
        programs = [self._program(formula, company, period) for period in periods]
        parts = tuple((str(period), program) for period, program in zip(periods, programs, strict=True))
        old, new = programs[0], programs[-1]
        results: dict[str, tuple[str, Unit]] = {
            "growth": (f"growth({old}, {new})", "percent"),
            "change": (f"({new}) - ({old})", formula.unit),
            "trend": (f"({new}) - ({old})", formula.unit),
            "average": (f"mean({', '.join(programs)})", formula.unit),
            "total": (f"sum({', '.join(programs)})", formula.unit),
            "cagr": (f"cagr({old}, {new}, {periods[-1].year - periods[0].year})", "percent"),
        }
        program, unit = results[kind]
        return self._plan(kind, program, unit, formula.names[0], parts, formula.unit)

    def difference(self, formula: Formula, companies: Sequence[str], period: Period, percent: bool) -> Plan:
        programs = [self._program(formula, company, period) for company in companies]
        parts = tuple(zip(companies, programs, strict=True))
        if percent and formula.unit != "percent":
            return self._plan(
                "difference",
                f"difference({programs[0]}, {programs[1]})",
                "percent",
                formula.names[0],
                parts,
                formula.unit,
            )
        return self._plan(
            "difference", f"({programs[0]}) - ({programs[1]})", formula.unit, formula.names[0], parts, formula.unit
        )

    def highest(self, metrics: tuple[Formula, Formula], companies: Sequence[str], period: Period, lowest: bool) -> Plan:
        ranking, asked = metrics
        choose = tuple(
            (company, self._program(ranking, company, period), self._program(asked, company, period))
            for company in companies
        )
        parts = tuple((company, rank) for company, rank, _ in choose)
        return self._plan("highest", "", asked.unit, asked.names[0], parts, ranking.unit, choose, lowest)

    def which(self, formula: Formula, companies: Sequence[str], periods: Sequence[Period], lowest: bool) -> Plan:
        programs = [
            (company if len(companies) > 1 else str(period), self._program(formula, company, period))
            for company in companies
            for period in periods
        ]
        best = f"{'min' if lowest else 'max'}({', '.join(program for _, program in programs)})"
        plan = self._plan("which", best, formula.unit, formula.names[0], tuple(programs), formula.unit)
        return replace(plan, lowest=lowest)

    def versus(self, formula: Formula, companies: Sequence[str], period: Period, less: bool) -> Plan:
        programs = [self._program(formula, company, period) for company in companies]
        difference = f"({programs[0]}) - ({programs[1]})"
        parts = tuple(zip(companies, programs, strict=True))
        plan = self._plan("versus", difference, formula.unit, formula.names[0], parts, formula.unit)
        return replace(plan, lowest=less)

    def _program(self, formula: Formula, company: str, period: Period) -> str:
        shifted = at_period(formula.expression)
        labels: dict[str, str] = {}
        for name in names(shifted):
            item, _, back = name.rpartition("__")
            at = period.years_before(int(back))
            label = f"{item}_{_label(at)}"
            if self._many:
                label += "_" + re.sub(r"\W", "_", company)
            self._operands.setdefault(label, Operand(label, company, item, at, self._phrases.get(item)))
            labels[name] = label
        return _WORD.sub(lambda word: labels.get(word[0], word[0]), shifted)

    def _plan(
        self,
        kind: Kind,
        program: str,
        unit: Unit,
        metric: str,
        parts: tuple[tuple[str, str], ...] = (),
        part_unit: Unit = "USD",
        choose: tuple[tuple[str, str, str], ...] = (),
        lowest: bool = False,
    ) -> Plan:
        return Plan(kind, program, unit, metric, tuple(self._operands.values()), parts, part_unit, choose, lowest)
