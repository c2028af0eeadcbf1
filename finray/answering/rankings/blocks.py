"""Groups of table cells that may be ranked with one another: rows under one heading, columns of one row, periods.

A *block* has two or more named *members*, each with a cell in some of the block's *slots*: a period and part of the
company that members share. A row that adds up those above it ends a block and does not belong to it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from finray.answering.cells.page_cells import PageCell, measure_of, period_name
from finray.answering.rankings.rows import Row, named_rows, runs_of, tables_of
from finray.answering.table_reader.amounts import amount_of
from finray.answering.table_reader.series import column_part, undated

Axis = Literal["rows", "columns", "periods"]
BEFORE: Final = -1
"""``months`` of the slot that has each period's figure of the year before."""
_LEAST_MEMBERS: Final = 2
_MOST_MEMBERS: Final = 40
_MOST_PICKED: Final = 10
_LEAST_SHARE: Final = 0.6
"""Least share of the members with a cell in a slot; a slot that fewer have is not one that is compared."""
_YEAR_DAYS: Final = (350, 380)
_NUMBERED = re.compile(r"\b(?:level|tier|series|class|note|plan|stage) (\d{1,2})\b", re.I)
_TOTAL = re.compile(r"^\W{0,3}(?:sub)?totals?\b|\b(?:consolidated|combined)\b", re.I)
_FOOTNOTES = re.compile(r"(?: ?\( ?(?:\d{1,2}|[a-z]) ?\)){1,4}$", re.I)


@dataclass(frozen=True, slots=True)
class Slot:
    """A column: the end and length of its period, and the ``part`` of the company that heads it."""

    end: dt.date | None
    months: int | None
    part: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A row, column or period that is ranked, with its cells and ``amounts``, in base units, by slot."""

    name: str
    cells: Mapping[Slot, PageCell]
    amounts: Mapping[Slot, float]

    @property
    def first(self) -> PageCell:
        return next(iter(self.cells.values()))


@dataclass(frozen=True, slots=True)
class Block:
    """``members``, and the ``slots`` in which most of them have a cell, both in reading order. ``picked``: the members
    are the rows of a table that a question names, in whatever section."""

    axis: Axis
    members: tuple[Member, ...]
    slots: tuple[Slot, ...]
    picked: bool = False

    @property
    def first(self) -> PageCell:
        return self.members[0].first


def blocks_of(cells: Iterable[PageCell], words: Collection[str] = ()) -> list[Block]:
    """The blocks of all tables of ``cells``, and of the rows of each table that the ``words`` of a question name. A
    cell may be in several."""
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
    if not _LEAST_MEMBERS <= len(members) <= _MOST_MEMBERS or len({member.name for member in members}) < len(members):
        return
    least = max(_LEAST_MEMBERS, _LEAST_SHARE * len(members))
    slots = dict.fromkeys(slot for member in members for slot in member.cells)
    counts = {slot: sum(slot in member.cells for member in members) for slot in slots}
    # The first years of a table have no earlier one.
    kept = tuple(slot for slot, n in counts.items() if n >= (_LEAST_MEMBERS if slot.months == BEFORE else least))
    if kept:
        yield Block(axis, tuple(members), kept, picked)


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """``blocks``, with those of one page that have the same members in other periods joined: a table of this year above
    one of last year, or the opening and the closing balances of each column."""
    alike: dict[object, list[Block]] = {}
    for block in blocks:
        item = block.first.item
        names = frozenset(member.name.lower() for member in block.members)
        label = "" if block.axis == "rows" else undated(item.label) or item.label
        section = item.section if block.axis == "rows" else None
        place = (block.first.filing.filing_id, item.page, measure_of(item), label, section)
        key = (block.axis, block.picked, names, place) if block.axis != "periods" else id(block)
        alike.setdefault(key, []).append(block)
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
    others = {member.name.lower(): member for member in other.members}
    members = []
    for member in one.members:
        same = others[member.name.lower()]
        members.append(Member(member.name, {**member.cells, **same.cells}, {**member.amounts, **same.amounts}))
    return Block(one.axis, tuple(members), (*one.slots, *other.slots), one.picked)


def _row_member(row: Row) -> Member:
    return _member(named(row.label), ((_slot(cell), cell) for cell in row.cells))


def _column_members(row: Row) -> Iterator[Member]:
    """Yields one for each part of the company that heads columns of the row, without their total."""
    parts = _by_part(row)
    if "" in parts or len(parts) < _LEAST_MEMBERS:
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
    """The head of the column of ``cell`` without periods; "Level 1" and "Level 2" differ."""
    label = cell.item.column_label
    words = column_part(label)
    numbers = _NUMBERED.findall(label or "") if words else []
    return " ".join([words, *numbers])


def _period_members(cells: Sequence[PageCell]) -> Iterator[Member]:
    """Yields one for each period, with the figure of the year before if the row has it."""
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
