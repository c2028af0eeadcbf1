"""Chooses the rows and sentences that fit a budget: of pages by their rank, of tables and prose by their words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from finray.evidence.candidates import Candidate
from finray.evidence.heads import counted_years
from finray.evidence.prose import Prose
from finray.evidence.relevance import Relevance, best
from finray.evidence.rendering import row_text, table_head
from finray.evidence.tables import ShownTable

RANK_DECAY = 0.5
"""The page of rank r gets a share of the budget in proportion to 1 / (1 + 0.5 r)."""
PAGE_DECAY = 0.1
"""The nearest rows and sentences of the page of rank r are compared by their relevance / (1 + 0.1 r)."""
NEAREST_SHARE = 0.85
"""Share of the budget that goes to what is nearest, on all pages. With NEAR it was chosen on develop
(benchmarks/evidence_coverage.py, 1,000 tokens): all gold figures are shown of .881 of 371 questions; .827 with 0.7 and
0.55."""
RETRIEVED_BONUS = 0.12
"""Added to the relevance of rows and sentences in a retrieved passage."""
NEAR = 0.3
"""Rows and sentences with at least this share of the best relevance are chosen before whole tables."""
OTHER_PERIOD = 0.75
"""Factor for rows without a period that is asked for."""
MIN_ROOM = 20
"""Characters; no row fits in fewer."""
_LEFT_OUT = 24
"""Characters of the line that counts the rows left out."""
COVERED = 10.0
"""Added to the relevance of rows that a plan uses."""
_TOTAL = re.compile(r"^(?:total|net cash|net (?:income|loss|earnings))\b|\btotal$", re.I)
_REFERS = re.compile(
    r"[a-z]|(?:This|These|Those|Such|It|They|Its|Their|The (?:\w+ )?(?:increase|decrease|change|decline)s?)\b"
)
"""Begins a sentence that is about the one before."""
MAX_SECTION = 80
"""Maximum number of rows between a row and its heading or total."""
MAX_HEADINGS = 2
"""Maximum number of headings above a row that are shown with it."""

PartKey = tuple[int, int]
"""Numbers of a page and of its part, a table or prose."""
Piece = tuple[int, int, int]
"""Numbers of a page, its part, and a row or sentence of that."""
Chosen = Mapping[PartKey, Set[int]]
"""Numbers of the chosen rows or sentences of each part."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The relevance of each row or sentence of one part, and the characters that each takes."""

    scores: tuple[float, ...]
    costs: tuple[int, ...]
    head: int
    """Characters of the part's title and heads."""


@dataclass(frozen=True, slots=True)
class ScoredPages:
    """The pages to choose from, and the relevance of those of their parts that may be chosen."""

    pages: Sequence[Candidate]
    parts: Mapping[PartKey, Scored]

    def part(self, key: PartKey) -> ShownTable | Prose:
        return self.pages[key[0]].parts[key[1]]


def select(scored: ScoredPages, budget: int, banned: Collection[Piece] = ()) -> Chosen:
    """The rows or sentences to show of each part, in the order of the parts. ``budget`` is in characters.

    What is nearest to the question comes first, wherever it stands; what is left goes to whole tables and prose, page
    by page."""
    selection = _Selection(scored, banned)
    selection.add_nearest(budget * NEAREST_SHARE)
    weights = [1 / (1 + RANK_DECAY * rank) for rank in range(len(scored.pages))]
    for number, weight in enumerate(weights):
        allowance = (budget - selection.used) * weight / sum(weights[number:])
        selection.fill(number, selection.used + allowance)
    chosen = sorted(selection.chosen.items())
    return {key: pieces for key, pieces in chosen if _has_content(scored.part(key), pieces)}


def _has_content(part: ShownTable | Prose, chosen: Collection[int]) -> bool:
    """Whether more than headings is ``chosen``."""
    pieces = part.sentences if isinstance(part, Prose) else part.rows
    return any(not pieces[number].is_heading for number in chosen)


