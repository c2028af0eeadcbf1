"""Headings over several columns of a PDF's table, from their positions: "U.S. Plans" above "2021 2020 2019".

A PDF does not state which columns a heading spans, but prints it centered over them. Columns with the same headings
need another to distinguish them, so a line of headings is spread over groups of columns if that distinguishes them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from finray.filings.tables.cells import Printed

OFF_CENTER = 0.35
"""How far the middle of a heading may be from that of its columns, as a share of the distance between columns."""
OVERHANG = 40.0
"""Points by which a heading may begin left of the first column; text further left is a label, a title or prose."""
MOST_COLUMNS = 40
MOST_LINES = 12
"""Tables with more columns are left alone, as are more lines of headings; the limits bound the time."""

Columns = Sequence[tuple[float, float]]
Group = tuple[int, int]
"""The first and the last column, from 0."""


def leaves(rows: Sequence[list[Printed]], columns: Columns) -> Sequence[Printed]:
    """The headings of the last line in ``rows`` with one for each of ``columns``; none if there is no such line."""
    for row in reversed(rows):
        cells = row[-len(columns) :]
        if len(columns) > 1 and len(cells) == len(columns) and len(row) <= len(columns) + 1:
            left = columns[0][0] - (columns[1][0] - columns[0][1])
            if cells[0].x1 > left and all(a.x1 <= x0 and x1 <= b.x0 for a, b, x0, x1 in _beside(cells, columns)):
                return cells
    return ()


def _beside(cells: Sequence[Printed], columns: Columns) -> list[tuple[Printed, Printed, float, float]]:
    """Neighboring headings, each with the nearer edge of the other's column."""
    pairs = zip(pairwise(cells), pairwise(columns), strict=True)
    return [(a, b, next_x0, x1) for (a, b), ((_, x1), (next_x0, _)) in pairs]


def aligned(rows: Sequence[list[Printed]], columns: Columns, own: Sequence[Printed]) -> list[list[Printed]]:
    """``rows`` with each heading moved over the columns whose figures or ``own`` headings it overlaps: a heading may be
    centered beside figures that are flush right."""
    if not own:
        return list(rows)
    places = [(min(x0, cell.x0), max(x1, cell.x1)) for (x0, x1), cell in zip(columns, own, strict=True)]
    left = places[0][0]
    return [
        [cell if cell.x1 <= left or cell.x0 < left - OVERHANG else _moved(cell, columns, places) for cell in row]
        for row in rows
    ]


def _moved(cell: Printed, columns: Columns, places: Columns) -> Printed:
    over = [at for at, (x0, x1) in enumerate(places) if cell.x0 < x1 and x0 < cell.x1]
    if not over or over == [at for at, (x0, x1) in enumerate(columns) if cell.x0 < x1 and x0 < cell.x1]:
        return cell
    return cell._replace(x0=columns[over[0]][0], x1=columns[over[-1]][1])


def spread_headings(rows: Sequence[list[Printed]], columns: Columns) -> list[list[Printed]]:
    """``rows``, the lines of headings above the figures in ``columns``, with each heading of a group widened to it."""
    if not 4 <= len(columns) <= MOST_COLUMNS:
        return list(rows)
    first = max(0, len(rows) - MOST_LINES)
    lines = [_line(row, columns) for row in rows[first:]]
    places = _places(lines, columns)
    for number in reversed(range(len(lines))):
        groups = _groups(number, lines, places)
        if groups is not None:
            spread = [
                _widened(row, line, groups, columns, places, centered=at != number)
                for at, (row, line) in enumerate(zip(rows[first:], lines, strict=True))
            ]
            return [*rows[:first], *spread]
    return list(rows)


@dataclass(frozen=True, slots=True)
class _Line:
    """The headings of a line by their number in it, left to right, with the columns that they cover. A text in the
    column of labels is not a heading."""

    headings: Mapping[int, tuple[Printed, frozenset[int]]]

    def over(self, column: int) -> str:
        return " ".join(cell.text for cell, covered in self.headings.values() if column in covered)

    @property
    def distinct(self) -> bool:
        """Whether the headings differ. The lines of wrapped headings may not: "Accumulated" twice, each over
        "depreciation"."""
        return len(self.headings) == 1 or len({cell.text for cell, _ in self.headings.values()}) > 1

    @property
    def covered(self) -> frozenset[int]:
        return frozenset().union(*(covered for _, covered in self.headings.values()))


def _line(row: Sequence[Printed], columns: Columns) -> _Line:
    left = columns[0][0] - (columns[1][0] - columns[0][1])
    return _Line({at: (cell, _under(cell, columns)) for at, cell in enumerate(row) if cell.x0 > left})


def _under(cell: Printed, columns: Columns) -> frozenset[int]:
    """The columns that ``cell`` overlaps; the nearest if it is between two."""
    found = frozenset(at for at, (x0, x1) in enumerate(columns) if cell.x0 < x1 and x0 < cell.x1)
    middle = (cell.x0 + cell.x1) / 2
    return found or frozenset({min(range(len(columns)), key=lambda at: abs(sum(columns[at]) / 2 - middle))})


