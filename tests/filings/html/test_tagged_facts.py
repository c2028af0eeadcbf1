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
"""


def _number(name: str, context: str, text: str, unit: str = "u-1", scale: int = 6) -> str:
    return (
        f'<ix:nonFraction name="{name}" contextRef="{context}" unitRef="{unit}" scale="{scale}" decimals="-6">{text}'
        "</ix:nonFraction>"
    )


def _items() -> list[LineItem]:
    body = f"""<html><body><div style="display:none"><ix:header>{_CONTEXTS}</ix:header></div>
    <p>UNITED STATES SECURITIES AND EXCHANGE COMMISSION</p><p>FORM 10-K</p>
    <p>For the fiscal year ended December 31, 2024</p><p>Acme Tools, Inc.</p>
    <p>(Exact name of registrant as specified in its charter)</p>
    <p>Commission file number 001-12345</p>
    <p>Trade receivables are net of an allowance of ${_number("us-gaap:AllowanceForLoans", "c-1", "14")} million.</p>
    <table><tr><td></td><td>Amounts</td></tr>
    <tr><td>Sales in the north</td><td>{_number("us-gaap:Revenues", "c-2", "250")}</td></tr>
    <tr><td>Options exercised</td><td>{_number("us-gaap:SharesExercised", "c-1", "30", "u-2", 3)}</td></tr>
    </table></body></html>"""
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