@dataclass(slots=True)
class _Selection:
    """The pieces chosen so far and the characters that they take."""

    scored: ScoredPages
    banned: Collection[Piece]
    chosen: dict[PartKey, set[int]] = field(default_factory=dict)
    used: int = 0

    def add_nearest(self, limit: float) -> None:
        """Chooses the pieces nearest to the question while they fit ``limit`` characters."""
        ranked = sorted(
            (-score / (1 + PAGE_DECAY * key[0]), key, piece)
            for key, part in self.scored.parts.items()
            for piece, score in enumerate(part.scores)
            if score > 0 and (*key, piece) not in self.banned
        )
        least = NEAR * min(-ranked[0][0], 1.0) if ranked else 0.0
        for negated, key, piece in ranked:
            if -negated < least:
                return
            self._add_with_context(key, piece, limit)

    def fill(self, page: int, limit: float) -> None:
        """Chooses pieces of a page while all fit ``limit`` characters: whole parts, the nearest first, then single rows
        and sentences."""
        keys = [key for key in self.scored.parts if key[0] == page]
        for key in sorted(keys, key=lambda key: -best(self.scored.parts[key].scores)):
            scores = self.scored.parts[key].scores
            if any(scores):
                allowed = {piece for piece in range(len(scores)) if (*key, piece) not in self.banned}
                self._add(key, _without_bare_headings(self.scored.part(key), allowed), limit)
        ranked = sorted(
            (-score, key, piece)
            for key in keys
            for piece, score in enumerate(self.scored.parts[key].scores)
            if score > 0 and (*key, piece) not in self.banned
        )
        for _, key, piece in ranked:
            if limit - self.used < MIN_ROOM:
                return
            self._add_with_context(key, piece, limit)

    def _add_with_context(self, key: PartKey, piece: int, limit: float) -> None:
        if piece not in self.chosen.get(key, ()):
            self._add(key, _with_context(self.scored.part(key), piece), limit)

    def _add(self, key: PartKey, pieces: Collection[int], limit: float) -> None:
        """Adds all ``pieces`` if they fit."""
        own = self.chosen.get(key, set())
        new = [piece for piece in pieces if piece not in own]
        known = self.scored.parts[key]
        cost = sum(known.costs[piece] for piece in new) + (0 if own else known.head)
        if new and self.used + cost <= limit:
            self.chosen.setdefault(key, set()).update(new)
            self.used += cost


def _without_bare_headings(part: ShownTable | Prose, kept: Set[int]) -> list[int]:
    """``kept`` without the headings of rows none of which is kept."""
    if isinstance(part, Prose):
        return sorted(kept)
    shown: list[int] = []
    below = False
    for number in range(len(part.rows) - 1, -1, -1):
        if not part.rows[number].is_heading:
            below = below or number in kept
            if number in kept:
                shown.append(number)
        elif below:
            shown.append(number)
            below = number > 0 and part.rows[number - 1].is_heading
    return shown


def _with_context(part: ShownTable | Prose, piece: int) -> list[int]:
    """A row with the headings that govern it and the next total; a sentence with the one that it refers to."""
    if isinstance(part, Prose):
        refers = piece > 0 and _REFERS.match(part.sentences[piece].text) is not None
        return [piece - 1, piece] if refers else [piece]
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
    candidate: Candidate,
    part: ShownTable | Prose,
    relevance: Relevance,
    years: Collection[int],
    covered: Collection[int],
) -> Scored:
    """Relevance and cost of each row or sentence. ``covered`` are numbers of rows of line items that a plan uses."""
    if isinstance(part, ShownTable):
        return Scored(
            tuple(_row_scores(candidate, part, relevance, years, covered)),
            tuple(len(row_text(part, number, marked=True)) + 1 for number in range(len(part.rows))),
            len(table_head(part)) + _LEFT_OUT + 3 * len(part.heads),
        )
    costs = [len(sentence.text) + 3 for sentence in part.sentences]
    costs[0] += len(part.before)
    costs[-1] += len(part.after)
    return Scored(tuple(_sentence_scores(candidate, part, relevance)), tuple(costs), len(part.heading) + 6)


def _sentence_scores(candidate: Candidate, prose: Prose, relevance: Relevance) -> Iterator[float]:
    for sentence in prose.sentences:
        score = relevance.score(sentence.text, prose.heading)
        retrieved = score and candidate.passages_in(sentence.start, sentence.end)
        yield score + RETRIEVED_BONUS if retrieved else score


def _row_scores(
    candidate: Candidate, table: ShownTable, relevance: Relevance, years: Collection[int], covered: Collection[int]
) -> Iterator[float]:
    section, asked = "", set(years)
    beside = f"{table.title} {' '.join(table.heads)}"
    for row in table.rows:
        if row.is_heading:
            section = row.label
            yield 0.0
            continue
        score = relevance.score(row.label, f"{section} {beside}")
        ends = {cell.period_end for cell in row.cells if cell.period_end is not None}
        if asked and ends and not any(asked & counted_years(candidate.filing, end) for end in ends):
            score *= OTHER_PERIOD
        own = row.page == candidate.page.page
        if own and candidate.passages_in(row.start, row.end):
            score += RETRIEVED_BONUS
        yield score + COVERED if own and row.row in covered else score
