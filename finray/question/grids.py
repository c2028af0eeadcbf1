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
MAX_CELLS = 240
"""Twenty companies over twelve years; panels are for more."""
_MOST_YEARS = 30
_LISTED = re.compile(r"[\s,;&]*(?:\band\b|\bor\b|\bas well as\b|\bplus\b)?[\s,]*(?:\bits\b|\bthe\b|\btheir\b)?\s*", re.I)
"""What stands between the names of items that are listed."""
_RANK = re.compile(
    r"\brank(?:ed|ing|s)?\b|\b(?:order|sort)(?:ed)?\b(?! by \w+ date)|\bfrom (?:the )?(?:high|larg|low|small|big)\w+ to\b",
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
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?(?:fiscal\s+)?(?:years?\s+)?(?:FY\s*)?\d{2,4}\s+(?:and|&)\s", re.I)
_FIRST = re.compile(r"\b(?:highest|lowest|best|worst|most|least|largest|smallest|biggest|greatest|peak|strongest|weakest)\b", re.I)
_LAST = re.compile(r"\b(?:worst|weakest|slow(?:er|est))\b", re.I)
_HOW_MUCH = re.compile(r"\b(?:by )?how (?:much|many)\b|\bdifference\b", re.I)
_ONE_FIGURE = frozenset({"average", "cagr", "share", "summed", "cause", "words", "ahead"})
"""Intents of questions that ask for one figure, a sentence or a forecast."""


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
    over_periods: bool = False
    """Periods are ranked, not companies."""
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
    if set(query.unknown_companies) - set(absent):
        return None
    formulas, phrases = _items(query, absent)
    companies = len(query.companies) + len(absent)
    verdict = _verdict(query, companies)
    if not formulas or verdict is None:
        return None
    over_periods = companies == 1 or (verdict in ("best", "rank") and _WHICH_PERIOD.search(query.text) is not None)
    periods = _periods(query, newest, verdict, over_periods=over_periods)
    counts = companies, len(periods), len(formulas)
    if not periods or counts[0] * counts[1] * counts[2] > MAX_CELLS or not _is_grid(query, verdict, *counts):
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
        lowest=bool(query.intents & {"minimum", "lower"} or _LAST.search(query.text)),
        over_periods=over_periods,
        claims="yes_no" in query.intents,
        falls="falls" in query.intents and "rises" not in query.intents,
    )


def _is_grid(query: Query, verdict: Verdict, companies: int, periods: int, items: int) -> bool:
    """Whether several figures are asked for: other questions have plans of their own (question/plans)."""
    if items > 1:
        return verdict in ("list", "compare") and (companies * periods * items > 1)
    if companies == 1:
        return periods > 2
    if verdict == "growth":
        return periods > 1
    # How much more one has than the other is a difference, and whether it has more a comparison of two figures.
    return periods > 1 or companies > 2 or not ("yes_no" in query.intents or _HOW_MUCH.search(query.question))


def _verdict(query: Query, companies: int) -> Verdict | None:
    """What to say about the figures; None if the question asks for the change of one figure."""
    intents, text = query.intents, query.text
    if "growth" in intents:
        if companies > 1:
            return "growth"
        if not _EACH.search(text):
            return None
        return "steady" if "yes_no" in intents else "list"
    if _RANK.search(text):
        return "rank"
    if "which" in intents or "superlative" in intents or _FIRST.search(text):
        return "best"
    if companies > 1 and intents & {"compares", "difference_anywhere"}:
        return "compare"
    return "list" if companies > 1 or not intents & {"difference", "yes_no", "change"} else None


def _periods(query: Query, newest: int | None, verdict: Verdict, *, over_periods: bool) -> tuple[Period, ...]:
    """The periods asked for, oldest first; each year of "between 2015 and 2021" if every one of them counts."""
    asked = [Period(p.year, "FY") if p.part is None and p.date is None else p for p in query.asked]
    if query.last_years and len(asked) < 2:
        last = asked[0].year if asked else newest
        return () if last is None else tuple(Period(last - n, "FY") for n in reversed(range(min(query.last_years, 12))))
    periods = in_order(asked)
    years = [period.year for period in periods if period.part == "FY" and period.date is None]
    if len(years) == len(periods) == 2 and _BETWEEN.search(query.question) and years[1] - years[0] < _MOST_YEARS:
        each = over_periods and verdict in ("best", "rank", "steady")
        if each or (verdict != "growth" and _EACH.search(query.text)):
            return tuple(Period(year, "FY") for year in range(years[0], years[1] + 1))
    return tuple(periods)


def _items(query: Query, absent: Sequence[str]) -> tuple[tuple[Formula, ...], Mapping[str, Phrase]]:
    """The metrics that the question names; else the one phrase of it that a row may print."""
    names = {word for name in absent for word in re.findall(r"[^\W\d_]+", name.lower())}
    unexplained = set(query.unexplained) - word_list("grid") - names
    metrics = [span for span in query.spans if span.kind == "metric"]
    listed = len({span.value for span in metrics}) > 1 and _are_listed(metrics, query.text)
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
    return all(_LISTED.fullmatch(text[one.end : other.start]) for one, other in pairwise(metrics))
