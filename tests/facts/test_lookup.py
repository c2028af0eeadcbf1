"""Line items over years: from the sample's filings, and restatements from filings made for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import replace

import pytest

import finray
from finray.core.errors import UsageError
from finray.core.filing import Filing, LineItem
from finray.core.tables import Cell, Column, Row, Table
from finray.facts.files import fact_row
from finray.facts.items import Printed, wanted_item
from finray.facts.lookup import find_company, look_up_facts, same_figure
from finray.facts.records import FACT_SCHEMA, facts_table
from finray.filings.pages.page_links import PageLinks
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog


def item(label: str, value: float, year: int, **changes: object) -> LineItem:
    base = LineItem(
        page=5, statement="income", label=label, value=value, text=f"{value / 1e6:,.0f}", unit="USD", scale=1_000_000,
        period_end=dt.date(year, 12, 31), months=12,
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]


def annual(year: int, **changes: object) -> Filing:
    base = Filing(
        f"f{year}", f"ACME_{year}_10K", f"/acme{year}.pdf", "", "Acme Corp.", "10-K", ticker="ACM", cik="0000012345",
        period_end=dt.date(year, 12, 31), fiscal_year=year, fiscal_period="FY",
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]


class Shelf:
    """The methods of IndexReader that the look-up uses."""

    def __init__(self, *tables: Table, **items: tuple[Filing, list[LineItem]]) -> None:
        self._filings = {filing.filing_id: (filing, own) for filing, own in items.values()}
        self._tables = tables

    def filings(self) -> list[Filing]:
        return [filing for filing, _ in self._filings.values()]

    def line_items(self, ids: list[str]) -> dict[str, tuple[LineItem, ...]]:
        return {name: tuple(self._filings[name][1]) for name in ids}

    def tables_at(self, pages: Collection[tuple[str, int]]) -> dict[tuple[str, int], tuple[Table, ...]]:
        return dict.fromkeys(pages, self._tables)


def facts(shelf: Shelf, *items: str, years: tuple[int, ...] = (2020,), every: bool = False) -> list[finray.Fact]:
    return list(look_up_facts(shelf, ["Acme"], items, years, every_filing=every))  # type: ignore[arg-type]


SHELF = Shelf(
    a=(annual(2020), [item("Net sales", 5e9, 2020), item("Total operating income", 9e8, 2020)]),
    b=(
        annual(2020, filing_id="f2020a", doc_name="ACME_2020_10KA", form="10-K/A", is_amendment=True),
        [item("Net sales", 4.9e9, 2020, page=7)],
    ),
    c=(annual(2021), [item("Net sales", 4.8e9, 2020), item("Net sales", 6e9, 2021)]),
    d=(annual(2022), [item("Net sales", 4.8e9, 2020), item("Net sales", 6.001e9, 2021, text="6.0", scale=10**9)]),
)


def test_a_restatement_shows_beside_the_figure_as_first_reported() -> None:
    (fact,) = facts(SHELF, "revenue")
    assert (fact.value, fact.doc_name, fact.page, fact.restated) == (5e9, "ACME_2020_10K", 5, True)
    assert (fact.latest_value, fact.latest_doc_name, fact.latest_label) == (4.8e9, "ACME_2022_10K", "Net sales")
    assert (fact.company, fact.item, fact.label, fact.text, fact.unit) == (
        "Acme Corp.",
        "revenue",
        "Net sales",
        "5,000",
        "USD",
    )


def test_every_filing_has_its_row_amendments_too() -> None:
    found = facts(SHELF, "revenue", every=True)
    assert [(f.version, f.doc_name, f.value, f.restated, f.is_amendment) for f in found] == [
        (1, "ACME_2020_10K", 5e9, True, False),
        (2, "ACME_2020_10KA", 4.9e9, True, True),
        (3, "ACME_2021_10K", 4.8e9, True, False),
        (4, "ACME_2022_10K", 4.8e9, True, False),
    ]


def test_rounding_is_no_restatement_and_a_row_of_another_name_settles_nothing() -> None:
    (fact,) = facts(SHELF, "revenue", years=(2021,))
    assert (fact.restated, fact.latest_value) == (False, 6.001e9)
    renamed = Shelf(
        a=(annual(2020), [item("Net sales", 5e9, 2020)]),
        b=(annual(2021), [item("Total revenues", 5.2e9, 2020)]),
    )
    (fact,) = facts(renamed, "revenue")
    assert (fact.restated, fact.latest_value, fact.latest_label) == (None, 5.2e9, "Total revenues")
    alone = Shelf(a=(annual(2020), [item("Net sales", 5e9, 2020)]))
    (fact,) = facts(alone, "revenue")
    assert (fact.restated, fact.latest_value) == (None, None)


def test_years_are_of_one_line() -> None:
    whole, own = "Net income", "Net income attributable to Acme"
    shelf = Shelf(
        a=(annual(2019), [item(own, 0.9e9, 2019)]),
        b=(annual(2020), [item(own, 1.9e9, 2020)]),
        c=(annual(2021), [item(whole, 2.0e9, 2020), item(whole, 2.1e9, 2021)]),
    )
    found = facts(shelf, "net income", years=(2019, 2020, 2021))
    assert [(f.fiscal_year, f.value, f.label, f.other_row) for f in found] == [
        (2019, 0.9e9, own, True),  # no filing prints both
        (2020, 2.0e9, whole, None),
        (2021, 2.1e9, whole, None),
    ]


def test_a_line_that_was_only_renamed_is_no_other_line() -> None:
    shelf = Shelf(
        a=(annual(2019), [item("Net sales", 4e9, 2019), item("Net sales", 3e9, 2018)]),
        b=(annual(2020), [item("Net sales", 5e9, 2020), item("Net sales", 4e9, 2019)]),
        c=(annual(2021), [item("Total revenues", 5e9, 2020), item("Total revenues", 6e9, 2021)]),
    )
    found = facts(shelf, "revenue", years=(2018, 2019, 2020, 2021))
    assert [(f.value, f.other_row) for f in found] == [(3e9, None), (4e9, None), (5e9, None), (6e9, None)]


def test_a_year_without_its_own_report_is_taken_from_the_next() -> None:
    shelf = Shelf(c=(annual(2021), [item("Net sales", 4.8e9, 2020)]))
    (fact,) = facts(shelf, "revenue")
    assert (fact.value, fact.doc_name) == (4.8e9, "ACME_2021_10K")


def test_amounts_paid_are_positive_in_every_version() -> None:
    paid = "Purchases of property and equipment"
    shelf = Shelf(
        a=(annual(2020), [item(paid, -1e8, 2020, statement="cash_flow")]),
        b=(annual(2021), [item(paid, -1.1e8, 2020, statement="cash_flow")]),
    )
    (fact,) = facts(shelf, "capex")
    assert (fact.value, fact.latest_value, fact.restated) == (1e8, 1.1e8, True)


def test_items_are_names_tags_or_labels() -> None:
    assert wanted_item("Capital Expenditures").metric == wanted_item("capex").metric == "capex"
    assert wanted_item("total_assets").metric == "total_assets"
    for tag in ("us-gaap:Goodwill", "GoodwillGross", "acme:widgets"):
        assert wanted_item(tag).concept == tag
    assert wanted_item("Widgets sold:").label == "widgets sold"
    tagged = item("Other", 7e6, 2020, concept="us-gaap:OtherAssetsMisc", statement=None)
    part = replace(tagged, value=1e6, column_label="[Europe]")
    shelf = Shelf(a=(annual(2020), [tagged, part, item("Widgets sold", 3.0, 2020, unit="pure", statement=None)]))
    by_tag, by_label = facts(shelf, "OtherAssetsMisc", "widgets sold")
    assert (by_tag.value, by_tag.concept, by_label.value) == (7e6, "us-gaap:OtherAssetsMisc", 3.0)


def test_what_is_missing_says_why() -> None:
    twice = [item("Widgets", 3e6, 2020, statement=None), item("Widgets", 4e6, 2020, statement=None)]
    shelf = Shelf(a=(annual(2020), [*twice, item("Widget sales", 1e6, 2020)]))
    early, several, unknown = [*facts(shelf, "revenue", years=(2025,)), *facts(shelf, "widgets", "Widget salez")]
    assert (early.value, early.reason) == (None, "the index has no filing on fiscal 2025")
    assert several.reason == (
        "no row for it, or several that differ, in ACME_2020_10K; nearest rows: Widgets; Widget sales"
    )
    assert unknown.reason and unknown.reason.endswith("nearest rows: Widget sales; Widgets")
    (nobody,) = look_up_facts(shelf, ["Zyxware"], ["revenue"], [2020])  # type: ignore[arg-type]
    assert (nobody.company, nobody.reason) == ("Zyxware", "the index has no filing of 'Zyxware'")


@pytest.mark.parametrize("name", ["Acme", "ACME CORP.", "acme", "ACM", "12345", "0000012345"])
def test_companies_are_known_by_name_ticker_and_cik(name: str) -> None:
    assert find_company(CompanyCatalog([annual(2020)]), name).name == "Acme Corp."


def test_a_name_of_two_companies_is_refused() -> None:
    others = [annual(2020), annual(2020, filing_id="g", cik="0000099999", ticker=None)]
    with pytest.raises(UsageError, match=r"'Acme' may be Acme Corp\. \(cik12345\), Acme Corp\. \(cik99999\); write"):
        find_company(CompanyCatalog(others), "Acme")


def test_prints_agree_within_their_rounding() -> None:
    exact = Printed(item("x", 1_234_567_000.0, 2020, text="1,234,567", scale=1000), 1_234_567_000.0)
    rounded = Printed(item("x", 1.235e9, 2020, text="1,235"), 1.235e9)
    assert same_figure(exact, rounded)
    assert not same_figure(exact, replace(rounded, value=1.236e9))
    assert not same_figure(rounded, Printed(replace(rounded.cell, unit="EUR"), 1.235e9))


def test_the_sample(reader: IndexReader, sample_index: str) -> None:
    found = finray.read_facts(sample_index, ["Grevandor Systems"], ["revenue", "total assets"], range(2021, 2023))
    assert [(f.item, f.fiscal_year) for f in found] == [
        ("revenue", 2021), ("total assets", 2021), ("revenue", 2022), ("total assets", 2022),
    ]  # fmt: skip
    revenue = found[2]
    assert (revenue.value, revenue.unit, revenue.months) == (1_408_729_000, "USD", 12)
    page = reader.page(revenue.filing_id or "", revenue.page or 0)
    assert page is not None and (revenue.text or "?") in page["text"]
    everything = finray.read_facts(sample_index, ["Grevandor Systems"])
    assert {f.fiscal_year for f in everything} >= {2021, 2022}
    assert sum(f.value is not None for f in everything) > 40


def test_the_arrow_table_has_every_field() -> None:
    table = facts_table([*facts(SHELF, "revenue", every=True), *facts(SHELF, "capex")])
    assert table.schema == FACT_SCHEMA
    assert table["value"].to_pylist() == [5e9, 4.9e9, 4.8e9, 4.8e9, None]
    assert table["period_end"][0].as_py() == dt.date(2020, 12, 31)


def test_the_sign_is_finrays_by_name_the_tags_by_tag_and_that_of_the_print_by_label() -> None:
    tag, label = "us-gaap:PaymentsToAcquirePropertyPlantAndEquipment", "Purchases of property and equipment"
    spent = item(label, -3e8, 2020, statement="cash_flow", concept=tag, tagged=3e8, text="(300)")
    later = replace(spent, value=-2.5e8, tagged=2.5e8, text="(250)")
    hosting = item("Payments for hosting", -1e6, 2020, text="(1)", tagged=1e6, concept="a:Hosting")
    shelf = Shelf(a=(annual(2020), [spent, hosting]), b=(annual(2021), [later, hosting]))
    found = [(fact.value, fact.sign, fact.latest_value) for fact in facts(shelf, "capex", tag, hosting.label)]
    assert found == [(3e8, "finray", 2.5e8), (3e8, "tag", 2.5e8), (-1e6, "printed", -1e6)]


def test_a_tag_whose_sign_changes_is_restated() -> None:
    first = item("Net income (loss)", -5e6, 2020, concept="us-gaap:ProfitLoss", tagged=-5e6, text="(5)")
    shelf = Shelf(a=(annual(2020), [first]), b=(annual(2021), [replace(first, value=2e6, tagged=2e6, text="2")]))
    (fact,) = facts(shelf, "us-gaap:ProfitLoss")
    assert (fact.value, fact.restated, fact.latest_value) == (-5e6, True, 2e6)


def test_a_later_filing_that_tags_the_row_otherwise_keeps_the_sign() -> None:
    first = item("Inventories", -4e6, 2020, statement="cash_flow", concept="a:Increase", tagged=4e6, text="(4)")
    other = replace(first, value=-3e6, concept="a:Change", tagged=-3e6, text="(3)")
    (fact,) = facts(Shelf(a=(annual(2020), [first]), b=(annual(2021), [other])), "a:Increase")
    assert (fact.value, fact.latest_value) == (4e6, 3e6)


def test_a_figure_that_ocr_read_carries_its_mark() -> None:
    rows = [item("Net sales", 5e9, 2020, ocr="stands"), item("Net income", 23e6, 2020, row=1, ocr="odd_print")]
    found = facts(Shelf(a=(annual(2020), rows)), "revenue", "net income")
    assert [(fact.value, fact.ocr) for fact in found] == [(5e9, "stands"), (23e6, "odd_print")]
    assert [fact_row(fact, PageLinks({}))[-3] for fact in found] == [
        "read by OCR",
        "doubted: it is not printed like the other figures around it",
    ]


def test_a_fact_that_its_tag_declares_nil_is_said_to_be_nil() -> None:
    day = dt.date(2020, 12, 31)
    debt = Cell(1, "100", value=1e8, unit="USD", scale=10**6, period_end=day, months=0, concept="us-gaap:LongTermDebt")
    nil = Cell(1, "", "nil", concept="us-gaap:CommitmentsAndContingencies")
    rows = (Row(5, 0, "Long-term debt", (debt,)), Row(5, 1, "Commitments and contingencies", (nil,)))
    table = Table(5, 5, 0, "", "", "balance", None, "USD", 10**6, (Column(1, ("2020",)),), rows)
    printed = item("Long-term debt", 1e8, 2020, statement="balance", months=0, concept="us-gaap:LongTermDebt")
    shelf = Shelf(table, a=(annual(2020), [printed]))
    for asked in ("us-gaap:CommitmentsAndContingencies", "Commitments and contingencies"):
        (found,) = facts(shelf, asked)
        assert found.value is None
        assert found.reason == "nil: 'Commitments and contingencies' is declared without a value in ACME_2020_10K, p. 6"
