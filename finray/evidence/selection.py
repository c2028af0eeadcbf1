"""Which rows and sentences fit a budget: of each page by its rank, of each table by its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from finray.evidence.candidates import Candidate, Prose
from finray.evidence.heads import counted_years
from finray.evidence.relevance import Relevance, best
from finray.evidence.rendering import row_text, table_head
from finray.evidence.tables import Table

RANK_DECAY = 0.5
"""The page of rank r gets a share of the budget as 1 / (1 + 0.5 r)."""
RETRIEVED_BONUS = 0.12
"""Added to the relevance of what a retrieved passage shows."""
NEAR = 0.55
"""Share of a page's best relevance from which rows and sentences come before whole tables."""
OTHER_PERIOD = 0.75
"""Factor for rows of none of the periods asked for."""
MIN_ROOM = 20
"""Characters; less holds no row."""
COVERED = 10.0
_TOTAL = re.compile(r"^(?:total|net cash|net (?:income|loss|earnings))\b|\btotal$", re.I)
MAX_SECTION = 80
"""Rows between a row and its heading or total, at most."""
MAX_HEADINGS = 2
"""Headings above a row that go along with it."""

Piece = tuple[int, int, int]
"""Numbers of a candidate, of its part, and of the row or sentence in that."""


@dataclass(slots=True)
class Selection:
    """Chosen pieces and their characters. ``budget`` is in characters."""

    budget: int
    chosen: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    used: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """The relevance of each row or sentence of one part, and the characters that each takes."""

    scores: tuple[float, ...]
    costs: tuple[int, ...]
    head: int
    """Characters of the part's title and heads."""

    @property
    def whole(self) -> int:
        return self.head + sum(self.costs)


def select(
    found: Sequence[Candidate], scored: Mapping[tuple[int, int], Scored], budget: int, banned: Collection[Piece] = ()
) -> dict[tuple[int, int], set[int]]:
    """The numbers of the rows or sentences of each part (candidate, part) that are shown."""
    selection = Selection(budget)
    weights = [1 / (1 + RANK_DECAY * rank) for rank in range(len(found))]
    for number, candidate in enumerate(found):
        rest = sum(weights[number:])
        allowance = (budget - selection.used) * weights[number] / rest
        _fill(selection, number, candidate, scored, selection.used + allowance, banned)
    for number, candidate in enumerate(found):
        _fill(selection, number, candidate, scored, budget, banned)
    return {key: pieces for key, pieces in selection.chosen.items() if _says_something(found, key, pieces)}


def _says_something(found: Sequence[Candidate], key: tuple[int, int], pieces: Collection[int]) -> bool:
    """Whether more than headings is chosen."""
    part = found[key[0]].parts[key[1]]
    if isinstance(part, Prose):
        return any(not part.sentences[piece].is_heading for piece in pieces)
    return any(not part.rows[piece].is_heading for piece in pieces)


def _fill(
    selection: Selection,
    number: int,
    candidate: Candidate,
    scored: Mapping[tuple[int, int], Scored],
    limit: float,
    banned: Collection[Piece],
) -> None:
    parts = [part for part in range(len(candidate.parts)) if (number, part) in scored]
    pieces = sorted(
        (
            (score, part, piece)
            for part in parts
            for piece, score in enumerate(scored[number, part].scores)
            if score > 0 and (number, part, piece) not in banned
        ),
        key=lambda each: (-each[0], each[1:]),
    )
    if not pieces:
        return
    least = NEAR * min(pieces[0][0], 1.0)
    for score, part, piece in pieces:
        if score >= least and piece not in selection.chosen.get((number, part), ()):
            _add(selection, number, part, with_context(candidate.parts[part], piece), scored, limit)
    for part in sorted(parts, key=lambda each: -best(scored[number, each].scores)):
        if any(scored[number, part].scores):
            kept = {p for p in range(len(scored[number, part].costs)) if (number, part, p) not in banned}
            _add(selection, number, part, _without_bare_headings(candidate.parts[part], kept), scored, limit)
    for _, part, piece in pieces:
        if limit - selection.used < MIN_ROOM:
            return
        if piece not in selection.chosen.get((number, part), ()):
            _add(selection, number, part, with_context(candidate.parts[part], piece), scored, limit)


