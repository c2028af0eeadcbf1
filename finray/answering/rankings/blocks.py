"""Groups of table cells that may be ranked with one another: rows under one heading, columns of one row, periods.

A *block* has two or more named *members*; each has a cell in some of the block's *slots*, a period and column that
members share. Rows that add up those above them end a block and do not belong to it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.rankings.rows import Row, named_rows, runs_of, tables_of
from finray.answering.table_reader.amounts import amount_of
from finray.answering.table_reader.series import column_part, undated

Axis = Literal["rows", "columns", "periods"]
BEFORE: Final = -1
"""``months`` of the slot that has each period's figure of the year before."""
LEAST_MEMBERS: Final = 2
MOST_MEMBERS: Final = 40
_MOST_PICKED: Final = 10
_LEAST_SHARE: Final = 0.6
"""A slot that fewer of the members have is of other rows than those that are compared."""
_YEAR_DAYS: Final = (350, 380)
_NUMBERED = re.compile(r"\b(?:level|tier|series|class|note|plan|stage) (\d{1,2})\b", re.I)
_TOTAL = re.compile(r"^\W{0,3}(?:sub)?totals?\b|\b(?:consolidated|combined)\b", re.I)
_FOOTNOTES = re.compile(r"(?: ?\( ?(?:\d{1,2}|[a-z]) ?\)){1,4}$", re.I)


