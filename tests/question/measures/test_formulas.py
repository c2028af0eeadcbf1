import pytest

from finray.filings.tables.canonical import canonical_items
from finray.question.measures.definitions import defined_formula
from finray.question.measures.formulas import at_period, formulas, line_items
from finray.question.measures.mentions import mentions


def test_formulas_are_over_known_line_items() -> None:
    for formula in formulas().values():
        assert set(line_items(formula)) <= set(canonical_items()), formula.key
        assert formula.names


def test_periods_are_written_out() -> None:
    assert at_period("revenue / avg(ppe_net)") == "revenue__0 / mean(ppe_net__1, ppe_net__0)"
    assert at_period("delta(inventory)") == "inventory__0 - inventory__1"
    assert at_period("prior(avg(x))") == "mean(x__2, x__1)"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("What is the net income?", ["net_income"]),
        ("free cash flow conversion", ["free_cash_flow_conversion"]),
        ("days-payable outstanding (DPO)", ["days_payable_outstanding", "days_payable_outstanding"]),
        ("capex and R&D", ["capex", "research_and_development"]),
        ("the revenues grew", ["revenue"]),
        ("an incoming tax", []),
    ],
)
def test_metrics_are_found_by_their_longest_name(text: str, keys: list[str]) -> None:
    assert [mention.value for mention in mentions(text)] == keys


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        (
            "DPO is defined as: 365 * (average accounts payable between FY2016 and FY2017) / (FY2017 COGS + change in "
            "inventory between FY2016 and FY2017). Round your answer.",
            "365 * (avg(accounts_payable)) / (cost_of_revenue + delta(inventory))",
        ),
        (
            "ROA is defined as: FY2017 net income / (average total assets between FY2016 and FY2017).",
            "net_income / (avg(total_assets))",
        ),
        ("It is defined as: the mood of the board.", None),
        ("What is revenue?", None),
    ],
)
def test_a_questions_own_definition_is_understood_or_left(question: str, expression: str | None) -> None:
    found = defined_formula(question)
    assert (found and found.replace(" ", "")) == (expression and expression.replace(" ", ""))
