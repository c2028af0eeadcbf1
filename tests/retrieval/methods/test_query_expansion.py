from __future__ import annotations

from finray.core.journal import Journal
from finray.retrieval.methods.query_expansion import expansions

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


async def test_the_trace_names_the_additions(search_with: Build) -> None:
    journal = Journal()
    await search_with("query_expansion")("Grevandor Systems' capex in 2022", journal=journal)
    assert any("query expansion:" in line and "property" in line for line in journal.lines)
