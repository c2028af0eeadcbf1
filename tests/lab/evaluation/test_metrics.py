"""Each metric on examples small enough to score by hand."""

from __future__ import annotations

import pytest

from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.numbers import only_number

GOLD = (
    GoldEvidence("ACME_2020", 10, "Revenue was 1,577"),
    GoldEvidence("ACME_2020", 11),
    GoldEvidence("BETA", 3),
)


def passage(doc_name: str, page: int, text: str = "text", filing_id: str = "id") -> Passage:
    return Passage(doc_name, filing_id, page, 0, len(text), text, 1.0)


def test_retrieval_by_hand() -> None:
    found = [
        passage("ACME_2020", 10),
        passage("ACME_2020", 10),
        passage("ACME_2020", 99),
        passage("BETA", 10),
    ]
    assert metrics.document_recall(found[:1], GOLD) == 0.5
    assert metrics.document_recall(found, GOLD) == 1.0
    # the right page of another filing is none
    assert metrics.page_recall(found, GOLD) == pytest.approx(1 / 3)
    assert metrics.page_precision(found, GOLD) == pytest.approx(1 / 3)  # two passages of a page are one page
    for metric in (metrics.document_recall, metrics.page_recall, metrics.page_precision):
        assert metric([], GOLD) == 0.0


def test_gold_may_name_the_accession_number() -> None:
    gold = (GoldEvidence("0000123456-21-000001", 4),)
    found = [passage("anything", 4, filing_id="0000123456-21-000001")]
    assert metrics.document_recall(found, gold) == 1.0
    assert metrics.page_recall(found, gold) == 1.0
    assert metrics.page_precision(found, gold) == 1.0


def test_an_alternative_page_is_as_good() -> None:
    gold = (GoldEvidence("ACME_2020", 10, alternative_pages=(4, 7)), GoldEvidence("ACME_2020", 11))
    assert metrics.page_recall([passage("ACME_2020", 7)], gold) == 0.5
    assert metrics.page_recall([passage("ACME_2020", 7), passage("ACME_2020", 4)], gold) == 0.5
    assert metrics.page_precision([passage("ACME_2020", 7), passage("ACME_2020", 4)], gold) == 1.0
    assert metrics.found_pages([passage("BETA", 7)], gold) == set()


def test_overlap_needs_gold_text() -> None:
    overlaps = metrics.context_overlaps([passage("D", 1, "Revenue was 1,577"), passage("D", 1, "none")], GOLD)
    assert overlaps == [(pytest.approx(1.0), pytest.approx(1.0)), (0.0, 0.0)]
    assert metrics.context_overlaps([passage("D", 1)], (GoldEvidence("D", 1),)) is None


@pytest.mark.parametrize(
    ("answer", "reference", "match"),
    [
        ("It was $1,577 million.", "$1577.00", True),
        ("It was $1.58 billion.", "$1577.00", False),
        ("0.68", "0.66", True),
        ("0.72", "0.66", False),
        ("65.4% of sales", "65.4%", True),
        ("It is not stated.", "0.01", False),
        ("See p. 66.", "66", False),
        ("See pages 60, 66 and 70.", "66", False),
        ("1" * 400, "66", False),
        ("1e400", "66", False),
    ],
)
def test_numeric_match(answer: str, reference: str, match: bool) -> None:
    number = only_number(reference)
    assert number is not None
    assert metrics.numeric_match(answer, number) is match


