from __future__ import annotations

from finray.core.journal import Journal
from finray.retrieval.methods.query_expansion import acronyms_written_out, expansions

from .conftest import Build


def test_metrics_gain_their_other_names() -> None:
    added = expansions("What was Acme's capex?", names=3)
    assert any("property plant" in name for name in added)
    assert "capex" not in added
    assert 1 < len(added) <= 3


def test_a_ratio_gains_the_names_of_its_line_items() -> None:
    added = " ".join(expansions("What is the fixed asset turnover of Acme?", names=4))
    assert "sales" in added and "property" in added


def test_periods_and_forms_are_written_out() -> None:
    added = expansions("Acme's 10-Q for Q2 of FY22", names=2)
    assert {"fiscal year 2022", "second quarter", "quarterly report"} <= set(added)


def test_a_question_without_metrics_stays_as_it_is() -> None:
    assert expansions("Who is the auditor of Acme?", names=4) == ()


def test_acronyms_and_fiscal_years_are_written_out_as_the_paper_does() -> None:
    written = acronyms_written_out("What is the FY18 capex and PPE of Acme's RD unit, without AR, in FY2018?")
    assert written == (
        "What is the fiscal year 2018 capex and PPE of Acme's RD unit, without AR, in fiscal year 2018? "
        "capital expenditure property plant equipment accounts receivable"
    )


async def test_the_acronyms_are_searched_for(search_with: Build) -> None:
    journal = Journal()
    search = search_with("dense+query_expansion", methods__query_expansion__vocabulary="acronyms")
    await search("Grevandor Systems' capex in FY22", journal=journal)
    assert any(line.endswith("in fiscal year 2022 capital expenditure") for line in journal.lines)


async def test_the_trace_names_the_additions(search_with: Build) -> None:
    journal = Journal()
    await search_with("query_expansion")("Grevandor Systems' capex in 2022", journal=journal)
    assert any("query expansion:" in line and "property" in line for line in journal.lines)
