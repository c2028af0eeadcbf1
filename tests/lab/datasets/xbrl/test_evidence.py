from __future__ import annotations

from collections.abc import Callable

from finray.lab.datasets.xbrl.evidence import gold_evidence
from finray.lab.datasets.xbrl.tagged import TaggedFiling

Read = Callable[..., TaggedFiling]
Make = Callable[..., str]


def test_one_page_for_facts_that_share_it_and_the_others_as_alternatives(read: Read, row: Make, number: Make) -> None:
    revenue = row("Net revenue", number("Revenues", "fy24", "12,345"))
    cost = row("Cost of revenue", number("CostOfRevenue", "fy24", "6,789"))
    tagged = read(f"<p>A</p><table>{revenue}{cost}</table>", f"<p>B</p><table>{revenue}{cost}</table>", "<p>C</p>")
    (gold,) = gold_evidence(tagged, tagged.facts, "revenue cost")
    assert (gold.doc_name, gold.page, gold.alternative_pages) == ("acme-2024", 1, (2,))
    assert gold.text == "Net revenue | 12,345\nCost of revenue | 6,789"


def test_a_page_for_each_fact_if_none_prints_both(read: Read, number: Make) -> None:
    tagged = read(
        f"<p>{number('Revenues', 'fy24', '12,345')}</p>", f"<p>{number('CostOfRevenue', 'fy24', '6,789')}</p>"
    )
    assert [gold.page for gold in gold_evidence(tagged, tagged.facts, "")] == [1, 2]


def test_an_untagged_page_that_repeats_the_row_is_as_good(read: Read, row: Make, number: Make) -> None:
    statement = f"<p>A</p><table>{row('Net revenue', number('Revenues', 'fy24', '12,345'))}</table>"
    discussion = f"<p>Discussion</p><table>{row('Net revenue', '12,345', '11,000')}</table>"
    elsewhere = f"<p>Serials</p><table>{row('Unit', '12,345')}</table>"
    inside = f"<p>More</p><table>{row('Net revenue', '112,345')}</table>"
    tagged = read(statement, discussion, elsewhere, inside)
    (gold,) = gold_evidence(tagged, tagged.facts, "revenue")
    assert (gold.page, gold.alternative_pages) == (1, (2,))


def test_short_numbers_are_not_looked_for_elsewhere(read: Read, row: Make, number: Make) -> None:
    tagged = read(f"<table>{row('Revenue', number('Revenues', 'fy24', '12'))}</table>",
                  f"<table>{row('Revenue', '12')}</table>")  # fmt: skip
    (gold,) = gold_evidence(tagged, tagged.facts, "revenue")
    assert gold.alternative_pages == ()
