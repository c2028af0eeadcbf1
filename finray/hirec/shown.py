"""Evidence as a language model sees it: numbered passages, and the cells in them by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from finray.core.passages import Passage
from finray.core.predictions import CitedCell
from finray.core.query import Query
from finray.core.roles import Turn
from finray.models.chat import Message
from finray.models.fences import code_of, fenced, unfenced

CELL_NAME = re.compile(r"\bc\d{1,3}[A-Z]{1,2}\d{1,4}\b")
"""Passage, column and row: "c3B7"."""


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A figure that a program can name. ``unit`` is the line item's."""

    cited: CitedCell
    unit: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A table or a piece of prose with marked figures, and the passages that it stands for. ``source`` names filing and
    page."""

    text: str
    source: str
    passages: tuple[Passage, ...]
    printed: str
    """``text`` without marks."""


@dataclass(frozen=True, slots=True)
class Shown:
    """``parts`` are numbered from 1 in the prompt, the first ``kept`` of them from earlier rounds; ``cells`` are by
    name, such as c3B7."""

    parts: tuple[ShownPart, ...]
    cells: Mapping[str, ShownCell] = field(default_factory=dict)
    kept: int = 0

    def texts(self, passages: Iterable[Passage]) -> list[str]:
        """What a reader of ``passages`` can read: their text, and the parts that show them."""
        chosen = set(passages)
        shown = [part.printed for part in self.parts if chosen & set(part.passages)]
        return [*shown, *(passage.text for passage in chosen)]


Show = Callable[[Query, Sequence[Passage], int, Query | None], Shown]
"""Renders passages for a question. The number says how many of them, the first, were kept in earlier rounds; the
others are for the follow-up, if there is one."""


def messages_over(instructions: str, query: Query, shown: Shown, turn: Turn | None = None) -> list[Message]:
    """Instructions, the parts numbered from 1, the question, and for a loop the ``turn``. Parts of kept passages come
    first."""
    asked = query.question if query.text == query.question else f"{query.question}\nSearched as: {query.text}"
    code = code_of([asked, *(part.source for part in shown.parts), *(part.text for part in shown.parts)])
    lines = [
        fenced("passage", code, part.text, {"id": str(number), "source": part.source})
        for number, part in enumerate(shown.parts, start=1)
    ]
    lines.append(f"Question: {unfenced(asked)}")
    if turn is not None:
        lines.append(_turn(turn, shown.kept))
    return [Message("system", instructions), Message("user", "\n\n".join(lines))]


def _turn(turn: Turn, kept: int) -> str:
    last = ", the last one" if turn.last else ""
    earlier = f" Passages 1 to {kept} were kept in earlier rounds; the others are new." if kept else ""
    return f"Round {turn.number}{last}.{earlier}"
