from __future__ import annotations

import pytest

from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.questions import Question
from finray.engine import Engine

FILING = Filing(
    "1", "d", "", "", "Caldavale Outfitters, Inc.", "10-K/A", cik="0001234567", ticker="CLDVC", aliases=("Caldavale",),
    fiscal_year=2022,
)  # fmt: skip


@pytest.mark.parametrize(
    ("narrowed", "passes"),
    [
        (FilingFilter(), True),
        (FilingFilter(companies=("caldavale outfitters, inc.",)), True),
        (FilingFilter(companies=("Other", "cldvc")), True),
        (FilingFilter(companies=(" Caldavale ",)), True),
        (FilingFilter(companies=("1234567",)), True),
        (FilingFilter(companies=("0001234567",)), True),
        (FilingFilter(companies=("Calda",)), False),
        (FilingFilter(companies=("",)), False),
        (FilingFilter(forms=("10-k/a",)), True),
        (FilingFilter(forms=("10-K",)), False),
        (FilingFilter(fiscal_years=(2021, 2022)), True),
        (FilingFilter(fiscal_years=(2021,)), False),
        (FilingFilter(companies=("CLDVC",), fiscal_years=(2021,)), False),
    ],
)
def test_filings_pass_by_company_form_and_year(narrowed: FilingFilter, passes: bool) -> None:
    assert narrowed.passes(FILING) is passes
    assert narrowed.is_empty is (narrowed == FilingFilter())


async def test_a_narrowed_question_is_answered_from_what_passes_alone(engine: Engine) -> None:
    asked = Question("1", "What was the total revenue of CLDVC in FY2022?")
    free = await engine.answer(asked)
    assert free.status == "answered"
    within = await engine.answer(asked, narrowed=FilingFilter(companies=("CLDVC",), forms=("10-K",)))
    assert within.value == free.value
    assert {document.form for document in within.documents} == {"10-K"}
    without = await engine.answer(asked, narrowed=FilingFilter(companies=("Nobody",)))
    assert (without.status, without.documents, without.passages) == ("unanswerable", (), ())
