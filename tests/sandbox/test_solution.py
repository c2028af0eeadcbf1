"""Programs in ``def solution():``, as HiREC's prompt asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from finray.sandbox.interpreter import run_source
from finray.sandbox.limits import Fault


def result(source: str) -> Any:
    return run_source(source, {}, ())[1]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("def solution():\n    a = 2\n    return a * 21", 42),
        ("def solution() -> float:\n    '''Why.'''\n    return 42\n\nprint(solution())", 42),
        ("import math\ndef solution():\n    import math\n    return math.sqrt(1764)", 42),
        ("def solution():\n    if 1 > 2:\n        return 1\n    a = 42\n    return a", 42),
        ("def solution():\n    if 1 < 2:\n        a = 42\n    else:\n        return 1\n    return a", 42),
        ("def solution():\n    if 1 > 2:\n        return 1\n    elif 2 > 1:\n        return 42\n    return 3", 42),
        ("def solution():\n    return 42\n    return 43", 42),
        ("def solution():\n    return 1\ndef solution():\n    return 42", 42),
    ],
)
def test_the_return_value_of_solution_is_the_answer(source: str, value: object) -> None:
    assert result(source) == value


@pytest.mark.parametrize(
    "source",
    [
        "def solution(x):\n    return x",
        "def solution(x=open('/etc/passwd')):\n    return x",
        "def solution(*xs, **more):\n    return xs",
        "@print\ndef solution():\n    return 1",
        "async def solution():\n    return 1",
        "def solution():\n    return",
        "def solution():\n    for x in [1]:\n        return x",
        "def solution():\n    if 1 < 2:\n        if 2 < 3:\n            return 1\n    return 2",
        "def solution():\n    def inner():\n        return 1\n    return inner()",
        "def solution():\n    import os\n    return 1",
        "def solution():\n    import math as os\n    return 1",
        "def solution():\n    return solution()",
        "def other():\n    return 1",
        "return 1",
    ],
)
def test_other_functions_are_refused(source: str) -> None:
    with pytest.raises(Fault):
        result(source)


def test_long_chains_of_conditions_stay_within_the_limits() -> None:
    chain = "".join(f"    elif {n} < 0:\n        return {n}\n" for n in range(150))
    source = f"def solution():\n    if 1 < 0:\n        return 1\n{chain}    return 42"
    with pytest.raises(Fault, match="nested"):
        result(source)
