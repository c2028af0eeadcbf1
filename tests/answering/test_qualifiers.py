"""What the words of a question add or exclude keeps cells of another thing from answering it."""

from __future__ import annotations

import pytest

from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.lookup import look_up
from finray.answering.qualifiers import asked_sides, contradicted_line, contradicts, contradicts_text
from finray.question.measures.phrase import phrase_of
from finray.question.synonyms import word_set
from tests.answering.made_up_cells import END, item


@pytest.mark.parametrize(
    "asked,label,around,line",
    [
        ("gross interest expense", "Interest, net", {}, "gross"),
        ("gross carrying amount of patents", "Patents", {"column_label": "Net Carrying Amount"}, "gross"),
        ("net carrying amount of patents", "Patents, gross", {"column_label": "Net"}, ""),  # the column is nearer
        ("income before taxes", "Net income, after-tax", {}, "tax"),
        ("net income", "Net income attributable to noncontrolling interests", {}, "owners"),
        ("net income attributable to Acme", "Net income including noncontrolling interests", {}, "owners"),
        ("long-term debt", "Current portion of long-term debt", {}, "portion"),
        ("current portion of long-term debt", "Long-term debt, less current portion", {}, "portion"),
        ("long-term debt without the current portion", "Long-term debt, net of current maturities", {}, ""),
        ("diluted earnings per share", "Basic", {"section": "Earnings per share:"}, "dilution"),
        ("basic earnings per share", "Basic and diluted earnings per share", {}, ""),
        ("Class A common stock", "Class B common stock", {}, "class"),
        ("dividends paid", "Preferred dividends", {}, "stock"),
        ("inventories", "Increase in inventories", {}, "change"),
        ("increase in inventories", "Increase in inventories", {}, ""),
        ("funded status of the plan", "Funded status", {"section": "Change in fair value of plan assets"}, ""),
        (
            "interest expense",
            "Annual interest expense",
            {"caption": "A 100 basis point rise would add:"},
            "hypothetical",
        ),
        ("goodwill impairment", "Goodwill balance and accumulated impairment losses", {}, "accumulated"),
        ("property, plant and equipment", "Less: accumulated depreciation", {}, "accumulated"),
        ("depreciation", "Accumulated depreciation", {}, "accumulated"),
        ("property and equipment", "Property and equipment, net of accumulated depreciation", {}, ""),
        ("pro forma revenue", "Revenue", {}, "pro_forma"),
        ("revenue", "Pro forma revenue", {}, "pro_forma"),
        ("EPS guidance", "Earnings per share", {}, "expected"),
        ("EPS guidance", "Earnings per share", {"caption": "Outlook for fiscal 2024"}, ""),
        ("operating income of Europe", "Net sales", {"column_label": "Europe"}, "measure"),
        ("operating margin of Europe", "Net sales", {"column_label": "Europe"}, ""),  # a margin is of sales, too
        ("what Europe earned", "Europe", {"caption": "Net sales by segment (in millions):"}, "result"),
        ("what Europe earned", "Europe", {"caption": "Profit is not GAAP. Net sales by segment:"}, "result"),
        ("what Europe earned", "Net income", {"column_label": "Europe"}, ""),
        ("cost of sales", "Cost of sales", {}, ""),
    ],
)
def test_a_cell_of_another_side_is_excluded(asked: str, label: str, around: dict[str, str], line: str) -> None:
    cell = item(1, 1, label, 5.0, **around)

    assert contradicted_line(asked_sides(asked), cell) == line
    assert contradicts(asked_sides(asked), cell) == bool(line)


def test_an_excluded_row_is_no_answer_even_if_nothing_better_is_printed() -> None:
    cells = FilingCells([item(1, 1, "Interest, net", 2_245.0, statement="income")])
    gross, plain = phrase_of("gross interest"), phrase_of("interest")
    assert gross is not None and plain is not None

    assert look_up(plain, cells, END, 12, {}) is not None
    assert look_up(gross, cells, END, 12, {}) is None


def test_a_sentence_may_tell_of_another_side() -> None:
    asked = asked_sides("long-term debt, excluding the current portion")

    assert contradicts_text(asked, "Our long-term debt, including the current portion, was $21.8 billion.")
    assert not contradicts_text(asked, "Long-term debt, net of current maturities, was $21.1 billion.")
    assert not contradicts_text(asked, "Long-term debt was $21.1 billion.")
    assert contradicts_text(asked_sides("goodwill impairment"), "Accumulated impairment losses were $6.5 billion.")
    assert not contradicts_text(asked_sides("goodwill impairment"), "We recorded an impairment of $2 million.")


def test_columns_of_parts_stand_beside_the_total() -> None:
    heads = ("Customers Water", "Customers Wastewater", "Customers Total", "Revenue Water")
    cells = FilingCells(
        [item(1, 1, "Ohio", float(n), column=n, column_label=head) for n, head in enumerate(heads, start=1)]
        + [item(1, 2, "Utah", 9.0, column=1, column_label="Customers Water")]
    )

    assert cells.parts == {(1, 1, 1): word_set("Water"), (1, 1, 2): word_set("Wastewater")}
