"""Words the answer of a chosen ranking: the winner with its figure, then the others in order, and the cells of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from finray.answering.cells.page_cells import PageCell, period_name
from finray.answering.plans.computed import cited, evidence_of, shape_of, shown_program
from finray.answering.plans.wording import asked_value, shown, shown_move
from finray.answering.rankings.blocks import Member
from finray.answering.rankings.choice import RankingChoice
from finray.answering.rankings.ranked import Ranking
from finray.answering.table_reader.amounts import amount_of, operand_of, unit_of_cell
from finray.answering.table_reader.series import column_part
from finray.core.plan import Found, Unit
from finray.core.predictions import Answer
from finray.core.query import Query, Shape
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts
from finray.question.arithmetic import ProgramError, evaluate

MOST_LISTED: Final = 8
"""Members that an answer lists and cites, the winner first."""
_LABEL = 90


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A member with the program of its figure, and the operands of the program by name."""

    member: Member
    operands: dict[str, Found]
    program: str


def worded(choice: RankingChoice, query: Query, curation: Curation, facts: FilingFacts) -> Answer | None:
    """The answer; None if a figure has no value."""
    ranking = choice.ranking
    listed = [ranking.block.members[ranking.at[number]] for number in ranking.order[:MOST_LISTED]]
    ranked = [_ranked(ranking, member, at, facts) for at, member in enumerate(listed, start=1)]
    operands = {name: found for each in ranked for name, found in each.operands.items()}
    values = {name: found.value for name, found in operands.items()}
    try:
        figures = [evaluate(each.program, values) for each in ranked]
    except ProgramError:
        return None
    shape = shape_of(query, operands.values())
    own_unit = unit_of_cell(listed[0].first.item)
    unit: Unit = "percent" if ranking.measured == "growth" else own_unit
    value, stated = asked_value(figures[0], unit, shape)
    shown_figures = [_shown(ranking, figure, unit, shape, query) for figure in figures]
    shown_figures[0] += _moved(ranking, ranked[0], own_unit, shape)
    evidence, grounded = evidence_of(operands.values(), curation.kept, facts)
    program = f"{'min' if ranking.lowest else 'max'}({', '.join(each.program for each in ranked)})"
    return Answer(
        _text(ranking, ranked, shown_figures),
        "answered",
        value,
        stated,
        program=shown_program(program, operands),
        evidence=evidence,
        operands=tuple(cited(name, found) for name, found in operands.items()),
        grounded=grounded,
        confidence=round(choice.probability, 3),
    )


def _ranked(ranking: Ranking, member: Member, at: int, facts: FilingFacts) -> _Ranked:
    own = _operand(f"x{at}", member.cells[ranking.slot], facts)
    if ranking.base is None:
        return _Ranked(member, {f"x{at}": own}, f"x{at}")
    base = _operand(f"y{at}", member.cells[ranking.base], facts)
    program = f"growth(y{at}, x{at})" if ranking.measured == "growth" else f"x{at} - y{at}"
    return _Ranked(member, {f"x{at}": own, f"y{at}": base}, program)


def _operand(name: str, cell: PageCell, facts: FilingFacts) -> Found:
    return operand_of(cell, name, amount_of(cell.item), facts)


def _text(ranking: Ranking, ranked: Sequence[_Ranked], shown_figures: Sequence[str]) -> str:
    """The winner, then what the figures are and the others in order."""
    name = ranked[0].member.name
    if ranking.block.axis == "periods":
        name = name[:1].upper() + name[1:]
    others = "; ".join(f"{each.member.name} {text}" for each, text in zip(ranked[1:], shown_figures[1:], strict=True))
    left = len(ranking.at) - len(ranked)
    more = f"; and {left} more" if left else ""
    about = ", ".join(filter(None, (_metric(ranking), _when(ranking))))
    return f"{name}: {shown_figures[0]} ({f'{about}: ' if about else ''}{others}{more})"


def _shown(ranking: Ranking, figure: float, unit: Unit, shape: Shape, query: Query) -> str:
    if ranking.measured == "value":
        return shown(figure, unit, shape)
    if ranking.measured == "difference" and unit == "percent":
        return f"{figure * 100:+.{1 if shape.decimals is None else shape.decimals}f} percentage points"
    return shown_move(figure, unit, shape, query.intents | ({"falls"} if ranking.lowest else frozenset()))


def _moved(ranking: Ranking, ranked: _Ranked, unit: Unit, shape: Shape) -> str:
    """The figures between which the winner changed; "" if figures are ranked."""
    if ranking.base is None:
        return ""
    later, earlier = (found.value for found in ranked.operands.values())
    plain = Shape(shape.scale, None, shape.currency)
    return f", from {shown(earlier, unit, plain)} to {shown(later, unit, plain)}"


def _metric(ranking: Ranking) -> str:
    """What the figures are, as far as the table tells: the row of columns and periods, else section and column."""
    item = ranking.block.members[ranking.winner].cells[ranking.slot].item
    if ranking.block.axis != "rows":
        return excerpt(item.label, _LABEL)
    parts = (item.section, column_part(item.column_label) and item.column_label)
    return excerpt(", ".join(filter(None, parts)) or "", _LABEL)


def _when(ranking: Ranking) -> str:
    """The period of the figures; "" if periods are ranked, or the table does not date them."""
    if ranking.block.axis == "periods":
        return ""
    winner = ranking.block.members[ranking.winner]
    later = period_name(winner.cells[ranking.slot])
    if ranking.base is None:
        return later
    return f"{later} against {period_name(winner.cells[ranking.base])}"
