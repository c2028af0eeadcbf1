"""A question as a language model spells it out, before anything in it is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from finray.core.filing import Statement

Operation = Literal[
    "value", "change", "growth", "average", "sum", "ratio", "cagr", "difference", "ranking", "count", "judgement", ""
]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


@dataclass(frozen=True, slots=True)
class Spelled:
    """What a model says that a question asks for. ``text`` is the question in the words of filings; ``figure`` whether
    a number is wanted, None if the model does not say."""

    text: str
    companies: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    form: str = ""
    items: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    operation: Operation = ""
    figure: bool | None = None
