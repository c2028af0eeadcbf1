from finray.filings.tables.canonical import canonical_items
from finray.question.measures.formulas import at_period, formulas, line_items


def test_formulas_are_over_known_line_items() -> None:
    for formula in formulas().values():
        assert set(line_items(formula)) <= set(canonical_items()), formula.key
        assert formula.names


def test_periods_are_written_out() -> None:
    assert at_period("revenue / avg(ppe_net)") == "revenue__0 / mean(ppe_net__1, ppe_net__0)"
    assert at_period("delta(inventory)") == "inventory__0 - inventory__1"
    assert at_period("prior(avg(x))") == "mean(x__2, x__1)"
