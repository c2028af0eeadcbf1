"""Which constants a program may use beside the figures that its evidence prints."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from finray.sandbox.interpreter import Interpreter, run_source
from finray.sandbox.limits import Fault

FIGURES = (1577.5, 1400, 302, 300, 250, 8.25, 0.62)


def ungrounded(source: str) -> tuple[float, ...]:
    interpreter, value = run_source(source, {}, FIGURES)
    return interpreter.ungrounded(value)


@pytest.mark.parametrize(
    "source",
    [
        "answer = 1577.5",
        "answer = -1577.5 * 10**6",
        "scale = 1_000_000\nnew = 1577.5 * scale\nold = 1400e0 * scale\nanswer = (new - old) / old * 100",
        "answer = round(1577.5 / 1400 - 1, 4) * 100",
        "answer = (1577.5 / 1400) ** (1 / 3) - 1",
        "answer = ((1577.5 / 1400) ** 0.2 - 1) * 100",
        "answer = (1577.5 / 1400) ** (1 / len([1577.5, 1400])) - 1",
        "answer = 300 / ((1577.5 + 1400) / 2)",
        "answer = 365 * 300 / ((1577.5 + 1400) / 2)",
        "days = 365 / 4\nanswer = 250 / 1400 * days",
        "xs = [1577.5, 1400, 300, 250, 8.25]\nanswer = sum(xs) / len(xs)",
        "answer = (1577.5 + 1400 + 300 + 250 + 8.25) * 10**6 / 5",
        "total = 0\nn = 0\nfor x in [1577.5, 1400, 300, 250, 8.25]:\n    total += x\n    n += 1\nanswer = total / n",
        "answer = 250 * 4",
        "answer = (1577.5 + 1400 + 300) / (302 - 300 + 1)",
        "answer = 100 - 8.25",
        "answer = 1400 * (1 - 0.62)",
        "answer = (1 + 300 / 250) * (1 + 250 / 1400) - 1",
        "answer = max(1577.5, 1400, 0) - min([300, 250])",
        "answer = sum(x * 10**6 for x in [300, 250])",
        "growth = [b / a - 1 for a, b in zip([250, 300], [300, 1400])]\nanswer = max(growth) * 100",
        "answer = abs(250 - 300) / 250 * 100",
        "answer = sqrt(1577.5 * 1400)",
        "answer = exp(log(1577.5 / 1400) / 3) - 1",
        "answer = 1400 if 1577.5 > 300 else 250",
        "table = {2021: 300, 2022: 250}\nanswer = table[2022] - table[2021]",
        "answer = sum(1 for x in [1577.5, 1400, 300] if x > 1000)",
        "n = 0\nfor x in [300, 250, 1400]:\n    if x > 1000:\n        n = n + 1\nanswer = n",
        "answer = len([x for x in [1577.5, 1400, 300] if x > 0])",
        "answer = (300 - 300) / 250 * 100",
        "answer = 300 / 300",
        "unused = 437\nanswer = 1400",
    ],
)  # fmt: skip
def test_figures_scales_divisors_and_counts_are_grounded(source: str) -> None:
    assert ungrounded(source) == ()


@pytest.mark.parametrize(
    ("source", "foreign"),
    [
        ("m = 1000000\nanswer = (4*100+3*12+1)*m", 437_000_000),
        ("answer = 437", 437),
        ("answer = 0", 0),
        ("answer = 1400 + 437", 437),
        ("answer = 1400 * 0 + 4 * 100 + 37", 437),
        ("answer = 1400 - 1400 + 437", 437),
        ("answer = 1400 * 0.9", 0.9),
        ("answer = 1400 * (4 * 9)", 36),
        ("answer = 1400 * 3 * 12 * 4", 4),
        ("answer = 1400 + 1", 1),
        ("answer = 300 / 250 - 1 - 1 - 1", 1),
        ("one = 300 / 300\nanswer = (one * 4 * 100 + one * 3 * 12 + one) * 10**6", 437_000_000),
        ("one = 300 / 250 - 1\nfor i in range(436):\n    one = one + 1\nanswer = one", 1),
        ("n = 0\nfor i in range(437):\n    n += 1\nanswer = n * 10**6", 437_000_000),
        ("n = 0\nfor x in [300] * 437:\n    n += 1\nanswer = n", 437),
        ("n = sum(1 for a in [300] * 437)\nanswer = 300 * n / 300 * 10**6", 437),
        ("n = len([300] * 437)\nanswer = 300 / (300 / n)", 437),
        ("answer = sum([1400, 437])", 437),
        ("answer = prod([1400, 1.07])", 1.07),
        ("answer = max(1400, 9999)", 9999),
        ("answer = max(437, 438)", 438),
        ("answer = int('437')", 437),
        ("answer = 437 if 1400 > 300 else 438", 437),
        ("answer = 1400 if 300 > 275 else 250", 275),
        ("answer = 1400 % 437", 437),
        ("answer = 1400 ** 1.07", 1.07),
        ("answer = 2 ** 300", 2),
        ("answer = round(437.2)", 437),
        ("answer = math.pi * 300", 3.141592653589793),
        ("answer = (300 + 250) / 7", 7),
        ("answer = [437, 1400][0]", 437),
    ],
)  # fmt: skip
def test_other_constants_are_named(source: str, foreign: float) -> None:
    assert foreign in ungrounded(source)


OPERATORS = st.sampled_from(["+", "-", "*", "/"])


def expressions(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, OPERATORS, inner).map(lambda parts: f"({' '.join(parts)})"),
            inner.map(lambda x: f"({x} * 10**6)"),
            inner.map(lambda x: f"({x} / 100)"),
            inner.map(lambda x: f"(-{x})"),
            st.lists(inner, min_size=1, max_size=4).map(lambda xs: f"(sum([{', '.join(xs)}]) / {len(xs)})"),
            st.lists(inner, min_size=1, max_size=4).map(lambda xs: f"max({', '.join(xs)}, 0)"),
        ),
        max_leaves=10,
    )


PRINTED = st.integers(101, 99_999).filter(lambda n: n % 10 != 0)


@given(expressions(PRINTED.map(str)))
def test_programs_of_printed_operands_are_grounded(expression: str) -> None:
    figures = [int(token) for token in re.findall(r"\d+", expression) if int(token) > 100]
    assume(len(set(figures)) == len(figures))  # one that cancels itself out says nothing
    interpreter, value = run(f"answer = {expression}", figures)
    assume(value != 0)
    assert interpreter.ungrounded(value) == ()


@given(expressions(st.one_of(st.integers(0, 1000), st.floats(0.001, 1e6, allow_nan=False)).map(repr)))
def test_programs_of_constants_are_ungrounded(expression: str) -> None:
    interpreter, value = run(f"a = {expression}\nanswer = a * 1000", [])
    assert interpreter.ungrounded(value) == (value,)


@given(expressions(PRINTED.map(str)))
def test_an_unprinted_figure_beside_printed_ones_is_found(expression: str) -> None:
    figures = [int(token) for token in re.findall(r"\d+", expression) if int(token) > 100]
    interpreter, value = run(f"answer = {expression} + 437.125 * 1000", figures)
    assert interpreter.ungrounded(value) != ()


def run(source: str, figures: Collection[float]) -> tuple[Interpreter, Any]:
    try:
        return run_source(source, {}, figures)
    except Fault:
        reject()  # it divides by zero
