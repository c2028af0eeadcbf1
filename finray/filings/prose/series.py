"""Finds figures that a sentence lists by period, like a row of a table.

Many figures of notes are printed only in such lists. Two forms are read: "Rent was $17 million, $15 million and $12
million in 2025, 2024 and 2023", and "33.6% for fiscal 2023, 25.4% for fiscal 2022".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from finray.core.vocabulary import SCALE, SCALES
from finray.filings.prose.figures import ProseFigure, prose_figures
from finray.filings.prose.periods import Piece, pieces_of, runs

MOST_PERIODS = 12
_LABEL = 140
"""Characters kept of a label."""
_FEW_WORDS = 4
"""If fewer words precede the periods, those after them name the figures too: "we had $5 and $4 million of debt"."""
_COMPARES: Final = frozenset({
    "compared", "to", "with", "versus", "vs", "from", "up", "down", "against", "than", "increased", "decreased",
    "increasing", "decreasing", "rose", "fell", "was", "were", "a", "an", "over", "million", "shares", "units",
})  # fmt: skip
"""Words between a period and the next figure of its list."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SCALED = re.compile(rf"[\s-](?P<scale>{SCALE})\Z", re.I)
_FOOTNOTE = re.compile(r"\(\w{1,3}\)")
_GOES_ON = re.compile(r"[ ,;]*(?:of|in|for|on|at|from|to|related)\b", re.I)
_STOPS = re.compile(r"[;,]|\.\s")
_EDGES: Final = frozenset({
    "was", "were", "is", "are", "be", "been", "had", "has", "have", "of", "to", "by", "and", "or", "in", "for", "at",
    "as", "on", "from", "the", "a", "an", "that", "which", "totaled", "totalled", "amounted", "approximately", "about",
    "respectively", "during", "our", "we", "its", "also", "with", "period", "periods",
})  # fmt: skip
"""Words that link what is counted with its figures and periods."""
_Places = tuple[list[int], list[int]]
"""Indices of figures, and of their periods, among the pieces."""


@dataclass(frozen=True, slots=True)
class ProseSeries:
    """Figures of one kind, in reading order, and their periods in full, like headings of columns.

    ``label`` are the words of the sentence around them.
    """

    label: str
    figures: tuple[ProseFigure, ...]
    periods: tuple[str, ...]


@lru_cache(maxsize=4096)  # pages recur between questions
def prose_series(text: str) -> tuple[ProseSeries, ...]:
    """The series that a sentence lists, in reading order."""
    if len(_YEAR.findall(text)) < 2 or sum(not figure.spelled for figure in prose_figures(text)) < 2:
        return ()  # as for most sentences
    pieces = pieces_of(text)
    if sum(piece.kind == "period" for piece in pieces) < 2 or sum(piece.kind == "figure" for piece in pieces) < 2:
        return ()
    lists = list(_listed(text, pieces))
    taken = {at for figures, _ in lists for at in figures}
    found = sorted([*lists, *_paired(text, pieces, taken)])
    read: list[ProseSeries] = []
    for figures, periods in found:
        series = _series(text, pieces, figures, periods, found)
        # "$5 and $4 million for the three months ended June 30, 2025 and 2024 and $9 and $8 million for the six months"
        if not series.label and read:
            series = replace(series, label=read[-1].label)
        read.append(series)
    return tuple(read)


def _listed(text: str, pieces: Sequence[Piece]) -> Iterator[_Places]:
    """Figures listed one after another, with the nearest list of as many periods."""
    listed = runs(pieces, "period")
    periods = [run for run in listed if 1 < len(run) <= MOST_PERIODS and not _is_range(text, pieces[run[0]])]
    for figures in runs(pieces, "figure"):
        fitting = [run for run in periods if len(run) == len(figures)]
        if fitting and _alike(pieces, figures):
            yield figures, min(fitting, key=lambda run: (_distance(figures, run), run[0] < figures[0]))


def _is_range(text: str, first: Piece) -> bool:
    """Whether "between" precedes the first period: "between May 2025 and June 2026"."""
    return text[: first.start].rstrip().lower().endswith("between")


def _distance(one: Sequence[int], other: Sequence[int]) -> int:
    return other[0] - one[-1] if other[0] > one[-1] else one[0] - other[-1]


