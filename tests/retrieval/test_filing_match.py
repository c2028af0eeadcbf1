import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import UNIDENTIFIED, Filing, FiscalPeriod
from finray.core.forms import EARNINGS_RELEASE
from finray.core.period import Period
from finray.question.forms import forms_asked, forms_implied
from finray.question.intents import intents_of
from finray.retrieval.filing_match import PERIOD_MATCH, match_score, period_fit, shipped_filing_match
from finray.retrieval.filing_relations import PERIODS


def filing(
    form: str, year: int | None, part: FiscalPeriod | None = "FY", end: str | None = None, **facts: object
) -> Filing:
    period_end = dt.date.fromisoformat(end) if end else dt.date(year or 2000, 12, 31)
    return Filing(
        filing_id=f"{form}-{year}-{part}-{end}",
        doc_name="d",
        source_uri="",
        content_sha256="",
        company="c",
        form=form,
        fiscal_year=year,
        fiscal_period=part,
        period_end=period_end,
        **facts,  # type: ignore[arg-type]
    )


def intents(question: str) -> frozenset[str]:
    return intents_of(question, question, (), 1, 1)


def best(question: str, periods: list[Period], *filings: Filing) -> Filing:
    latest = max(periods, key=lambda period: (period.year, str(period.part)), default=None)
    return max(
        filings,
        key=lambda f: match_score(f, periods, forms_asked(question), forms_implied(intents(question), latest))[0],
    )


def test_year_to_date_figures_are_in_the_quarterly_report() -> None:
    reports = [filing("10-K", 2025), filing("10-Q", 2025, "Q2", "2025-06-30"), filing("10-Q", 2025, "Q3", "2025-09-30")]
    assert best("the first nine months of fiscal 2025", [Period(2025, "Q3", months=9)], *reports) is reports[2]
    ended = Period(2025, None, dt.date(2025, 6, 30), 6)
    assert best("the six months ended June 30, 2025", [ended], *reports) is reports[1]


def test_a_quarter_without_a_report_of_its_own_is_in_that_of_a_year_later() -> None:
    reports = [filing("10-K", 2024), filing("10-Q", 2025, "Q2", "2025-06-30"), filing("10-K", 2025)]
    assert best("Q2 FY2024", [Period(2024, "Q2")], *reports) is reports[1]
    ended = Period(2024, None, dt.date(2024, 6, 30), 3)
    assert best("the three months ended June 30, 2024", [ended], *reports) is reports[1]


def test_guidance_for_a_year_is_given_before_it_is_over() -> None:
    assert "looks_ahead" in intents("What revenue did the company expect for FY2023?")
    assert "looks_ahead" in intents("the outlook for 2023")
    assert "looks_ahead" not in intents("What was the revenue in FY2023?")
    before, after = filing("10-K", 2022), filing("10-K", 2023)
    release, quarter = filing(EARNINGS_RELEASE, 2022, "Q4"), filing("10-Q", 2023, "Q1", "2023-03-31")
    implied = forms_implied(intents("guidance for FY2023"), Period(2023, "FY"))

    def score(candidate: Filing) -> float:
        return match_score(candidate, [Period(2023, "FY")], (), implied, ahead=True)[0]

    assert score(release) > score(before) > score(after)
    assert score(quarter) > score(after)


def test_a_question_without_a_period_is_about_the_present() -> None:
    assert forms_implied(intents("sales excluding the impact of currency"), None)[EARNINGS_RELEASE] == "outlook"


ANNUAL = {year: filing("10-K", year) for year in range(2018, 2024)}


def test_the_annual_report_of_the_year_comes_first() -> None:
    assert best("revenue in FY2020", [Period(2020, "FY")], *ANNUAL.values()) is ANNUAL[2020]


def test_the_latest_year_of_several_decides() -> None:
    periods = [Period(year, "FY") for year in (2019, 2020, 2021)]
    assert best("average FY2019 to FY2021", periods, *ANNUAL.values()) is ANNUAL[2021]