def _places(lines: Sequence[_Line], columns: Columns) -> Columns:
    """``columns``, each widened from its figures, which are flush right, to the headings over it alone."""
    found = list(columns)
    most = max((len(line.headings) for line in lines), default=0)
    for line in lines:
        for cell, covered in line.headings.values():
            if len(covered) == 1 and len(line.headings) == most:
                (at,) = covered
                found[at] = min(found[at][0], cell.x0), max(found[at][1], cell.x1)
    return found


def _groups(number: int, lines: Sequence[_Line], places: Columns) -> list[Group] | None:
    """The groups that the headings of line ``number`` stand over, if these distinguish columns that have the same
    headings otherwise. A heading alone in its line may be the table's title, so other lines with one heading do not
    count."""
    line = lines[number]
    if not 1 <= len(line.headings) < len(places) or len(line.covered) == len(places) or not line.distinct:
        return None
    below = [tuple(each.over(column) for each in lines[number + 1 :]) for column in range(len(places))]
    rest = [tuple(each.over(column) for each in lines if each is not line) for column in range(len(places))]
    for heads in (below, rest):
        if (repeated := _repeated(line, heads, places)) is not None:
            return repeated
    several = [each for each in lines if len(each.headings) > 1 and each is not line]
    others = [tuple(each.over(column) for each in several) for column in range(len(places))]
    alike = {other for other, count in Counter(others).items() if count > 1}
    each_headed = len(line.headings) > 1 and any(len(each.headings) == len(places) for each in lines[number + 1 :][:1])
    groups = _centered_over(list(line.headings.values()), places) if alike or each_headed else None
    if groups is None or (each_headed and sum(b - a + 1 for a, b in groups) == len(places)):
        return groups
    group_of = {column: number for number, (a, b) in enumerate(groups) for column in range(a, b + 1)}
    added = {others[column] for column in group_of if column not in line.covered}
    return groups if added & alike and _tell_apart(groups, group_of, others, added) else None


def _tell_apart(
    groups: Sequence[Group],
    group_of: Mapping[int, int],
    others: Sequence[tuple[str, ...]],
    added: Collection[tuple[str, ...]],
) -> bool:
    """Whether columns that share one of the headings ``added`` are in different groups, equally many in each. Next to a
    single group, the columns outside count as another."""
    for head in added:
        same = Counter(group_of.get(column) for column, other in enumerate(others) if other == head)
        apart = len(same) > 1 and len(set(same.values())) == 1
        if same.total() > 1 and (not apart or (None in same and len(groups) > 1)):
            return False
    return True


def _repeated(line: _Line, below: Sequence[tuple[str, ...]], places: Columns) -> list[Group] | None:
    """Equal groups, one for each heading of ``line``, if other headings, those ``below`` or all, repeat from group to
    group."""
    count = len(line.headings)
    size, rest = divmod(len(places), count)
    if count < 2 or rest or size < 2 or len(set(below[:size])) < size or list(below) != [*below[:size]] * count:
        return None
    groups = [(start, start + size - 1) for start in range(0, len(places), size)]
    for (a, b), (cell, _) in zip(groups, line.headings.values(), strict=True):
        if not places[a][0] <= (cell.x0 + cell.x1) / 2 <= places[b][1]:
            return None
    return groups


def _centered_over(headings: Sequence[tuple[Printed, frozenset[int]]], columns: Columns) -> list[Group] | None:
    """The columns that each heading is centered over, as many as possible; None if a heading has none."""
    limit = _limit(columns)
    best: dict[int, tuple[int, float, list[Group]]] = {-1: (0, 0.0, [])}
    for cell, covered in headings:
        middle = (cell.x0 + cell.x1) / 2
        following: dict[int, tuple[int, float, list[Group]]] = {}
        for last, (count, distance, groups) in best.items():
            for a in range(last + 1, min(covered) + 1):
                for b in range(max(covered), len(columns)):
                    off = abs((columns[a][0] + columns[b][1]) / 2 - middle)
                    if off > limit and (a, b) != (min(covered), max(covered)):
                        continue
                    found = (count + b - a + 1, distance - off, [*groups, (a, b)])
                    if b not in following or found[:2] > following[b][:2]:
                        following[b] = found
        best = following
    return max(best.values(), key=lambda found: found[:2])[2] if best else None


def _widened(
    row: list[Printed], line: _Line, groups: Collection[Group], columns: Columns, places: Columns, *, centered: bool
) -> list[Printed]:
    """``row`` with each heading widened to the group that it is alone over, and if ``centered`` in the middle of."""
    limit = _limit(columns) if centered else float("inf")
    result = list(row)
    for a, b in groups if line.distinct else ():
        own = set(range(a, b + 1))
        within = [number for number, (_, covered) in line.headings.items() if covered & own]
        if a == b or len(within) != 1:
            continue
        cell, covered = line.headings[within[0]]
        if covered <= own and abs(places[a][0] + places[b][1] - cell.x0 - cell.x1) / 2 <= limit:
            result[within[0]] = cell._replace(x0=columns[a][0], x1=columns[b][1])
    return result


def _limit(columns: Columns) -> float:
    """The maximum distance, in points, between the middles of a heading and of its columns."""
    middles = [(x0 + x1) / 2 for x0, x1 in columns]
    return OFF_CENTER * median(b - a for a, b in pairwise(middles))
