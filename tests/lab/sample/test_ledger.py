from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from finray.lab.sample.companies import make_companies
from finray.lab.sample.ledger import Ledger, Vintage
from finray.lab.sample.simulation import make_ledger

FIRST, YEARS = 2020, 3


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    seed, index = draw(st.integers(0, 10_000)), draw(st.integers(0, 9))
    company = make_companies(index + 1, FIRST, YEARS, seed)[index]
    return make_ledger(company, FIRST, YEARS, seed)


@settings(max_examples=40, deadline=None)
@given(ledgers())
def test_statements_tie_out_in_every_vintage(ledger: Ledger) -> None:
    for year in range(FIRST - 3, FIRST + YEARS):
        for vintage in (Vintage(year), Vintage(year, amended=True), Vintage(FIRST + YEARS - 1)):
            for quarter in range(1, 5):
                period = ledger.period(year, quarter, vintage)
                opening, closing, flows = period.opening, period.closing, period.flows
                assert closing.total_assets == closing.total_liabilities + closing.equity
                assert opening.cash + flows.net_change_in_cash == closing.cash
                assert flows.revenue == sum(flows.segment_revenue)
                assert closing.cash > 0 and closing.shares > 0 and closing.receivables > 0
            annual = ledger.annual(year, vintage)
            quarters = [ledger.period(year, quarter, vintage, quarter) for quarter in range(1, 5)]
            assert annual.flows.net_income == sum(each.flows.net_income for each in quarters)
            assert (
                annual.closing.retained_earnings - annual.opening.retained_earnings
                == annual.flows.net_income - annual.flows.dividends_paid
            )


@settings(max_examples=40, deadline=None)
@given(ledgers())
def test_balances_roll_from_year_to_year(ledger: Ledger) -> None:
    seen = Vintage(FIRST + YEARS - 1)
    for year in range(FIRST - 2, FIRST + YEARS):
        assert ledger.annual(year, seen).opening == ledger.annual(year - 1, seen).closing


def test_only_the_original_filing_of_the_restated_year_is_misstated() -> None:
    company = make_companies(3, FIRST, YEARS, 0)[2]
    ledger = make_ledger(company, FIRST, YEARS, 0)
    year = company.restated_year
    assert year is not None
    original, corrected = ledger.annual(year, Vintage(year)), ledger.annual(year, Vintage(year, amended=True))
    assert original.flows.revenue - corrected.flows.revenue == ledger.misstatement > 0
    assert original.flows.operating_cash == corrected.flows.operating_cash
    assert ledger.annual(year, Vintage(year + 1)) == corrected


def test_a_recast_moves_cost_between_lines_and_leaves_operating_income() -> None:
    company = make_companies(5, FIRST, YEARS, 0)[4]
    ledger = make_ledger(company, FIRST, YEARS, 0)
    year = company.recast_year
    assert year is not None
    first, recast = ledger.annual(year - 1), ledger.annual(year - 1, Vintage(year))
    assert recast.flows.cost_of_revenue > first.flows.cost_of_revenue
    assert recast.flows.operating_income == first.flows.operating_income