def test_a_year_may_be_the_calendar_year_in_which_it_ends() -> None:
    retailer = filing("10-K", 2022, "FY", "2023-01-28")
    older = filing("10-K", 2021, "FY", "2022-01-29")
    assert best("FY2023", [Period(2023, "FY")], retailer, older) is retailer


def test_the_companys_own_count_goes_before_the_calendar() -> None:
    own = filing("10-K", 2023, "FY", "2024-02-03")
    calendar = filing("10-K", 2022, "FY", "2023-01-28")
    assert best("FY2023", [Period(2023, "FY")], own, calendar) is own


def test_a_quarter_needs_its_quarterly_report() -> None:
    q2, q3 = filing("10-Q", 2023, "Q2", "2023-06-30"), filing("10-Q", 2023, "Q3", "2023-09-30")
    assert best("Q2 2023", [Period(2023, "Q2")], q2, q3, *ANNUAL.values()) is q2


def test_a_date_finds_the_current_report_of_that_day() -> None:
    day = dt.date(2023, 5, 30)
    right, other = filing("8-K", None, None, "2023-05-26"), filing("8-K", None, None, "2023-05-03")
    assert best("8-K dated May 30, 2023", [Period(2023, None, day)], right, other, *ANNUAL.values()) is right


def test_an_amendment_comes_first_only_when_asked_for() -> None:
    amended = filing("10-K/A", 2020, is_amendment=True)
    assert best("revenue in FY2020", [Period(2020, "FY")], amended, ANNUAL[2020]) is ANNUAL[2020]
    assert best("the amended 10-K filing for FY2020", [Period(2020, "FY")], amended, ANNUAL[2020]) is amended


def test_guidance_is_in_the_earnings_release() -> None:
    release = filing(EARNINGS_RELEASE, 2020, "Q4")
    assert best("adjusted EBITDA guidance for FY2020", [Period(2020, "FY")], release, ANNUAL[2020]) is release


def test_another_year_does_not_fit_at_all() -> None:
    assert period_fit(ANNUAL[2020], [Period(2023, "FY")])[0] == 0


days = st.none() | st.dates(dt.date(2018, 1, 1), dt.date(2026, 1, 1))
filings = st.builds(
    filing,
    st.sampled_from(["10-K", "10-K/A", "10-Q", "8-K", "20-F", EARNINGS_RELEASE, "ARS", "DEF 14A", UNIDENTIFIED]),
    st.none() | st.integers(2018, 2026),
    st.sampled_from([None, "FY", "Q1", "Q2", "Q3", "Q4"]),
    st.none() | st.dates(dt.date(2018, 1, 1), dt.date(2026, 1, 1)).map(str),
    is_amendment=st.booleans(),
    filed_at=days,
)
asked_periods = st.lists(
    st.builds(Period, st.integers(2018, 2026), st.sampled_from([None, "FY", "Q1", "Q4"]), days), max_size=3
)
questions = st.sampled_from(
    ["revenue", "the amended 10-K", "balance as of the day", "guidance", "the 8-K dated", "who resigned in the 10-Q"]
)


@given(filings, asked_periods, questions, st.booleans())
def test_scores_stay_between_0_and_1(each: Filing, periods: list[Period], question: str, ahead: bool) -> None:
    implied = forms_implied(intents(question), max(periods, key=lambda p: p.year, default=None))
    score, reasons = match_score(each, periods, forms_asked(question), implied, ahead=ahead)
    assert 0 <= score <= 1
    assert len(reasons) >= 2
    assert 0 <= period_fit(each, periods)[0] <= 1


def test_fitting_leaves_every_relation_on_its_side_of_a_match() -> None:
    fitted = shipped_filing_match()
    for name in PERIODS:
        assert (fitted.weights[name] >= PERIOD_MATCH) == (fitted.prior[name] >= PERIOD_MATCH)
        assert fitted.weights[name] > 0  # 0 is for filings that print no figures of the period
