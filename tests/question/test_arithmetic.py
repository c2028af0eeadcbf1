import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.arithmetic import ProgramError, evaluate, names, parse
from finray.question.measures.formulas import at_period


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
def test_an_expression_without_a_value_is_an_error(program: str) -> None:
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


@pytest.mark.parametrize(
    "expression",
    ["~" * 900 + "1", "not " * 700 + "a", "a." * 1500 + "b", "-" * 50 + "~" * 900 + "1", "a" + "[0" * 150 + "]" * 150],
)
def test_what_is_not_allowed_is_refused_however_deep_it_nests(expression: str) -> None:
    with pytest.raises(ProgramError, match=r"not allowed|not an expression"):
        parse(expression)


@given(
    st.recursive(
        st.sampled_from(["revenue", "a", "1", "~a", "a.b", "1e400", "''"]),
        lambda inner: st.one_of(
            st.builds("{}({})".format, st.sampled_from(["avg", "delta", "prior", "mean", "cagr", "f"]), inner),
            st.builds("{}{}".format, st.sampled_from(["-", "~", "not "]), inner),
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "/", "**", ","]), inner),
        ),
        max_leaves=40,
    ),
    st.integers(1, 400),
)
def test_any_nesting_is_written_out_and_computed_or_refused(expression: str, repeated: int) -> None:
    for program in (expression, "-" * repeated + expression, "delta(" * repeated + expression + ")" * repeated):
        try:
            written = at_period(program)
            value = evaluate(written, dict.fromkeys(names(written), 2.0))
        except ProgramError:
            continue
        assert math.isfinite(value)


def test_looking_back_is_limited_as_each_doubles_what_is_written() -> None:
    assert at_period("delta(avg(a))").count("a__") == 4
    with pytest.raises(ProgramError, match="nested avg"):
        parse("delta(delta(delta(a)))")
    with pytest.raises(ProgramError, match="not allowed"):
        parse("avg(a, b)")  # the mean of one item over two years has one argument


def test_a_sum_of_many_line_items_is_fine() -> None:
    assert evaluate(at_period("+".join("a" * 50)), {"a__0": 2.0}) == 100.0
