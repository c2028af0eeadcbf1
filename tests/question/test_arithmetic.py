import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.arithmetic import ProgramError, evaluate, names, parse
from finray.question.formulas import at_period


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("revenue / mean(a, b)", 5.0),
        ("growth(a, b)", 0.5),
        ("growth(0 - a, a)", 2.0),
        ("difference(revenue, a)", 5.25),
        ("cagr(a, revenue, 1)", 5.25),
        ("-(a - b) * 2 + sum(a, b, 1)", 29.0),
        ("max(a, b) - min(a, b) + abs(-1)", 5.0),
    ],
)
def test_programs_have_the_value_of_their_arithmetic(program: str, value: float) -> None:
    assert evaluate(program, {"revenue": 50.0, "a": 8.0, "b": 12.0}) == pytest.approx(value)


def test_operands_are_listed_in_reading_order() -> None:
    assert names("b / mean(a, b) + c") == ("b", "a", "c")


@pytest.mark.parametrize(
    "hostile",
    [
        "__import__('os').system('id')", "a.b", "a[0]", "[a for a in b]", "lambda: 1", "2 ** 99999999", "a if b else c",
        "f'{a}'", "open('x')", "sum(*a)", "max(a, key=b)", "True", "'text'", "a := 1", "(" * 300 + ")" * 300, "1;2", "",
        "\0", "𝐞val('1')", "9" * 5000, "1j",
    ],
)  # fmt: skip
def test_nothing_but_arithmetic_is_read(hostile: str) -> None:
    with pytest.raises(ProgramError):
        evaluate(hostile, {"a": 1.0, "b": 2.0, "c": 3.0})


@pytest.mark.parametrize("program", ["1 / 0", "a", "1e999", "cagr(-1, 1, 2)", "1e308 * 10"])
def test_what_has_no_value_is_said_to_have_none(program: str) -> None:
    with pytest.raises(ProgramError):
        evaluate(program, {})


@given(st.text(max_size=60))
def test_any_text_is_a_number_or_a_program_error(program: str) -> None:
    try:
        value = evaluate(program, {"a": 1.0})
    except ProgramError:
        return
    assert math.isfinite(value)


@pytest.mark.parametrize(
    "expression", ["-" * 2000 + "a", "+".join("a" * 1000), "(" * 150 + "a" + ")" * 150 + "/a" * 900]
)
def test_nesting_is_limited_before_python_gives_up(expression: str) -> None:
    with pytest.raises(ProgramError, match=r"nested|not an expression"):
        parse(expression)


def test_a_sum_of_many_line_items_is_fine() -> None:
    assert evaluate(at_period("+".join("a" * 50)), {"a__0": 2.0}) == 100.0