def _without_bare_headings(part: Table | Prose, kept: set[int]) -> list[int]:
    """``kept`` without the headings of rows none of which is kept."""
    if isinstance(part, Prose):
        return sorted(kept)
    shown: list[int] = []
    below = False
    for number in range(len(part.rows) - 1, -1, -1):
        if not part.rows[number].is_heading:
            below = below or number in kept
            shown += [number] if number in kept else []
        else:
            shown += [number] if below else []
            below = below and number > 0 and part.rows[number - 1].is_heading
    return shown


def _add(
    selection: Selection,
    number: int,
    part: int,
    pieces: Collection[int],
    scored: Mapping[tuple[int, int], Scored],
    limit: float,
) -> None:
    """Adds all ``pieces`` if they fit."""
    own = selection.chosen.get((number, part), set())
    new = [piece for piece in pieces if piece not in own]
    known = scored[number, part]
    cost = sum(known.costs[piece] for piece in new) + (0 if own else known.head)
    if new and selection.used + cost <= limit:
        selection.chosen.setdefault((number, part), set()).update(new)
        selection.used += cost


def with_context(part: Table | Prose, piece: int) -> list[int]:
    """A row with the headings that govern it and the next total; a sentence with its neighbors."""
    if isinstance(part, Prose):
        return [at for at in (piece - 1, piece, piece + 1) if 0 <= at < len(part.sentences)]
    context = [piece]
    for at in range(piece - 1, max(piece - MAX_SECTION, 0) - 1, -1):
        if part.rows[at].is_heading:
            context.append(at)
        if len(context) > MAX_HEADINGS or (len(context) > 1 and not part.rows[at].is_heading):
            break
    for at in range(piece + 1, min(piece + MAX_SECTION, len(part.rows))):
        if part.rows[at].is_heading:
            break
        if _TOTAL.search(part.rows[at].label):
            context.append(at)
            break
    return context


def scored_part(
    candidate: Candidate, part: Table | Prose, relevance: Relevance, years: Collection[int], covered: Collection[int]
) -> Scored:
    """Relevance and cost of each row or sentence. ``covered`` are numbers of rows of line items that a plan uses."""
    if isinstance(part, Prose):
        scores = []
        for sentence in part.sentences:
            score = relevance.score(sentence.text, part.heading)
            near = score and _retrieved(candidate, sentence.start, sentence.end)
            scores.append(score + RETRIEVED_BONUS if near else score)
        costs = [len(sentence.text) + 3 for sentence in part.sentences]
        costs[0] += len(part.before)
        costs[-1] += len(part.after)
        return Scored(tuple(scores), tuple(costs), len(part.heading) + 6)
    return Scored(
        tuple(_row_scores(candidate, part, relevance, years, covered)),
        tuple(len(row_text(part, number)) + 1 for number in range(len(part.rows))),
        len(table_head(part)) + (75 if part.of_items else 24),
    )


def _row_scores(
    candidate: Candidate, table: Table, relevance: Relevance, years: Collection[int], covered: Collection[int]
) -> Iterator[float]:
    section, asked = "", set(years)
    beside = f"{table.title} {' '.join(table.heads)}"
    for row in table.rows:
        if row.is_heading:
            section = row.label
            yield 0.0
            continue
        score = relevance.score(row.label, f"{section} {beside}")
        ends = {item.period_end for item in row.items.values() if item.period_end is not None}
        if asked and ends and not any(asked & counted_years(candidate.filing, end) for end in ends):
            score *= OTHER_PERIOD
        if _retrieved(candidate, row.start, row.end):
            score += RETRIEVED_BONUS
        yield score + COVERED if any(item.row in covered for item in row.items.values()) else score


def _retrieved(candidate: Candidate, start: int, end: int) -> bool:
    return any(passage.start < end and start < passage.end for passage in candidate.passages)