@pytest.mark.parametrize(
    ("question", "gold", "answer", "value", "unit", "right"),
    [
        ("In USD millions?", "$1577.00", "$1,577 million (p. 60)", 1.577e9, "USD", True),
        ("In USD millions?", "$1577.00", "$1,577,000,000", 1.577e9, "USD", True),
        ("Revenue?", "$1577.00", "$1,577 million, against 1,600 in FY2018", 1.577e9, "USD", True),
        ("Revenue?", "1600", "$1,577 million, against 1,600 in FY2018", 1.577e9, "USD", False),
        ("Margin?", "65.4%", "65.4%", 65.4, "percent", True),
        ("Margin?", "65.4%", "65.4%", 0.6541, "ratio", True),
        ("Margin?", "65.4%", "66%", 0.66, "ratio", False),
        ("Ratio?", "0.66", "0.66", 0.6637, "ratio", True),
        ("Ratio?", "0.66", "The ratio was 0.66 in 2019.", None, None, True),
        ("Ratio?", "2019", "The ratio was 0.66 in 2019.", None, None, False),
        ("Which year?", "2019", "2019", None, None, True),
        ("Ratio?", "0.66", "There is none.", None, None, False),
        ("In which year?", "2019", "In 2019, when revenue rose by 5%.", None, None, True),
        ("EBITDA?", "$2,018", "It was $2,018 in FY2023, up 5%.", None, None, True),
        ("Notes?", "12", "It was 5 (Note 12, [12], December 12, 2019, p. 12).", None, None, False),
        ("The 3 year average?", "3%", "The 3 year average was 4.2%.", None, None, False),
        ("Change?", "-5.2%", "Revenue decreased by 5.2%.", None, None, True),
        ("Change?", "-5.2%", "Revenue increased by 5.2%.", None, None, False),
        ("What did it fall by?", "5.2%", "a decrease of 5.2%", -5.2, "percent", True),
        ("What did it fall by?", "-5.2%", "a decrease of 5.2%", -5.2, "percent", True),
        ("Change?", "5.2%", "-5.2%", -5.2, "percent", False),
        ("What did it rise by?", "8.3%", "$31 million, or 8.3% (costs: $405 million)", 31e6, "USD", True),
        ("What did it rise by?", "8.4%", "$31 million, or 8.3% (costs: $405 million)", 31e6, "USD", False),
        ("What did it fall by?", "-50%", "a decrease of $9 million, or 50.0% (value: $9 million)", -9e6, "USD", True),
        ("The share?", "8.3%", "“It paid $31 million, or 8.3% of sales.” (p. 3)", 31e6, "USD", False),
        ("In USD millions?", "$1577.00", "$1,577 thousand", None, None, False),
        ("In USD millions?", "$1577.00", "1577", 1577.0, "USD millions", True),
        ("In USD millions?", "$1577.00", "1577", 1577.0, "USD", True),
        ("Share?", "0.5%", "0.5", 0.5, "ratio", False),
        ("Share?", "50%", "0.5", 0.5, "ratio", True),
        ("Share?", "0.5%", "0.5%", 0.5, "percent", True),
        ("Ratio?", "0.66", "huge", float("inf"), None, False),
        ("Ratio?", "0.66", "none", float("nan"), None, False),
    ],
)
def test_numeric_accuracy(
    question: str, gold: str, answer: str, value: float | None, unit: str | None, right: bool
) -> None:
    reference = only_number(gold)
    assert reference is not None
    prediction = Prediction("q", question, answer, "answered", value=value, unit=unit)
    assert metrics.numeric_accuracy(Question("q", question, gold), prediction, reference) is right


def test_numeric_references() -> None:
    assert metrics.numeric_reference(Question("q", "x", "5%")) is not None
    assert metrics.numeric_reference(Question("q", "x", "It fell.")) is None
    assert metrics.numeric_reference(Question("q", "x", "It fell 5% in 2021.")) is None
    of_value = metrics.numeric_reference(
        Question("q", "x", "It fell 5% in 2021, to $3 million.", value=3e6, unit="USD")
    )
    assert of_value is not None
    assert float(of_value.face * of_value.factor) == 3_000_000
    assert metrics.numeric_reference(Question("q", "x")) is None
    assert metrics.numeric_reference(Question("q", "x", "5%", "unanswerable_year")) is None


def span(page: int, start: int, end: int, doc_name: str = "NDA") -> Passage:
    return Passage(doc_name, "id", page, start, end, "x", 1.0)


def test_spans_by_hand() -> None:
    gold = (GoldEvidence("NDA", 2, start=100, end=200), GoldEvidence("NDA", 3, start=0, end=50))
    # 60 of 150 gold characters; 60 of 160 + 40 retrieved ones
    found = [span(2, 140, 300), span(2, 0, 40)]
    assert metrics.span_scores(found, gold) == pytest.approx((60 / 200, 60 / 150))
    # the same characters of another page or document are none
    assert metrics.span_scores([span(9, 100, 200), span(2, 100, 200, "Lease")], gold) == (0.0, 0.0)
    assert metrics.span_scores([], gold) == (0.0, 0.0)


def test_overlapping_passages_count_each_character_once() -> None:
    gold = (GoldEvidence("NDA", 0, start=50, end=150),)
    assert metrics.span_scores([span(0, 0, 110), span(0, 90, 200)], gold) == (100 / 200, 1.0)


def test_spans_count_only_if_all_evidence_has_them() -> None:
    spanned = GoldEvidence("NDA", 0, start=0, end=5)
    assert metrics.has_spans([spanned])
    assert not metrics.has_spans([spanned, GoldEvidence("NDA", 1)])
    assert not metrics.has_spans([])
