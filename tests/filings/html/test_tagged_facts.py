"""Inline XBRL beyond the tables' print: exact periods, units, parts of the company, numbers in sentences."""

from __future__ import annotations

import datetime as dt

from finray.core.filing import LineItem
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing

_CONTEXTS = """
<xbrli:context id="c-1"><xbrli:period><xbrli:instant>2024-12-31</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:context id="c-2"><xbrli:entity><xbrli:segment><xbrldi:explicitMember dimension="srt:GeographicalAxis">
acme:NorthernEuropeMember</xbrldi:explicitMember></xbrli:segment></xbrli:entity><xbrli:period>
<xbrli:startDate>2024-01-01</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:unit id="u-1"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
<xbrli:unit id="u-2"><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>
<xbrli:unit id="u-3"><xbrli:measure>xbrli:pure</xbrli:measure></xbrli:unit>
<xbrli:unit id="u-4"><xbrli:measure>acme:Store</xbrli:measure></xbrli:unit>
"""


def _number(name: str, context: str, text: str, unit: str = "u-1", scale: int = 6, more: str = "") -> str:
    return (
        f'<ix:nonFraction name="{name}" contextRef="{context}" unitRef="{unit}" scale="{scale}" decimals="-6"{more}>'
        f"{text}</ix:nonFraction>"
    )


def _items(rows: str = "", hidden: str = "") -> list[LineItem]:
    header = f"<ix:header><ix:hidden>{hidden}</ix:hidden>{_CONTEXTS}</ix:header>"
    body = f"""<html><body><div style="display:none">{header}</div>
    <p>UNITED STATES SECURITIES AND EXCHANGE COMMISSION</p><p>FORM 10-K</p>
    <p>For the fiscal year ended December 31, 2024</p><p>Acme Tools, Inc.</p>
    <p>(Exact name of registrant as specified in its charter)</p>
    <p>Commission file number 001-12345</p>
    <p>Trade receivables are net of an allowance of ${_number("us-gaap:AllowanceForLoans", "c-1", "14")} million.</p>
    <table><tr><td></td><td>Amounts</td></tr>
    <tr><td>Sales in the north</td><td>{_number("us-gaap:Revenues", "c-2", "250")}</td></tr>
    <tr><td>Options exercised</td><td>{_number("us-gaap:SharesExercised", "c-1", "30", "u-2", 3)}</td></tr>
    {rows}</table></body></html>"""
    return list(parse_filing(body.encode(), "acme.html", FilingSettings()).line_items)


def test_a_cell_has_the_period_unit_scale_and_part_of_its_tag() -> None:
    sales, options = (item for item in _items() if item.label in ("Sales in the north", "Options exercised"))
    assert (sales.value, sales.period_end, sales.months) == (250_000_000, dt.date(2024, 12, 31), 12)
    assert sales.column_label is not None
    assert "[Northern Europe]" in sales.column_label
    assert (options.value, options.unit, options.months) == (30_000, "shares", 0)


def test_a_number_in_a_sentence_is_a_fact_named_by_its_concept() -> None:
    (allowance,) = (item for item in _items() if item.concept == "us-gaap:AllowanceForLoans")
    assert (allowance.value, allowance.text, allowance.label) == (14_000_000, "14", "Allowance for loans")
    assert allowance.caption is not None
    assert allowance.caption.startswith("Trade receivables are net")


def _row(label: str, cell: str) -> str:
    return f"<tr><td>{label}</td><td>{cell}</td></tr>"


def _of(concept: str, items: list[LineItem]) -> list[LineItem]:
    return [item for item in items if item.concept == concept]


def test_the_print_and_the_tag_may_have_different_signs() -> None:
    paid, lost = (
        _row("Purchases of equipment", f"({_number('us-gaap:Payments', 'c-1', '45')})"),
        _row("Loss", _number("us-gaap:NetIncome", "c-1", "7", more=' sign="-"')),
    )
    items = _items(paid + lost)
    (payments,), (income,) = _of("us-gaap:Payments", items), _of("us-gaap:NetIncome", items)
    assert (payments.value, payments.tagged) == (-45_000_000, 45_000_000)
    assert (income.value, income.tagged) == (7_000_000, -7_000_000)


def test_a_nil_cell_is_no_figure() -> None:
    nil = _number("us-gaap:CommitmentsAndContingencies", "c-1", "", more=' xsi:nil="true"')
    items = _items(_row("Commitments and contingencies", f"{nil}\u2014") + _row("Commitments, note 9", nil))
    assert not _of("us-gaap:CommitmentsAndContingencies", items)


def test_ratios_counts_and_percentages_have_their_own_unit_in_a_table_of_dollars() -> None:
    items = _items(
        _row("Conversion rate", _number("acme:Rate", "c-1", "1.5653", "u-3", 0))
        + _row("Stores", _number("acme:Stores", "c-1", "1,200", "u-4", 0, ' format="ixt:num-dot-decimal"'))
        + _row("Interest", _number("acme:Interest", "c-1", "4.1", "u-3", -2) + " %")
        + _row("Lease rate", _number("acme:Lease", "c-1", "7", "u-3", -2))
    )
    found = {item.label: (item.value, item.unit, item.tagged) for item in items}
    assert found["Conversion rate"] == (1.5653, "pure", 1.5653)
    assert found["Stores"] == (1_200, "pure", 1_200)
    assert found["Interest"] == (4.1, "percent", 4.1)
    assert found["Lease rate"] == (7.0, "percent", 7.0)


def test_a_tagged_cell_that_no_row_reads_is_found_with_its_row() -> None:
    (due,) = _of(
        "us-gaap:PaymentsDueYearTwo", _items(_row("2026", "$" + _number("us-gaap:PaymentsDueYearTwo", "c-1", "83")))
    )
    assert (due.value, due.unit, due.period_end) == (83_000_000, "USD", dt.date(2024, 12, 31))
    assert due.caption == "2026 | $83" or due.label == "2026"


def test_a_hidden_number_counts_where_its_words_stand() -> None:
    hidden = _number("acme:Share", "c-1", "50", "u-3", -2, ' id="h-1"') + _number("acme:Unseen", "c-1", "3", "u-3", 0)
    items = _items(_row("Portion", '<span style="-sec-ix-hidden:h-1">more than half</span>'), hidden)
    (share,) = _of("acme:Share", items)
    assert (share.value, share.unit, share.text) == (50, "percent", "more than half")
    assert not _of("acme:Unseen", items)


def test_a_number_in_words_is_read_as_its_format_says() -> None:
    words = _number("acme:Plaintiffs", "c-1", "thirteen", "u-3", 0, ' format="ixt-sec:numwordsen"')
    (plaintiffs,) = _of("acme:Plaintiffs", _items(_row(f"Suits of {words} banks", "1")))
    assert (plaintiffs.value, plaintiffs.text) == (13, "thirteen")
