"""What the figures of a grid say to its question, in words. Exact: nothing is said over cells that have no figure
unless the words name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from finray.core.period import Period
from finray.question.grids import GridQuestion

Figures = Mapping[tuple[str, Period], float | None]
Show = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Said:
    """``ranking`` is the order that the question asks for, if it is the same for all periods and no figure is missing.
    ``drawn`` is false if the question asks for a verdict and too few figures are there for one."""

    text: str
    ranking: tuple[str, ...] = ()
    drawn: bool = True


def said_of(asked: GridQuestion, item: str, figures: Figures, names: Sequence[str], show: Show) -> Said:
    """What ``figures`` of ``item``, by company and period, say to ``asked``. ``names`` are those of the companies."""
    if asked.verdict == "list":
        return Said("")
    if asked.verdict == "steady":
        return _joined([_steady(asked, item, name, figures, show) for name in names])
    if asked.verdict == "growth":
        return _growth(asked, item, figures, names)
    if asked.over == "periods":
        return _joined([_over_periods(asked, item, name, figures, show) for name in names])
    return over_names(asked, item, figures, names, show)


def _over_periods(asked: GridQuestion, item: str, name: str, figures: Figures, show: Show) -> Said:
    """The periods of one company in order."""
    there = {str(p): value for p in asked.periods if (value := figures[name, p]) is not None}
    lacking = [str(p) for p in asked.periods if figures[name, p] is None]
    if len(there) < 2:
        return Said(f"No verdict on {item} of {name}: fewer than two periods have a figure.", drawn=False)
    order = _order(there, lowest=asked.lowest)
    if asked.verdict == "rank":
        text = f"{item} of {name}, {_superlative(asked)} first: {_listed(order, there, show)}"
    else:
        first = _ties(order, there)
        text = f"{' and '.join(first)}: {item} of {name} was {_superlative(asked)}, {show(there[first[0]])}"
    return Said(f"{text}{_without(lacking)}.", () if lacking else tuple(order))


def over_names(asked: GridQuestion, item: str, figures: Figures, names: Sequence[str], show: Show) -> Said:
    """The companies, or the items of one company, in order for each period; ``item`` is what is compared."""
    said: dict[Period, str] = {}
    orders: list[tuple[str, ...]] = []
    complete, tied = True, False
    for period in asked.periods:
        there = {name: value for name in names if (value := figures[name, period]) is not None}
        lacking = [name for name in names if figures[name, period] is None]
        complete = complete and not lacking
        if len(there) < 2:
            said[period] = (
                f"{period}: no comparison, as {_and(lacking)} {'has' if len(lacking) == 1 else 'have'} no figure"
            )
            continue
        order = _order(there, lowest=asked.lowest)
        orders.append(tuple(order))
        tied = tied or there[order[0]] == there[order[1]]
        said[period] = f"{period}: {_sentence(asked, order, there, show)}{_without(lacking)}"
    if not orders:
        return Said(f"No verdict on {item}: fewer than two figures to compare.", drawn=False)
    ranking = orders[0] if complete and len(set(orders)) == 1 else ()
    first = {order[0] for order in orders}
    leads = first.pop() if complete and not tied and len(first) == 1 else ""
    claim = ("Yes: " if leads == names[0] else "No: ") if asked.claims and complete else ""
    return Said(f"{claim}{_lead(item, asked, leads, len(names))}{'; '.join(said.values())}.", ranking)


def _lead(item: str, asked: GridQuestion, first: str, companies: int) -> str:
    """Who comes ``first`` in all periods, if it is one."""
    if not first or asked.verdict == "rank":
        return f"{item[:1].upper()}{item[1:]}, " if item else ""
    number = len(asked.periods)
    every = "" if number == 1 else f" in {'both' if number == 2 else f'all {number}'} periods"
    degree = _superlative(asked) if companies > 2 else "lower" if asked.lowest else "higher"
    if asked.over == "items":
        return f"{first} of {item} is {degree}{every}; "
    return f"{first} has the {degree} {item}{every}; "


def _sentence(asked: GridQuestion, order: Sequence[str], there: Mapping[str, float], show: Show) -> str:
    if asked.verdict == "rank" or len(order) > 2:
        return _listed(order, there, show)
    one, other = order
    apart = abs(there[one] - there[other])
    if apart == 0:
        return f"{one} and {other} are equal, {show(there[one])}"
    degree = "lower" if asked.lowest else "higher"
    by = re.sub(r"%$", " percentage points", show(apart))
    return f"{one} {show(there[one])}, {by} {degree} than {other} {show(there[other])}"


def _growth(asked: GridQuestion, item: str, figures: Figures, names: Sequence[str]) -> Said:
    """The companies by relative growth from the first to the last period."""
    first, last = asked.periods[0], asked.periods[-1]
    grown: dict[str, float] = {}
    moved: dict[str, float] = {}
    lacking, undefined = [], []
    for name in names:
        old, new = figures[name, first], figures[name, last]
        if old is None or new is None:
            lacking.append(name)
        elif old <= 0:
            undefined.append(name)
        else:
            grown[name], moved[name] = (new - old) / old, new - old
    notes = _without(lacking)
    if undefined:
        notes += f"; no growth rate for {_and(undefined)}, whose {item} was not positive in {first}"
    if len(grown) < 2:
        return Said(f"No verdict on the growth of {item}: fewer than two companies have it{notes}.", drawn=False)
    fewest = asked.lowest or asked.falls
    order = _order(grown, lowest=fewest)
    rates = "; ".join(f"{name} {grown[name] * 100:+,.1f}%" for name in order)
    if grown[order[0]] == grown[order[1]]:
        lead = f"{_and(_ties(order, grown))} are equal"
    else:
        lead = f"{order[0]}: {item} {'fell most or grew least' if fewest else 'grew fastest'}"
    by_amount = _order(moved, lowest=fewest)[0]
    if by_amount != order[0]:
        notes += f"; in amounts, {by_amount} moved {'least' if fewest else 'most'}"
    return Said(f"{lead}, {first} to {last}: {rates}{notes}.", () if lacking or undefined else tuple(order))


def _steady(asked: GridQuestion, item: str, name: str, figures: Figures, show: Show) -> Said:
    """Whether every step of one company rises, or falls if that is asked."""
    verb, wrong = ("fell", "did not fall") if asked.falls else ("rose", "did not rise")
    against, unknown = [], []
    for before, after in pairwise(asked.periods):
        old, new = figures[name, before], figures[name, after]
        if old is None or new is None:
            unknown.append(f"{before} to {after}")
        elif (new >= old) if asked.falls else (new <= old):
            against.append(f"{before} to {after} ({show(old)} to {show(new)})")
    if against:
        return Said(f"No: {item} of {name} {wrong} from {_and(against)}{_without(unknown)}.")
    if unknown:
        return Said(f"No verdict on {item} of {name}: figures are missing for {_and(unknown)}.", drawn=False)
    return Said(f"Yes: {item} of {name} {verb} in every period from {asked.periods[0]} to {asked.periods[-1]}.")


def _order(values: Mapping[str, float], *, lowest: bool) -> list[str]:
    return sorted(values, key=values.__getitem__, reverse=not lowest)


def _ties(order: Sequence[str], values: Mapping[str, float]) -> list[str]:
    """The first of ``order`` and those equal to it."""
    return [name for name in order if values[name] == values[order[0]]]


def _listed(order: Sequence[str], values: Mapping[str, float], show: Show) -> str:
    """ "A $3 million > B $2 million = C $2 million" """
    text = f"{order[0]} {show(values[order[0]])}"
    for one, other in pairwise(order):
        sign = "=" if values[one] == values[other] else ">" if values[one] > values[other] else "<"
        text += f" {sign} {other} {show(values[other])}"
    return text


def _superlative(asked: GridQuestion) -> str:
    return "lowest" if asked.lowest else "highest"


def _without(lacking: Sequence[str]) -> str:
    return f" (without {_and(lacking)}: no figure)" if lacking else ""


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _joined(said: Sequence[Said]) -> Said:
    ranking = said[0].ranking if len(said) == 1 else ()
    return Said(" ".join(each.text for each in said), ranking, drawn=any(each.drawn for each in said))
