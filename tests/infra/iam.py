"""IAM's decision on a request, for identity policies that only allow (IAM User Guide, "Policy evaluation logic" and
"IAM JSON policy elements: Condition operators"). What these policies do not use is refused, not guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Context = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Request:
    """``resource`` is an ARN. ``context`` holds the condition keys of the request; several values are a tuple."""

    action: str
    resource: str
    context: Context = field(default_factory=dict)


def allowed(policy: Mapping[str, Any], request: Request) -> bool:
    """Whether a statement of ``policy`` allows ``request``. Raises ValueError for unsupported policy features."""
    return any(_covers(statement, request) for statement in policy["Statement"])


def many(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _covers(statement: Mapping[str, Any], request: Request) -> bool:
    if statement["Effect"] != "Allow" or not statement.keys() <= {"Sid", "Effect", "Action", "Resource", "Condition"}:
        raise ValueError(f"more than this evaluator knows: {statement}")
    conditions = [
        (operator, key, many(expected))
        for operator, keys in statement.get("Condition", {}).items()
        for key, expected in keys.items()
    ]
    return (
        any(_like(request.action.lower(), pattern.lower()) for pattern in many(statement["Action"]))
        and any(_like(request.resource, pattern) for pattern in many(statement["Resource"]))
        and all(_holds(operator, request.context.get(key), expected) for operator, key, expected in conditions)
    )


def _holds(operator: str, value: str | tuple[str, ...] | None, expected: list[str]) -> bool:
    set_operator, _, name = operator.rpartition(":")
    name, if_exists = name.removesuffix("IfExists"), name.endswith("IfExists")
    if name == "Null":
        return expected == [str(value is None).lower()]
    if name not in _OPERATORS or set_operator not in ("", "ForAllValues"):
        raise ValueError(f"an operator that this evaluator does not know: {operator}")
    values = (value,) if isinstance(value, str) else value
    if values is None:
        return if_exists or set_operator == "ForAllValues"
    if set_operator == "" and len(values) != 1:
        raise ValueError(f"{operator} of several values: {values}")
    return all(any(_OPERATORS[name](one, pattern) for pattern in expected) for one in values)


def _like(value: str, pattern: str) -> bool:
    parts = (".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


_OPERATORS: Final[dict[str, Callable[[str, str], bool]]] = {
    "StringEquals": str.__eq__,
    "StringLike": _like,
    "ArnEquals": _like,
    "ArnLike": _like,
    "Bool": lambda value, pattern: value.lower() == pattern.lower(),
}
