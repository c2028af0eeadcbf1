from __future__ import annotations

import re
from typing import Any

from finray.filings.read import parse_filing
from finray.sample.questions import MAKERS
from finray.settings import FilingSettings
from tests.sample.conftest import Sample
from tests.sample.planning import page_texts

MULTI_DOCUMENT = {"dividends_total", "percent_difference", "revenue_growth", "highest_of"}


def of_type(sample: Sample, *kinds: str) -> list[dict[str, Any]]:
    return [line for line in sample.questions if line["question_type"] in kinds]


def test_every_type_is_asked_and_no_question_twice(sample: Sample) -> None:
    assert {line["question_type"] for line in sample.questions} == set(MAKERS)
    assert len({line["question"] for line in sample.questions}) == len(sample.questions)
    assert len({line["qid"] for line in sample.questions}) == len(sample.questions)


def test_gold_pages_print_the_gold_evidence(sample: Sample) -> None:
    pages: dict[str, list[str]] = {}
    for line in sample.questions:
        for gold in line["evidence"]:
            filing = sample.filings[gold["doc_name"]]
            if filing.doc_name not in pages:
                pages[filing.doc_name] = page_texts((sample.folder / "filings" / filing.file_name).read_bytes())
            page = pages[filing.doc_name][gold["page"]].replace(" )", ")").replace("( ", "(")
            numbers = re.findall(r"\(?\d[\d,.]*", gold["text"])
            assert all(number.rstrip(".,") in page for number in numbers), line


def test_gold_text_answers_stand_on_their_page(sample: Sample) -> None:
    for line in of_type(sample, "textual"):
        (gold,) = line["evidence"]
        filing = sample.filings[gold["doc_name"]]
        pages = page_texts((sample.folder / "filings" / filing.file_name).read_bytes())
        assert " ".join(line["answer"].split()) in re.sub(r" ([.,;)])", r"\1", pages[gold["page"]])


def test_single_numbers_equal_the_printed_figure_times_its_scale(sample: Sample) -> None:
    for line in of_type(sample, "numeric_table", "numeric_quarter", "restated"):
        printed = [float(text.replace(",", "")) for text in re.findall(r"\d[\d,]*\.?\d*", line["evidence"][0]["text"])]
        assert any(abs(line["value"]) == number * scale for number in printed for scale in (1, 1e3, 1e6)), line


def test_dividends_add_up_to_the_printed_rows(sample: Sample) -> None:
    for line in of_type(sample, "dividends_total"):
        settled = set()
        for scale in (1, 1e3, 1e6):
            first = [max(0.0, *(float(cell.replace(",", "")) for cell in re.findall(r"\(([\d,]+)\)", gold["text"])))
                     for gold in line["evidence"]]
            settled.add(sum(first) * scale >= line["value"])
        assert len(line["evidence"]) >= 2 and True in settled


def test_multi_document_questions_rest_on_several_filings(sample: Sample) -> None:
    for line in of_type(sample, *MULTI_DOCUMENT):
        assert len({gold["doc_name"] for gold in line["evidence"]}) >= 2


def test_unanswerable_questions_name_what_no_filing_has(sample: Sample) -> None:
    asked = of_type(sample, "unanswerable")
    assert {line["reason"] for line in asked} == {"company", "year", "metric"}
    contents = {path.name: path.read_bytes() for path in (sample.folder / "filings").iterdir()}
    read = {name: parse_filing(content, f"/sample/{name}", FilingSettings()) for name, content in contents.items()}
    everything = "\n".join(" ".join(page.text.split()) for filing in read.values() for page in filing.pages).casefold()
    ends = {item.period_end.year for filing in read.values() for item in filing.line_items if item.period_end}
    for line in asked:
        assert line["answer"] is None and line["evidence"] == [] and line["value"] is None
        if line["reason"] == "company":
            named = re.search(r"((?:[A-Z][\w&]+ )+[A-Z]\w+)'|(?:did|of) ((?:[A-Z]\w+ )+[A-Z]\w+) (?:report|for)",
                              line["question"])
            assert named, line
            assert (named[1] or named[2]).removeprefix("What was ").casefold() not in everything, line
        elif line["reason"] == "year":
            # A retailer's fiscal year ends early in the next calendar year.
            year = int(re.findall(r"(20\d\d)", line["question"])[-1])
            assert not {year, year + 1} <= ends and year not in {f.filing.fiscal_year for f in read.values()}
        else:
            names = [metric for metric in ("same-store sales", "proved oil reserves", "net interest margin",
                                           "average revenue per paying subscriber",
                                           "research and development tax credit carryforward")
                     if metric in line["question"]]
            assert names and not any(name in everything for name in names), line
