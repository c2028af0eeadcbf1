"""Answers from pages that OCR read say so, and none states a doubted figure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import cast

from finray.answering.ocr_figures import with_ocr
from finray.answering.plans.computed import cited_cell
from finray.core.filing import Filing, Page
from finray.core.ocr_marks import OcrMark
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.index.reading.facts import FilingFacts
from tests.answering.made_up_cells import FILING, MadeUpFacts, item

SENTENCE = "Net sales rose to $513,983 million, 9.4% more."


class ReadByOcr(MadeUpFacts):
    """OCR read all pages of the filing; ``doubts`` are those of each page, None for a page with a text layer."""

    def __init__(self, doubts: tuple[str, ...] | None = ()) -> None:
        super().__init__()
        self._doubts = doubts

    def filing(self, filing_id: str) -> Filing:
        return replace(FILING, provenance={"pages": "ocr"})

    def pages(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        return {place: Page(place[1], SENTENCE, ocr_doubts=self._doubts) for place in places}


def computed(ocr: OcrMark | None) -> Answer:
    cell = cited_cell("net_income", 23e6, item(1, 1, "Net income", 23e6, text="$23", ocr=ocr), FILING)
    return Answer("$23 million", "answered", 23e6, "USD", operands=(cell,))


def quoted(value: float | None) -> Answer:
    passage = Passage("ACME_2022", "a", 1, 0, len(SENTENCE), SENTENCE, 1.0)
    return Answer(f"“{SENTENCE}”", "answered", value, "USD", evidence=(passage,))


def checked(answer: Answer, facts: MadeUpFacts | None = None) -> Answer:
    return with_ocr(answer, cast(FilingFacts, facts or ReadByOcr()))


def test_a_figure_that_ocr_read_is_stated_with_a_note() -> None:
    assert checked(computed("stands")) == replace(computed("stands"), text="$23 million (read by OCR)")


def test_a_figure_of_a_text_layer_has_no_note() -> None:
    assert checked(computed(None)) == computed(None)
    assert checked(quoted(513_983e6), ReadByOcr(None)) == quoted(513_983e6)


def test_a_doubted_figure_is_refused_with_its_cell_and_the_reason() -> None:
    answer = checked(computed("odd_print"))
    assert (answer.status, answer.value, answer.confidence) == ("unanswerable", None, None)
    assert answer.nearest == (
        "Net income: “$23” (ACME_2022, p. 2): it is not printed like the other figures around it",
    )
    assert answer.nearest[0] in answer.text


def test_a_quotation_says_that_ocr_read_it_and_which_of_its_figures_are_doubted() -> None:
    assert checked(quoted(513_983e6)).text.endswith("(read by OCR)")
    other = checked(quoted(513_983e6), ReadByOcr(("9.4%",)))
    assert other.value == 513_983e6
    assert "(read by OCR, which may have misread “9.4%”" in other.text


def test_a_quoted_figure_that_is_doubted_is_no_value() -> None:
    answer = checked(quoted(513_983e6), ReadByOcr(("$513,983",)))
    assert (answer.status, answer.value) == ("unanswerable", None)
    assert "“$513,983” (ACME_2022, p. 2): a second reading of the page differs" in answer.text


def test_a_refusal_is_unchanged() -> None:
    refusal = Answer.refused("net income")
    assert checked(refusal) == refusal
