from __future__ import annotations

import datetime as dt

from finray.core.settings import FilingSettings
from finray.filings.cover.body_facts import read_body
from finray.filings.cover.facts import Facts
from finray.filings.read import parse_filing

STORY = "This Annual Report on Form 10-K covers the year ended December 31, 2022. See Item 1A of this Form 10-K. " * 2
SIGNED = "SIGNATURES\nThis Annual Report on Form 10-K is signed.\nACME WIDGETS, INC.\n(Registrant)\nBy: A. Smith"
ITEMS = "Item 1. Business\nThe registrant makes them.\nItem 7. Management's Discussion\nYear ended December 31, 2022\n"


def test_a_report_states_what_its_cover_does_not() -> None:
    facts = read_body([STORY, ITEMS, SIGNED], Facts())
    assert (facts.company, facts.form, facts.period_end) == ("ACME WIDGETS, INC.", "10-K", dt.date(2022, 12, 31))
    assert (facts.fiscal_year, facts.fiscal_period) == (2022, "FY")


def test_only_missing_facts_that_are_stated_clearly_are_taken() -> None:
    told = Facts(company="Bolt plc", form="10-K")
    facts = read_body([STORY, ITEMS, SIGNED], told)
    assert (facts.company, facts.form, facts.period_end) == (None, None, dt.date(2022, 12, 31))
    assert read_body(["See our Annual Report on Form 10-K for the year ended December 31, 2022."], Facts()) == Facts()


def test_the_source_of_each_fact_is_recorded() -> None:
    filing = parse_filing("\f".join([STORY, ITEMS, SIGNED]).encode(), "a.txt", FilingSettings()).filing
    assert (filing.company, filing.form) == ("ACME WIDGETS, INC.", "10-K")
    assert filing.provenance["company"] == filing.provenance["form"] == filing.provenance["fiscal_year"] == "text"
    assert filing.marks == ()