@dataclass(frozen=True, slots=True)
class Slot:
    """What a column shares: the end and length of its period, and the ``part`` of the company that heads it."""

    end: dt.date | None
    months: int | None
    part: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A row or column that is ranked, with its ``amounts`` in base units by slot."""

    name: str
    cells: Mapping[Slot, PageCell]
    amounts: Mapping[Slot, float]

    @property
    def first(self) -> PageCell:
        return next(iter(self.cells.values()))


@dataclass(frozen=True, slots=True)
class Block:
    """``members`` in reading order; ``slots`` in which most of them have a cell, in reading order. ``picked``: the rows
    of a table that a question names, wherever they stand."""

    axis: Axis
    members: tuple[Member, ...]
    slots: tuple[Slot, ...]
    picked: bool = False

    @property
    def first(self) -> PageCell:
        return self.members[0].first


def blocks_of(cells: Iterable[PageCell], words: Collection[str] = ()) -> list[Block]:
    """The blocks of all tables that ``cells`` are of, each cell once or more; with the ``words`` of a question also the
    rows of each table that it names."""
    found: list[Block] = []
    for rows in tables_of(cells):
        runs = list(runs_of(rows))
        for run in runs:
            found += _block("rows", [_row_member(row) for row in run])
        picked = named_rows(rows, words)
        if len(picked) <= _MOST_PICKED and picked not in runs:
            found += _block("rows", [_row_member(row) for row in picked], picked=True)
        for row in rows:
            found += _block("columns", list(_column_members(row)))
            for own in _by_part(row).values():
                found += _block("periods", list(_period_members(own)))
    return _joined(found)


def _block(axis: Axis, members: Sequence[Member], *, picked: bool = False) -> Iterator[Block]:
    """One block, or none if ``members`` cannot be compared."""
    members = [member for member in members if member.name]
    if not LEAST_MEMBERS <= len(members) <= MOST_MEMBERS or len({member.name for member in members}) < len(members):
        return
    least = max(LEAST_MEMBERS, _LEAST_SHARE * len(members))
    slots = dict.fromkeys(slot for member in members for slot in member.cells)
    counts = {slot: sum(slot in member.cells for member in members) for slot in slots}
    # The first years of a table have no earlier one.
    kept = tuple(slot for slot, n in counts.items() if n >= (LEAST_MEMBERS if slot.months == BEFORE else least))
    if kept:
        yield Block(axis, tuple(members), kept, picked)


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """``blocks``, those of one page and one list of members in other periods as one: a table of this year above that
    of the last one, or the opening and the closing balance of each column."""
    alike: dict[object, list[Block]] = {}
    for block in blocks:
        item = block.first.item
        names = frozenset(member.name.lower() for member in block.members)
        label = "" if block.axis == "rows" else undated(item.label) or item.label
        section = item.section if block.axis == "rows" else None
        key = (
            block.axis,
            block.picked,
            block.first.filing.filing_id,
            item.page,
            measure_of(item),
            names,
            label,
            section,
        )
        alike.setdefault(key if block.axis != "periods" else id(block), []).append(block)
    found: list[Block] = []
    for same in alike.values():
        joined = same[0]
        for other in same[1:]:
            if set(joined.slots) & set(other.slots):
                found.append(joined)
                joined = other
            else:
                joined = _both(joined, other)
        found.append(joined)
    return found


def _both(one: Block, other: Block) -> Block:
    more = {member.name.lower(): member for member in other.members}
    members = tuple(
        Member(own.name, {**own.cells, **its.cells}, {**own.amounts, **its.amounts})
        for own in one.members
        for its in [more[own.name.lower()]]
    )
    return Block(one.axis, members, (*one.slots, *other.slots), one.picked)


def _row_member(row: Row) -> Member:
    return _member(named(row.label), ((_slot(cell), cell) for cell in row.cells))


def _column_members(row: Row) -> Iterator[Member]:
    """The parts of the company that head the columns of a row, without their total."""
    parts = _by_part(row)
    if "" in parts or len(parts) < LEAST_MEMBERS:
        return
    for cells in parts.values():
        name = named(cells[0].item.column_label or "")
        if not _TOTAL.search(name):
            yield _member(name, ((Slot(cell.item.period_end, cell.item.months), cell) for cell in cells))


def _by_part(row: Row) -> dict[str, list[PageCell]]:
    parts: dict[str, list[PageCell]] = {}
    for cell in row.cells:
        parts.setdefault(_part(cell), []).append(cell)
    return parts


def _part(cell: PageCell) -> str:
    """What heads the column of ``cell`` besides periods, "Level 1" apart from "Level 2"."""
    label = cell.item.column_label
    words = column_part(label)
    numbers = _NUMBERED.findall(label or "") if words else []
    return " ".join([words, *numbers])


def _period_members(cells: Sequence[PageCell]) -> Iterator[Member]:
    """One for each period, with the figure of the year before, if the row has it."""
    for cell in cells:
        end, months = cell.item.period_end, cell.item.months
        slots = [(Slot(None, months), cell)]
        for other in cells:
            before = other.item.period_end
            if end and before and other.item.months == months and _YEAR_DAYS[0] <= (end - before).days <= _YEAR_DAYS[1]:
                slots.append((Slot(None, BEFORE), other))
        yield _member(period_name(cell), slots)


def _member(name: str, cells: Iterable[tuple[Slot, PageCell]]) -> Member:
    first: dict[Slot, PageCell] = {}
    for slot, cell in cells:
        first.setdefault(slot, cell)
    return Member(name, first, {slot: amount_of(cell.item) for slot, cell in first.items()})


def _slot(cell: PageCell) -> Slot:
    item = cell.item
    return Slot(item.period_end, item.months, _part(cell))


@lru_cache(maxsize=8192)
def named(label: str) -> str:
    """``label`` without footnote marks and leaders."""
    return _FOOTNOTES.sub("", " ".join(label.split()).rstrip(" .:*–—-")).rstrip(" .:*–—-")


def period_name(cell: PageCell) -> str:
    """How a person calls the period of ``cell``; "" if the table does not date it."""
    item = cell.item
    if item.period_end is None:
        return ""
    day = f"{item.period_end:%B} {item.period_end.day}, {item.period_end.year}"
    if item.months == 12:
        return f"the year ended {day}"
    if item.months:
        return f"the {item.months} months ended {day}"
    return day
