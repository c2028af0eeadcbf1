# ruff: noqa: E501  # one program, one line
"""What programs mean: the same as in Python, wherever they are in the language."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.sandbox.interpreter import run_source
from finray.sandbox.language import numbers
from finray.sandbox.limits import Fault
from tests.sandbox.hostile import BROKEN, REFUSED, TOO_MUCH

PROGRAMS = {
    "arithmetic": "revenue = 1_577.0\ncosts = 1200\nanswer = round((revenue - costs) / revenue * 100, 1)",
    "powers and division": "answer = [7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 2 ** -1, 2 ** 0.5, True + 1, +3, -3]",
    "growth": "v = [100, 110, 121]\nanswer = [b / a - 1 for a, b in zip(v, v[1:])]",
    "cagr": "answer = (121 / 100) ** (1 / 2) - 1",
    "loop": "total = 0\nfor x in [1, 2, 3]:\n    if x == 2:\n        continue\n    total += x\nanswer = total",
    "break": "answer = 0\nfor x in range(100):\n    if x > 10: break\n    answer = answer + x",
    "nested loops": "answer = 0\nfor a in range(5):\n    for b in range(a):\n        if b == 3: break\n        answer += a * b",
    "unpacking": "a, (b, c) = 1, (2, 3)\n[d, e] = [4, 5]\na, b = b, a\nanswer = [a, b, c, d, e]",
    "chained assignment": "a = b = 3\nanswer = a + b",
    "dicts": "d = {2021: 5.0, 'x': 2}\nd[2022] = 7\nd[2022] += 1\nanswer = [d[2021], d[2022], len(d), 'x' in d, 3 in d]",
    "loop over a dict": "d = {1: 2, 3: 4}\nanswer = sum(d[k] for k in d)",
    "dict comprehension": "answer = {k: v * 2 for k, v in [(1, 2), (3, 4)] if v > 2}[3]",
    "lists": "x = [3, 1, 2]\nx.append(5)\nx[0] = 9\nanswer = [x, x[-1], x[1:3], x[::2], sorted(x, reverse=True), x + [1], x * 2]",
    "other names of a list see changes": "x = [1]\ny = x\ny.append(2)\ny[0] = 5\ny += [3]\nanswer = x",
    "matrix": "m = [[1, 2], [3, 4]]\nm[0][1] = 9\nanswer = [sum(row) for row in m]",
    "comparisons": "answer = [1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, 'a' < 'b', [1, 2] < [1, 3], 2 in [1, 2], None is None, 1 != 2]",
    "boolean": "answer = [1 and 2, 0 or 3, not 0, 0 and 1 / 0, 1 or 1 / 0, '' or 'x']",
    "conditional": "x = 5\nanswer = 'up' if x > 3 else 'down'",
    "else if": "x = 2\nif x == 1:\n    answer = 1\nelif x == 2:\n    answer = 4\nelse:\n    answer = 9",
    "functions": "answer = [abs(-3), min(3, 1), max([1, 5]), sum([1, 2], 3), round(2.5), round(2.675, 2), len([1]), int(3.9), float('1.5')]",
    "more functions": "answer = [list(range(5, 0, -2)), list(range(0)), list(enumerate([7, 8], start=1)), int('-12'), round(1234, -2)]",
    "math": "import_free = math.sqrt(16) + math.log(math.e)\nanswer = [import_free, math.floor(-1.5), math.pi, math.fabs(-1), math.ceil(1.2)]",
    "comprehension names end with it": "x = 5\ny = [x for x in range(3)]\nanswer = x",
    "nested comprehension": "answer = [a * b for a in range(3) if a for b in range(a)]",
    "text": "answer = 'a' + 'b' == 'ab'",
}


def value(source: str, **variables: Any) -> Any:
    return run_source(source, variables)[1]


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_means_what_it_means_in_python(source: str) -> None:
    names: dict[str, Any] = {"math": math}
    exec(source, names)  # noqa: S102
    assert value(source.replace("math.fabs", "fabs")) == names["answer"]


def test_functions_of_math_with_and_without_the_prefix() -> None:
    assert value("sqrt(9) + math.sqrt(16)") == 7.0
    assert value("prod([2, 3.5])") == 7.0


@pytest.mark.parametrize(
    ("source", "expected"),
    [("answer = 1\nx = 2", 1), ("x = 1\nans = 5\nx = 7", 5), ("x = 1\nresult = x", 1), ("x = 3", 3), ("1 + 1", 2), ("", None)],
)  # fmt: skip
def test_the_value_is_that_of_answer_or_of_the_last_statement(source: str, expected: object) -> None:
    assert value(source) == expected


def test_given_variables_can_be_used_but_are_not_the_result() -> None:
    interpreter, result = run_source("growth = new / old - 1", {"new": 120.0, "old": 100.0})
    assert result == pytest.approx(0.2)
    assert list(interpreter.assigned) == ["growth"]


def test_an_error_names_its_line() -> None:
    with pytest.raises(Fault) as caught:
        value("x = 1\ny = 2\nfor i in range(3):\n    z = x / (y - 2)")
    assert (caught.value.line, caught.value.message) == (4, "division by zero")
    with pytest.raises(Fault) as caught:
        value("x = 1\n\nopen(x)")
    assert caught.value.line == 3
    assert "'open'" in caught.value.message


def test_the_numbers_of_a_source_are_those_that_python_reads_in_it() -> None:
    source = "a = 1_577 - 2.5e-3\nb = .5 if x9 else 4.\nc = float('7,000')\nd = 1e999"
    assert numbers(source) >= {1577, 0.0025, 0.5, 4.0, 7, math.inf}
    assert numbers("1" * 5_000) == set()


@pytest.mark.parametrize("source", [*REFUSED.values(), *TOO_MUCH.values(), *BROKEN.values()])
def test_a_hostile_program_only_causes_a_fault(source: str) -> None:
    with pytest.raises(Fault):
        value(source)
        # Some results are only too long to be sent.
        raise Fault("limit", "sent nowhere")


NUMBERS = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)))
EXPRESSIONS = st.recursive(
    NUMBERS.map(repr),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "and", "or"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda x: f"abs({x})"),
        inner.map(lambda x: f"(-{x})"),
        st.tuples(inner, inner, inner).map(lambda x: f"({x[0]} if {x[1]} else {x[2]})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda x: f"max([{', '.join(x)}])"),
        st.lists(inner, min_size=1, max_size=3).map(lambda x: f"sum(y * 2 for y in [{', '.join(x)}])"),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_arithmetic_is_that_of_python(expression: str) -> None:
    try:
        expected = eval(expression, {"__builtins__": {"abs": abs, "max": max, "sum": sum}})  # noqa: S307
    except (ZeroDivisionError, OverflowError):
        with pytest.raises(Fault):
            value(expression)
        return
    assert value(expression) == expected
    assert run_source(expression, {}, numbers(expression))[1] == expected, (
        "to know where a number comes from changes none"
    )


WORDS = """x y answer math 1 2.5 1e9 10 ** * / + - % // ( ) [ ] { } , : = == < in for if else elif not and or lambda def
import range sum max len zip sorted append . __class__ 'a' f'' := break continue while is None True"""
TOKENS = st.sampled_from([*WORDS.split(), "\n", "\n    "])


@given(st.one_of(st.text(max_size=300), st.lists(TOKENS, max_size=40).map(" ".join)))
def test_any_text_runs_or_causes_a_fault(source: str) -> None:
    try:
        value(source)
    except Fault as fault:
        assert fault.message
