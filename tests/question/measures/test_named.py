"""What a question measures: its own definition, a qualified metric, any phrase."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.question.measures.mentions import mentions
from finray.question.measures.named import divides_rate, is_narrowed, named_measures, spelled_measures

Ask = Callable[[str], Prediction]


def _query(question: str) -> Query:
    return Query(question=question, text=question, names=("Acme",), spans=mentions(question))


@pytest.mark.parametrize(
    ("question", "expression", "unit"),
    [
        ("Compute Acme's net margin for 2024 (net income divided by revenue).", "(net_income) / (revenue)", "percent"),
        ("What is Acme's cash conversion for 2024? Use net income divided by revenue.", "(net_income) / (revenue)",
         "ratio"),
        ("What was Acme's lease share in 2024, defined as operating lease liabilities as a percentage of total assets?",
         "operating_lease_liabilities / (total_assets)", "percent"),
        ("What was the ratio of Acme's warranty reserve to revenue in 2024?", "warranty_reserve / (revenue)", "ratio"),
    ],
)  # fmt: skip
def test_a_definition_in_the_question_is_the_program(question: str, expression: str, unit: str) -> None:
    (measures,) = spelled_measures(_query(question))
    (formula,) = measures.formulas
    assert (formula.expression, formula.unit) == (expression, unit)
    assert all(phrase.text for phrase in measures.phrases.values())


@pytest.mark.parametrize(
    ("question", "expressions"),
    [
        ("What was Acme's gross margin as a percentage of revenue?", ["(revenue - cost_of_revenue) / revenue"]),
        ("What was Acme's inventory as a percentage of revenue?", ["(inventory) / (revenue)"]),
        ("What was Acme's DIO, based on year-end inventory?", ["365 * inventory / cost_of_revenue"]),
        ("What was Acme's DIO?", ["365 * avg(inventory) / cost_of_revenue"]),
        ("What was the actual return on assets as a percentage of the ending balance?", []),
        ("What was the return on assets as a share of inventory?", []),
    ],
)
def test_a_rate_is_a_share_of_its_own_parts_only(question: str, expressions: list[str]) -> None:
    query = _query(question)
    assert [formula.expression for formula in named_measures(query).formulas] == expressions
    spelled = [formula.expression for measures in spelled_measures(query) for formula in measures.formulas]
    assert not any("net_income" in expression for expression in spelled)


def test_quotients_of_rates_are_told_apart() -> None:
    assert divides_rate([["return on assets"], ["the ending balance"]])
    assert divides_rate([["inventory"], ["return on assets"]])
    assert not divides_rate([["gross margin"], ["revenue"]])
    assert not divides_rate([["inventory"], ["revenue"]])
    assert not divides_rate([["return on assets"]])


def test_what_the_question_defines_goes_before_what_it_names(ask: Ask) -> None:
    asked = "What is the inventory ratio of Caldavale Outfitters at the end of fiscal 2022?"
    found = ask(f"{asked} Use inventory as a percentage of current assets.")
    assert found.unit == "percent"
    assert found.program is not None
    assert "inventory" in found.program
    assert "current_assets" in found.program


def test_a_share_of_a_metric_is_a_quotient(ask: Ask) -> None:
    asked = "What is the inventory share of current assets of Caldavale Outfitters at the end of fiscal 2022?"
    share = ask(asked)
    inventory, assets = (
        ask(f"What were the {metric} of Caldavale Outfitters at the end of fiscal 2022?").value
        for metric in ("inventories", "current assets")
    )
    assert inventory is not None
    assert assets is not None
    assert share.unit == "percent"
    assert share.value == pytest.approx(100 * inventory / assets)


def test_a_phrase_measures_itself() -> None:
    (measures,) = spelled_measures(_query("What were Acme's accrued warranty costs at the end of fiscal 2024?"))
    ((name, phrase),) = measures.phrases.items()
    assert (name, phrase.instant, measures.formulas[0].unit) == ("accrued_warranty_costs", True, "USD")


@pytest.mark.parametrize(
    ("question", "narrowed"),
    [
        ("What was Acme's income tax expense for fiscal 2024?", False),
        ("What was Acme's deferred income tax expense for fiscal 2024?", True),
        ("What was Acme's profit before operating expenses for fiscal 2024?", True),
        ("What were Acme's cash and short-term investments at the end of fiscal 2024?", True),
        ("What was the growth of Acme's revenue from fiscal 2023 to fiscal 2024?", False),
    ],
)
def test_a_qualifier_asks_for_another_row(question: str, narrowed: bool) -> None:
    assert is_narrowed(_query(question)) is narrowed


def test_a_definition_is_computed_from_the_pages_that_print_its_parts(ask: Ask) -> None:
    prediction = ask(
        "Calculate Caldavale Outfitters' bottom line share for fiscal 2022 (net income as a percentage of revenue)."
    )
    plain = ask("What was Caldavale Outfitters' net margin in fiscal 2022?")
    assert prediction.value == pytest.approx(plain.value)
    assert prediction.unit == "percent"
    assert prediction.program is not None
    assert {p.doc_name for p in prediction.evidence} == {p.doc_name for p in plain.evidence}


def test_a_figure_that_no_table_prints_is_refused(ask: Ask) -> None:
    prediction = ask("What was Caldavale Outfitters' deferred foreign asteroid mining tax expense for fiscal 2022?")
    assert (prediction.status, prediction.value) == ("unanswerable", None)
