"""The language of plans: what parses, what it computes, and what its grammar allows."""

from __future__ import annotations

import pytest

from finray.answering.written_plans.language import (
    MAX_CHARACTERS,
    OPERATIONS,
    Call,
    CellId,
    Number,
    PlanError,
    cells_of,
    grammar,
    parse,
    program_of,
    unit_of,
)
from finray.question.arithmetic import evaluate

A, B, C = CellId(1, 1), CellId(1, 2), CellId(2, 1)
NAMES = {A: "a", B: "b", C: "c"}
VALUES = {"a": 120.0, "b": 100.0, "c": 40.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("r1c1", 120.0),
        ("difference(r1c1, r1c2)", 20.0),
        ("growth(r1c1, r1c2)", 0.2),
        ("share(r2c1, r1c2)", 0.4),
        ("ratio(r1c1, r2c1)", 3.0),
        ("sum(r1c1, r1c2, r2c1)", 260.0),
        ("average(r1c1, r1c2)", 110.0),
        ("max(r1c1, r1c2, r2c1)", 120.0),
        ("share(difference(r1c1, r1c2), r2c1)", 0.5),
        ("growth(r1c1, 100)", 0.2),
        ("product(r2c1, -0.5)", -20.0),
        ("cagr(r1c1, r1c2, 1)", 0.2),
    ],
)
def test_plans_compute(text: str, value: float) -> None:
    expression = parse(text)
    assert expression is not None
    assert str(expression) == text
    assert evaluate(program_of(expression, NAMES), VALUES) == pytest.approx(value)


def test_none_is_no_plan() -> None:
    assert parse(" none ") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "r1",
        "revenue",
        "growth(r1c1)",
        "growth(r1c1, r1c2, r2c1)",
        "sum(r1c1)",
        "open(r1c1, r1c2)",
        "r1c1 r1c2",
        "growth(r1c1, r1c2",
        "growth(r1c1, r1c2))",
        "__import__(r1c1, r1c2)",
        "difference(" * 6 + "r1c1" + ", r1c2)" * 6,
        "sum(" + ", ".join(["r1c1"] * (MAX_CHARACTERS // 5)) + ")",
    ],
)
def test_other_texts_are_refused_with_the_reason(text: str) -> None:
    with pytest.raises(PlanError) as raised:
        parse(text)
    assert len(str(raised.value)) > len("plan")


def test_cells_are_named_once_in_order() -> None:
    expression = parse("share(r2c1, sum(r1c1, r2c1))")
    assert expression is not None
    assert cells_of(expression) == (C, A)


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        (A, "USD"),
        (Call("difference", (A, B)), "USD"),
        (Call("growth", (A, B)), "percent"),
        (Call("difference", (Call("share", (A, B)), Call("share", (C, B)))), "percent"),
        (Call("ratio", (A, B)), "ratio"),
        (Call("product", (C, A)), "USD"),
        (Call("product", (A, Number(2))), "USD"),
    ],
)
def test_units(expression: Call, unit: str) -> None:
    assert unit_of(expression, {A: "USD", B: "USD", C: "ratio"}) == unit


def test_a_price_times_shares_is_money() -> None:
    assert unit_of(Call("product", (A, B)), {A: "shares", B: "USD/share"}) == "USD"


def test_the_grammar_names_the_cells_of_the_sheet_and_every_operation() -> None:
    text = grammar([3, 1])
    assert '"r1c" [1-3] | "r2c" [1-1]' in text
    assert all(f'"{name}("' in text for name in OPERATIONS)