def _paired(text: str, pieces: Sequence[Piece], taken: set[int]) -> Iterator[_Places]:
    """Figures right before their periods; figures in ``taken`` are left out."""
    pairs: list[tuple[int, int]] = []
    for at, piece in enumerate(pieces):
        if piece.kind != "figure" or at in taken:
            continue
        period = next((n for n in range(at + 1, len(pieces)) if pieces[n].kind != "join"), None)
        if period is not None and pieces[period].kind == "period":
            pairs.append((at, period))
    groups: list[list[tuple[int, int]]] = [pairs[:1]] if pairs else []
    for (before, period), (figure, next_period) in pairwise(pairs):
        if not _alike(pieces, [before, figure]) or not _connects(text, pieces, groups[-1][0][0], period, figure):
            groups.append([])
        groups[-1].append((figure, next_period))
    for group in groups:
        figures, periods = [figure for figure, _ in group], [period for _, period in group]
        if 1 < len(group) <= MOST_PERIODS and len({pieces[period].header for period in periods}) == len(group):
            yield figures, periods


def _connects(text: str, pieces: Sequence[Piece], first: int, period: int, figure: int) -> bool:
    """Whether the words between a period and the next figure compare, or repeat those before the first figure."""
    known = _COMPARES | {_word(text, piece) for piece in pieces[:first] if piece.kind == "word"}
    between = pieces[period + 1 : figure]
    return all(piece.kind in ("join", "link") or _word(text, piece) in known for piece in between)


def _word(text: str, piece: Piece) -> str:
    return text[piece.start : piece.end].lower()


def _alike(pieces: Sequence[Piece], places: Sequence[int]) -> bool:
    """Whether the figures at ``places`` have the same kind and unit."""
    return len({(f.kind, f.unit) for at in places if (f := pieces[at].figure) is not None}) == 1


def _series(
    text: str, pieces: Sequence[Piece], figures: list[int], periods: list[int], found: Sequence[_Places]
) -> ProseSeries:
    """The series of these figures and periods. Its label does not reach into the other series ``found``."""
    first, last = pieces[figures[0]].start, pieces[figures[-1]].end
    others = [run for each in found for run in each if run not in (figures, periods)]
    begins = max((end for run in others if (end := pieces[run[-1]].end) <= first), default=0)
    ends = min((start for run in others if (start := pieces[run[0]].start) >= last), default=len(text))
    named = pieces[periods[0]].start
    between = text[last : min(named, ends)] if named > last else ""
    words = [_bare(text, pieces, begins, first), _trimmed(between)]
    if len(" ".join(words).split()) < _FEW_WORDS:
        rest = text[max(last, pieces[periods[-1]].end) : ends].lstrip(" ,;").removeprefix("respectively")
        if _GOES_ON.match(rest) is not None:
            words.append(_trimmed(_STOPS.split(rest.lstrip(" ,;"), maxsplit=1)[0]))
    label = " ".join(filter(None, words))[:_LABEL].strip()
    listed = _scaled(text, [pieces[at].figure for at in figures])
    return ProseSeries(label, listed, tuple(pieces[at].header for at in periods))


def _bare(text: str, pieces: Sequence[Piece], start: int, end: int) -> str:
    """``text[start:end]`` after its last semicolon, without figures and periods."""
    parts, at = [], start
    for piece in pieces:
        if piece.kind in ("figure", "period") and start <= piece.start < end:
            parts.append(_trimmed(text[at : piece.start]))
            at = piece.end
    return _trimmed(" ".join([*parts, text[at:end]]).rpartition(";")[2])


def _trimmed(text: str) -> str:
    """``text`` without words at its ends that link it with figures and periods."""
    words = text.replace(" ,", ",").split()
    while words and _links(words[-1]):
        words.pop()
    while words and _links(words[0]):
        words.pop(0)
    return " ".join(words).strip(" ,;:.")


def _links(word: str) -> bool:
    bare = word.strip(",.;:").lower()
    return not bare or bare in _EDGES or _FOOTNOTE.fullmatch(bare) is not None


def _scaled(text: str, figures: Sequence[ProseFigure | None]) -> tuple[ProseFigure, ...]:
    """``figures`` in whole units: in "$13.7, $11.9 and $10.9 billion" the last word scales all of them."""
    known = [figure for figure in figures if figure is not None]
    scales = [_SCALED.search(text, figure.start, figure.end) for figure in known]
    last = scales[-1]
    if last is None or any(scales[:-1]):
        return tuple(known)
    scale = SCALES[last["scale"].lower()]
    return (*(replace(figure, value=figure.value * scale) for figure in known[:-1]), known[-1])
