"""A question as a language model spells it out, unchecked."""

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
    """What a question asks for, according to a model. ``text`` is the question in the words of filings; ``figure`` is
    whether it asks for a number, None if the model does not say."""

    text: str
    companies: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    form: str = ""
    items: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    operation: Operation = ""
    figure: bool | None = None
