from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from finray.core.settings import FilingSettings
from finray.lab.datasets.xbrl.tagged import TaggedFiling, read_tagged_filing

Read = Callable[..., TaggedFiling]
Make = Callable[..., str]


def test_a_fact_knows_every_page_that_prints_it(read: Read, row: Make, number: Make) -> None:
    again = row("Revenues", number("Revenues", "fy24", "1,234"))
    tagged = read(f"<p>Results</p><table>{again}</table>", "<p>Nothing</p>", f"<p>Again</p><table>{again}</table>")
    (fact,) = tagged.facts
    assert (fact.concept, fact.value, fact.unit, fact.months) == ("us-gaap:Revenues", Decimal("1234000000"), "usd", 12)
    assert fact.pages == (1, 3)
    assert (fact.places[0].label, fact.places[0].line) == ("Revenues", "Revenues | 1,234")
    assert all("1,234" in tagged.pages[page].text for page in fact.pages)


def test_hidden_values_are_not_facts(read: Read, number: Make) -> None:
    hidden = number("Revenues", "fy24", "1,234")
    tagged = read(f"<p>Results</p><div style='display:none'>{hidden}</div>", hidden=hidden)
    assert tagged.facts == ()


def test_rounded_values_are_one_fact_and_conflicting_values_none(read: Read, number: Make) -> None:
    rounded = number("Revenues", "fy24", "1.2", scale=9, decimals="-8")
    tagged = read(f"<p>Revenue was {number('Revenues', 'fy24', '1,234')} million, or about ${rounded} billion</p>")
    assert [fact.value for fact in tagged.facts] == [Decimal("1234000000")]
    restated = number("Revenues", "fy24", "1,240")
    assert read(f"<p>{number('Revenues', 'fy24', '1,234')} then {restated}</p>").facts == ()


def test_only_pages_of_full_precision_count(read: Read, number: Make) -> None:
    rounded = number("Revenues", "fy24", "1.2", scale=9, decimals="-8")
    tagged = read(f"<p>about ${rounded} billion</p>", f"<p>{number('Revenues', 'fy24', '1,234')}</p>")
    assert tagged.facts[0].pages == (2,)


def test_zeros_are_left_out(read: Read, number: Make) -> None:
    assert read(f"<p>Dividends {number('PaymentsOfDividends', 'fy24', '—')}</p>").facts == ()


def test_a_filing_without_tags_has_no_facts() -> None:
    text = (
        b"<html><body><p>FORM 10-K annual report</p><p>For the fiscal year ended December 31, 2003</p>"
        b"<p>ACME ROBOTICS INC.</p><p>(Exact name of registrant as specified in its charter)</p></body></html>"
    )
    assert read_tagged_filing(text, "old.html", FilingSettings()).facts == ()


def test_tagged_html_inside_a_full_submission(document: Callable[..., bytes], number: Make) -> None:
    header = (
        b"<SEC-DOCUMENT>0000000001-25-000001.txt : 20250201\n<SEC-HEADER>\nACCESSION NUMBER:\t\t0000000001-25-000001\n"
        b"CONFORMED SUBMISSION TYPE:\t10-K\nCONFORMED PERIOD OF REPORT:\t20241231\n</SEC-HEADER>\n"
        b"<DOCUMENT>\n<TYPE>10-K\n<SEQUENCE>1\n<FILENAME>acme.htm\n<TEXT>\n<XBRL>\n"
    )
    body = document(f"<p>Revenue {number('Revenues', 'fy24', '1,234')}</p>")
    content = header + body + b"\n</XBRL>\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n"
    tagged = read_tagged_filing(content, "0000000001-25-000001.txt", FilingSettings())
    assert tagged.filing.filing_id == "0000000001-25-000001"
    assert [fact.pages for fact in tagged.facts] == [(1,)]
