"""The edits that make an earlier question ask what a follow-up names: other companies, periods and units in the places
of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from finray.core.period import Period
from finray.question.follow_ups.parts import Parts, Place
from finray.question.periods.relative_periods import counted_from, in_words

Edit = tuple[int, int, str]
"""(start, end, replacement) of a part of a question."""
COMPARES = frozenset({"difference"})
MOVES = frozenset({"growth", "cagr", "difference"})
_LATEST = "in the latest fiscal year"
_OPEN_ENDED = re.compile(
    r"\b(?:since|from|until|through|to|till|by)\s*$|^\s*(?:since|from|until|through|to|till|by)\b", re.I
)
CAUSE = re.compile(
    r", and (?:why|how come|what (?:\w+ ){0,4}?(?:dr[io]ve\w*|caused?|reasons?|explains?|led|behind))\b[^?]*", re.I
)


class Unclear(Exception):
    """A follow-up may mean several things; the message says what is open."""


def new_companies(asked: Parts, earlier: Parts) -> list[Edit]:
    """Put the follow-up's company in the place of the earlier one."""
    if not asked.names:
        return []
    if len(earlier.companies) > 1:
        raise Unclear(f"whether {asked.name} takes the place of all companies of the earlier question")
    if not earlier.names:
        end = end_of(earlier)
        return [(end, end, f" for {asked.name}")]
    return [(start, end, asked.name) for start, end in earlier.names]


def new_periods(asked: Parts, earlier: Parts) -> list[Edit]:
    """Put the follow-up's periods in the place of the earlier ones."""
    if asked.relative:
        return _counted(asked, earlier)
    if not asked.period_places:
        return []
    if len(asked.period_places) > 1 or asked.when is None:
        raise Unclear("which of its periods is meant")
    single = len({period for _, _, period in asked.absolute}) == 1 and asked.span_of_years is None
    if single and _OPEN_ENDED.search(asked.when) and not asked.operators & COMPARES:
        raise Unclear(f"whether “{asked.when}” is the period itself or the beginning or end of one")
    if not earlier.period_places:
        end = end_of(earlier)
        return [(end, end, f" {asked.when}")]
    if earlier.query.source:
        raise Unclear("whether another report is meant or another period in the same report")
    if single and earlier.span_of_years is None and len({period for _, _, period in earlier.absolute}) == 1:
        start, end, new = asked.absolute[0]
        if _alike(new, earlier.absolute[0][2]):
            return [(first, last, asked.text[start:end]) for first, last, _ in earlier.absolute]
    if len(earlier.period_places) > 1:
        raise Unclear("which of the earlier question's periods it replaces")
    spans = earlier.query.intents & {"average", "total", "which", "cagr"}
    if single and spans and len({period for _, _, period in earlier.absolute}) != 1:
        raise Unclear("over which periods to compute")
    start, end = earlier.period_places[0]
    space = " " if earlier.text[start:end][:1] == " " else ""
    return [(start, end, f"{space}{asked.when}")]


def _alike(new: Period, old: Period) -> bool:
    """Whether ``new`` may stand in the place of ``old`` after the same preposition: "in" a year, "as of" a day."""
    plain = all(period.date is None and period.months is None for period in (new, old))
    return plain and (new.part in (None, "FY")) == (old.part in (None, "FY"))


def _counted(asked: Parts, earlier: Parts) -> list[Edit]:
    """Move each of the earlier periods as the follow-up says."""
    kinds = {each.kind for each in asked.relative}
    if kinds == {"same"}:
        return []
    if "latest" in kinds:
        if len(earlier.period_places) > 1:
            raise Unclear("which of the earlier question's periods it replaces")
        if earlier.period_places:
            return [(*earlier.period_places[0], _LATEST)]
        end = end_of(earlier)
        return [(end, end, f" {_LATEST}")]
    if not earlier.absolute or earlier.span_of_years is not None:
        raise Unclear("from which fiscal period to count: the earlier question names none")
    if "part" in kinds and len(earlier.absolute) > 1:
        raise Unclear("of which year")
    edits: dict[Place, list[Period]] = {}
    for start, end, period in earlier.absolute:
        moved = counted_from(asked.relative, period)
        if moved is None or _year_only(period, asked):
            raise Unclear(f"which period it means, counted from {in_words(period)}")
        edits.setdefault((start, end), []).append(moved)
    if "part" in kinds and earlier.absolute[0][2].date is not None:
        raise Unclear("of which fiscal year; the earlier question names a day")
    return [(*place, _range(periods)) for place, periods in edits.items()]


def _year_only(period: Period, asked: Parts) -> bool:
    """Whether the follow-up counts in quarters from a ``period`` that has a length of its own, such as nine months."""
    return period.months is not None and any(each.kind in ("part", "quarters") for each in asked.relative)


def _range(periods: Sequence[Period]) -> str:
    return in_words(periods[0]) if len(periods) == 1 else f"{in_words(periods[0])} to {in_words(periods[-1])}"


def new_units(asked: Parts, earlier: Parts) -> list[Edit]:
    """Put the follow-up's scale or rounding in the place of the earlier one."""
    if not asked.units:
        return []
    wanted = " ".join(asked.text[start:end] for start, end in asked.units)
    if len(earlier.units) == 1:
        return [(*earlier.units[0], wanted)]
    end = end_of(earlier)
    return [(end, end, f", {wanted}")]


def when(asked: Parts, earlier: Parts) -> str:
    """The earlier question's period. Raises Unclear if it has several and the follow-up is about one."""
    several = len({period for _, _, period in earlier.absolute}) > 1 or earlier.span_of_years is not None
    if earlier.when is None or (several and not asked.operators & MOVES):
        raise Unclear("which of the earlier question's periods is meant")
    return earlier.when


def now(asked: Parts, earlier: Parts) -> str:
    """The follow-up's relative period in words, counted from the latest of the earlier question's."""
    if any(each.kind == "latest" for each in asked.relative):
        return _LATEST
    if all(each.kind == "same" for each in asked.relative):
        return when(asked, earlier)
    latest = earlier.query.latest
    moved = None if latest is None else counted_from(asked.relative, latest)
    if moved is None or latest is None or _year_only(latest, asked):
        raise Unclear("from which fiscal period to count")
    start = asked.period_places[0][0]
    if asked.operators & COMPARES:
        return in_words(moved)
    preposition = re.match(r"\s*(in|for|at|as of|during)\b", asked.text[start:], re.I)
    return f"{preposition[1] if preposition is not None else 'in'} {in_words(moved)}"


def end_of(parts: Parts) -> int:
    """Where the last sentence ends, before its punctuation and a cause that a follow-up asked for."""
    if (cause := CAUSE.search(parts.text)) is not None:
        return cause.start()
    return len(parts.text.rstrip(" ?.!"))


def edited(parts: Parts, edits: Iterable[Edit]) -> str:
    """The text with ``edits``; those at one place follow each other. Raises Unclear if two overlap."""
    text, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        if start < at:
            raise Unclear("what it replaces in the earlier question")
        text += [parts.text[at:start], new]
        at = end
    text.append(parts.text[at:])
    joined = " ".join("".join(text).split())
    joined = re.sub(r"\s+([,.;:?!])", r"\1", joined)
    return joined[:1].upper() + joined[1:]


def added_to(text: str, added: str) -> str:
    """The question ``text`` with ``added`` before its question mark."""
    return f"{text.rstrip(' ?.!')}{added}?" if added else text
