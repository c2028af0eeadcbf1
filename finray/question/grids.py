"""Reads which figures a question over several companies, periods or items asks for, and what to say about them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from finray.core.period import Period
from finray.core.plan import Formula, Phrase
from finray.core.query import Query, Span
from finray.question.measures.named import is_narrowed, named_measures
from finray.question.plans.operations import in_order
from finray.question.words import word_list

Verdict = Literal["list", "rank", "best", "growth", "compare", "steady"]
"""What is said of the figures: nothing; their order; the first; who grew most; who has more; whether all steps rise."""
Axis = Literal["companies", "periods", "items"]
MAX_CELLS = 240
"""Twenty companies over twelve years; panels are for more."""
_MOST_YEARS = 30
_LISTED = frozenset({"and", "or", "as", "well", "plus", "its", "the", "their"})
"""The words between the names of items that are listed."""
_THAN = word_list("compared")
"""Words of which one stands between the names of two items that are compared."""
_BESIDE_THAN = _THAN | word_list("beside_compared")
_RANK = re.compile(
    r"\brank(?:ed|ing|s)?\b|\b(?:order|sort)(?:ed)?\b(?! by \w+ date)|"
    r"\bfrom (?:the )?(?:high|larg|low|small|big)\w+ to\b",
    re.I,
)
_EACH = re.compile(
    r"\b(?:each|every|all|per|by)\s+(?:single\s+)?(?:of\s+)?(?:the\s+|these\s+|those\s+)?(?:fiscal\s+|calendar\s+)?"
    r"(?:years?|quarters?)\b|\byear[- ](?:by|after)[- ]year\b|\bannually\b|\bconsistently\b|\bsteadily\b|\bover time\b",
    re.I,
)
_WHICH_PERIOD = re.compile(
    r"\b(?:which|what|best|worst|highest|lowest|strongest|weakest|peak|record)\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?"
    r"(?:fiscal\s+|calendar\s+)?(?:years?|quarters?)\b|\brank\w*\s+(?:the\s+|these\s+|those\s+)?(?:fiscal\s+)?(?:years|quarters)\b|"
    r"\bwhen\b",
    re.I,
)
_QUARTER = re.compile(r"\b(?:which|what) (?:fiscal )?quarters?\b", re.I)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?(?:fiscal\s+)?(?:years?\s+)?(?:FY\s*)?\d{2,4}\s+(?:and|&)\s", re.I)
_RANGE = re.compile(
    r"\b(?:from|between|since|over)\b|\b(?:to|through|until)\s+(?:fiscal\s+|FY\s*)?\d|\d\s*[-–—]\s*\d", re.I
)
"""Years that are the ends of one period, not periods of their own."""
_LOSS = re.compile(r"\bloss(?:es)?\b(?!.*\b(?:income|profit|earnings)\b)", re.I)
_FIRST = re.compile(
    r"\b(?:highest|lowest|best|worst|most|least|largest|smallest|biggest|greatest|peak|strongest|weakest)\b", re.I
)
_LAST = re.compile(r"\b(?:worst|weakest|slow(?:er|est))\b", re.I)
_MOST = re.compile(r"\b(?:highest|largest|biggest|greatest|most|best|maximum|strongest)\b", re.I)
_LEAST = re.compile(r"\b(?:lowest|smallest|least|worst|minimum|weakest)\b", re.I)
_SINCE = re.compile(r"\bsince\s+(?:fiscal\s+|FY\s*)?(?:year\s+)?\d{4}\b", re.I)
_HOW_MUCH = re.compile(
    r"\bby how (?:much|many)\b|\bby what per ?cent(?:age)?\b|\bdifference\b|"
    r"\bhow (?:much|many)\b[^?]{0,40}\b(?:more|less|fewer|higher|lower|larger|smaller|greater|bigger)\b",
    re.I,
)
_SUM = re.compile(
    r"\b(?:total (?:of|for|over)|in (?:total|aggregate|all)|sum|combined|cumulative|altogether|together|"
    r"add(?:ed|ing)? up)\b",
    re.I,
)
"""Words that add figures up; the total of "total revenue" does not."""
_ONE_FIGURE = frozenset({"average", "cagr", "summed", "cause", "ahead"})
"""Intents of questions that ask for one figure, a cause or a forecast."""


@dataclass(frozen=True, slots=True)
class GridQuestion:
    """``companies`` are keys of the catalog, ``absent`` names that the index lacks, ``periods`` oldest first.
    ``formulas`` are over canonical line items and the names of ``phrases``."""

    companies: tuple[str, ...]
    absent: tuple[str, ...]
    periods: tuple[Period, ...]
    formulas: tuple[Formula, ...]
    phrases: Mapping[str, Phrase] = field(default_factory=dict)
    verdict: Verdict = "list"
    lowest: bool = False
    """The smallest comes first."""
    over: Axis = "companies"
    """What is ranked or compared."""
    claims: bool = False
    """The question asks whether it is so: yes or no."""
    falls: bool = False
    """A fall is asked about, not a rise."""


def grid_question(query: Query, absent: Sequence[str], newest: int | None) -> GridQuestion | None:
    """The grid that ``query`` asks for; None if it asks for one figure, or for no figure that has a name.

    ``absent`` are the companies that it sets beside others and the index lacks, ``newest`` is the last fiscal year
    with an annual report, to count "the last three years" from.
    """
    if query.intents & _ONE_FIGURE or query.over_all or query.source or query.part_names or not query.companies:
        return None
    if set(query.unknown_companies) - set(absent) or ("total" in query.intents and _SUM.search(query.question)):
        return None
    formulas, phrases = _items(query, absent)
    companies = len(query.companies) + len(absent)
    over = _axis(query, companies, len(formulas))
    verdict = _verdict(query, companies, over)
    if not formulas or verdict is None:
        return None
    if "growth" in query.intents and verdict not in ("growth", "steady"):
        formulas = _growth_of(formulas, beside=verdict == "list")
    periods = _periods(query, newest, verdict, over)
    counts = companies, len(periods), len(formulas)
    if (
        not formulas
        or not periods
        or counts[0] * counts[1] * counts[2] > MAX_CELLS
        or not _is_grid(query, verdict, over, *counts)
    ):
        return None
    if verdict == "growth":
        periods = (periods[0], periods[-1])
    return GridQuestion(
        query.companies,
        tuple(absent),
        periods,
        formulas,
        phrases,
        verdict,
        lowest=_asks_lowest(query),
        over=over,
        claims="yes_no" in query.intents,
        falls="falls" in query.intents and "rises" not in query.intents,
    )


def _asks_lowest(query: Query) -> bool:
    """Whether the smallest comes first. The largest loss is the lowest income."""
    lowest = bool(query.intents & {"minimum", "lower"} or _LAST.search(query.text))
    metrics = (query.text[span.start : span.end] for span in query.spans if span.kind == "metric")
    return lowest != any(_LOSS.search(words) for words in metrics)


def _growth_of(formulas: Sequence[Formula], *, beside: bool) -> tuple[Formula, ...]:
    """The growth of each of ``formulas`` over the period before, ``beside`` it if that is asked; none of rates."""
    grown = []
    for formula in formulas:
        if formula.unit in ("percent", "ratio", "days"):
            return ()
        by = f"growth(prior({formula.expression}), {formula.expression})"
        growth = Formula(f"{formula.key}_growth", (f"{formula.names[0]} growth",), by, "percent")
        grown += [formula, growth] if beside else [growth]
    return tuple(grown)


def _axis(query: Query, companies: int, items: int) -> Axis:
    """What the question ranks or compares."""
    metrics = [span for span in query.spans if span.kind == "metric"]
    if companies == 1 and items == 2 and _are_compared(metrics, query.text):
        return "items"
    return "periods" if companies == 1 or _WHICH_PERIOD.search(query.text) else "companies"


def _is_grid(query: Query, verdict: Verdict, over: Axis, companies: int, periods: int, items: int) -> bool:
    """Whether several figures are asked for: other questions have plans of their own (question/plans)."""
    if items > 1 and "growth" not in query.intents:
        return over == "items" or verdict in ("list", "compare")
    if companies == 1:
        return periods > 2
    if verdict == "growth":
        return periods > 1
    # How much more one has than the other is a difference, and whether it has more a comparison of two figures.
    return periods > 1 or companies > 2 or not ("yes_no" in query.intents or _HOW_MUCH.search(query.question))


def _verdict(query: Query, companies: int, over: Axis) -> Verdict | None:
    """What to say about the figures; None if the question asks for words, or for the change of one figure."""
    intents, text = query.intents, query.text
    compares = bool(intents & {"compares", "difference_anywhere"})
    if over == "items":
        return "compare" if compares and not _HOW_MUCH.search(query.question) else None
    if "growth" in intents:
        if "yes_no" in intents:
            return "steady" if _EACH.search(text) else None
        ranged = _RANGE.search(text) is not None
        if companies > 1 and ranged:
            return "growth"
        if ranged and not (_EACH.search(text) or _WHICH_PERIOD.search(text)):
            return None
    if _RANK.search(text):
        return "rank"
    asks_who = "which_one" in intents and ("compares" in intents or ("growth" in intents and companies > 1))
    if _MOST.search(text) and _LEAST.search(text):
        return "rank"  # the highest and the lowest
    if asks_who or "superlative" in intents or _FIRST.search(text):
        return "best"
    if "words" in intents and not compares:
        return None
    if companies > 1:
        return "compare" if compares else "list"
    return None if "yes_no" in intents or _HOW_MUCH.search(query.question) else "list"


def _periods(query: Query, newest: int | None, verdict: Verdict, over: Axis) -> tuple[Period, ...]:
    """The periods asked for, oldest first; each year of "between 2015 and 2021" if every one of them counts."""
    asked = [Period(p.year, "FY") if p.part is None and p.date is None else p for p in query.asked]
    if query.last_years and len(asked) < 2:
        last = asked[0].year if asked else newest
        return () if last is None else tuple(Period(last - n, "FY") for n in reversed(range(min(query.last_years, 12))))
    if over == "periods" and _QUARTER.search(query.text) and [(p.part, p.date) for p in asked] == [("FY", None)]:
        asked = [Period(asked[0].year, part) for part in ("Q1", "Q2", "Q3", "Q4")]
    periods = in_order(asked)
    if len(periods) == 1 and periods[0].part == "FY" and newest is not None and _SINCE.search(query.question):
        return tuple(Period(year, "FY") for year in range(periods[0].year, newest + 1)[:_MOST_YEARS])
    years = [period.year for period in periods if period.part == "FY" and period.date is None]
    if len(years) == len(periods) == 2 and _BETWEEN.search(query.question) and years[1] - years[0] < _MOST_YEARS:
        each = over == "periods" and verdict in ("best", "rank", "steady")
        if each or (verdict != "growth" and _EACH.search(query.text)):
            return tuple(Period(year, "FY") for year in range(years[0], years[1] + 1))
    return tuple(periods)


def _items(query: Query, absent: Sequence[str]) -> tuple[tuple[Formula, ...], Mapping[str, Phrase]]:
    """The metrics that the question names; else the one phrase of it that a row may print."""
    names = {word for name in absent for word in re.findall(r"[^\W\d_]+", name.lower())}
    if "share" in query.intents:
        shares = (m for m in query.measures if len(m.formulas) == 1 and m.formulas[0].unit in ("percent", "ratio"))
        return next(((m.formulas, m.phrases) for m in shares), ((), {}))
    unexplained = set(query.unexplained) - word_list("grid") - names
    metrics = [span for span in query.spans if span.kind == "metric"]
    listed = len({span.value for span in metrics}) > 1 and (
        _are_listed(metrics, query.text) or _are_compared(metrics, query.text)
    )
    if metrics and not unexplained and (listed or not is_narrowed(query)):
        named = named_measures(query).formulas
        distinct = tuple({formula.key: formula for formula in named}.values())
        return (distinct, {}) if listed or len(distinct) == 1 else ((), {})
    for measures in query.measures:
        if len(measures.formulas) == 1 and measures.phrases and not measures.settled:
            return measures.formulas, measures.phrases
    return (), {}


def _are_listed(metrics: Sequence[Span], text: str) -> bool:
    """Whether the names of metrics stand side by side: "revenue, operating income and net income"."""
    return len(metrics) > 1 and all(words <= _LISTED for words in _between(metrics, text))


def _are_compared(metrics: Sequence[Span], text: str) -> bool:
    """Whether the names of metrics stand on two sides: "more current assets than current liabilities"."""
    return len(metrics) > 1 and all(words <= _BESIDE_THAN and words & _THAN for words in _between(metrics, text))


def _between(metrics: Sequence[Span], text: str) -> list[frozenset[str]]:
    """The words between each of ``metrics`` and the next."""
    parts = (text[one.end : other.start].lower() for one, other in pairwise(metrics))
    return [frozenset(re.findall(r"[^\W_]+", part)) for part in parts]
