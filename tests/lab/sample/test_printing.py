"""What a reader of the printed files finds, read without the generator's own code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing
from finray.lab.sample.cover import Draft
from finray.lab.sample.plan import drafts, make_plans
from finray.lab.sample.printing import Format, print_filing

PageTexts = Callable[[bytes], list[str]]


def some_drafts(*, full: bool = False) -> Iterator[Draft]:
    for plan in make_plans(4, 2, 3, full=full):
        yield from drafts(plan)


@pytest.mark.parametrize("kind", ["pdf", "html", "txt"])
def test_every_keyed_line_is_on_its_page(kind: Format, page_texts: PageTexts) -> None:
    for draft in some_drafts():
        filing, content = print_filing(draft, (kind,), 3)
        pages = page_texts(content)
        assert len(pages) == filing.pages
        for key, spot in filing.spots.items():
            assert all(word in pages[spot.page] for word in spot.text.split()), (filing.doc_name, key)


@pytest.mark.slow
def test_pages_agree_between_formats() -> None:
    for draft in some_drafts():
        (pdf, _), (html, _) = print_filing(draft, ("pdf",), 3), print_filing(draft, ("html",), 3)
        assert (pdf.pages, pdf.spots) == (html.pages, html.spots)


def test_html_is_well_formed_and_its_tags_refer_to_contexts() -> None:
    for draft in some_drafts():
        filing, content = print_filing(draft, ("html",), 3)
        etree.fromstring(content)
        text = content.decode()
        assert set(re.findall(r'contextRef="([^"]+)"', text)) <= set(re.findall(r'context id="([^"]+)"', text)), filing


def test_an_amendment_names_the_filing_it_amends(page_texts: PageTexts) -> None:
    drawn = list(some_drafts())
    amendments = [draft for draft in drawn if draft.form == "10-K/A"]
    assert amendments
    for draft in amendments:
        original = next(
            each
            for each in drawn
            if each.company == draft.company and each.form == "10-K" and each.fiscal_year == draft.fiscal_year
        )
        filing, content = print_filing(draft, ("pdf",), 3)
        text = " ".join(page_texts(content))
        assert "FORM 10-K/A" in text and "Amendment No. 1" in text
        assert (
            f"originally filed with the Securities and Exchange Commission on {original.filed_at:%B} "
            f"{original.filed_at.day}, {original.filed_at.year}" in text
        )
        assert filing.amends == f"10-K {original.end}" and draft.filed_at > original.filed_at


def test_a_renamed_company_files_under_its_name_at_the_time(page_texts: PageTexts) -> None:
    plan = make_plans(4, 2, 3, full=False)[3]
    company = plan.company
    assert company.former_name and company.renamed_on
    for draft in drafts(plan):
        expected = company.former_name if draft.filed_at < company.renamed_on else company.name
        assert expected.casefold() in page_texts(print_filing(draft, ("pdf",), 3)[1])[0].casefold()


def test_the_long_form_is_as_long_as_an_annual_report_and_the_short_one_is_not() -> None:
    for full, low, high in ((False, 10, 18), (True, 25, 60)):
        draft = next(draft for draft in some_drafts(full=full) if draft.form == "10-K")
        assert low <= print_filing(draft, ("html",), 3)[0].pages <= high


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(["pdf", "html", "txt"]))
def test_covers_and_statements_read_back(seed: int, kind: Format) -> None:
    plan = make_plans(3, 1, seed, full=False)[seed % 3]
    for draft in drafts(plan):
        filing, content = print_filing(draft, (kind,), seed)
        read = parse_filing(content, f"/sample/{filing.file_name}", FilingSettings())
        got = read.filing
        assert (got.form, got.period_end, got.ticker) == (draft.form, draft.end, draft.company.ticker)
        assert got.company.casefold().rstrip(".") == draft.registrant.casefold().rstrip(".")
        assert (got.fiscal_period, got.amends) == (draft.fiscal_period, draft.amends)
        if draft.periodic:
            assert got.fiscal_year == draft.fiscal_year
        for name in ("income", "balance", "cash_flow"):
            if name in filing.spots:
                assert read.pages[filing.spots[name].page].statement == name
