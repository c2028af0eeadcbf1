"""Predictions as JSON: the contract that outside scripts rely on."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.batch.predictions import decode, encode, prediction_of_bad_line
from finray.batch.question_files import BadLine
from finray.batch.stored_lines import PREDICTION_SCHEMA
from finray.core.filing import Filing
from finray.core.passages import Document, DocumentRef, PageRef, Passage, RenderedBlock
from finray.core.predictions import CitedCell, Prediction, TokenUsage
from finray.core.records import to_object

PASSAGE = Passage("ACME_2020_10K", "0000123456-21-000001", 41, 0, 12, "Revenue 1,000", 0.5)
CELL = CitedCell(
    "revenue_fy2020", 1.5e9, "ACME_2020_10K", "0000123456-21-000001", 3, "Revenue", "1,500", "Sales", "Total", "income",
    dt.date(2020, 12, 31), 12, "us-gaap:Revenues", None, (1.0, 2.0, 3.0, 4.5), 0.75,
)  # fmt: skip
FULL = Prediction(
    qid="q1",
    question="What was revenue?",
    answer="$1,000 million (p. 42)",
    status="answered",
    value=1e9,
    unit="USD",
    program="revenue",
    missing=("cash",),
    documents=(DocumentRef("ACME_2020_10K", "0000123456-21-000001", 2.5, reasons=("company", "year")),),
    passages=(PASSAGE,),
    evidence=(PASSAGE,),
    iterations=2,
    usage={"curate": TokenUsage(10, 2)},
    seconds=0.25,
    settings_hash="abc123",
    line=None,
    trace=("transform: Acme 2020",),
    rounds=((PageRef("ACME_2020_10K", "0000123456-21-000001", 41),), ()),
    grounded=False,
    nearest=("another filing",),
    operands=(CELL,),
    confidence=0.75,
)
ALWAYS = {
    "qid", "question", "answer", "value", "unit", "status", "error", "documents", "passages", "evidence",
    "iterations", "usage", "seconds", "settings_hash",
}  # fmt: skip
IF_SET = {"program", "missing", "trace", "rounds", "grounded", "nearest", "operands", "confidence"}
YESTERDAY = b"""
{"qid": "q1", "question": "What was revenue?", "answer": "$1,000 million (p. 42)", "value": 1000000000.0,
"unit": "USD", "status": "answered", "error": null, "documents": [{"doc_name": "ACME_2020_10K", "filing_id":
"0000123456-21-000001", "score": 2.5, "reasons": ["company", "year"]}], "passages": [{"doc_name":
"ACME_2020_10K", "filing_id": "0000123456-21-000001", "page": 41, "start": 0, "end": 12, "text": "Revenue
1,000", "score": 0.5}], "evidence": [{"doc_name": "ACME_2020_10K", "filing_id": "0000123456-21-000001", "page":
41, "start": 0, "end": 12, "text": "Revenue 1,000", "score": 0.5}], "iterations": 2, "usage": {"curate":
{"prompt_tokens": 10, "completion_tokens": 2}}, "seconds": 0.25, "settings_hash": "abc123", "program":
"revenue", "missing": ["cash"], "trace": ["transform: Acme 2020"], "rounds": [[{"doc_name": "ACME_2020_10K",
"filing_id": "0000123456-21-000001", "page": 41}], []], "grounded": false, "nearest": ["another filing"],
"operands": [{"name": "revenue_fy2020", "value": 1500000000.0, "doc_name": "ACME_2020_10K", "filing_id":
"0000123456-21-000001", "page": 3, "label": "Revenue", "text": "1,500", "section": "Sales", "column_label":
"Total", "statement": "income", "period_end": "2020-12-31", "months": 12, "concept": "us-gaap:Revenues", "box":
[1.0, 2.0, 3.0, 4.5], "fit": 0.75}], "confidence": 0.75}
""".strip().replace(b"\n", b" ")
"""``FULL`` as the version before fields had one definition wrote it."""
NEWER = {"evidence_blocks", "unusable", "context", "resolved", "unclear", "grid"}
"""Fields that the earlier version did not have."""


def test_fields() -> None:
    assert set(to_object(Prediction("q", "x", "", "unanswerable"))) == ALWAYS
    full = to_object(FULL)
    assert set(full) == ALWAYS | IF_SET
    assert full == json.loads(YESTERDAY)
    assert PREDICTION_SCHEMA.names == [field.name for field in fields(Prediction)]
    assert set(PREDICTION_SCHEMA.names) == {*ALWAYS, *IF_SET, *NEWER, "line"}
    assert {field.name for field in PREDICTION_SCHEMA if not field.nullable} == ALWAYS - {"value", "unit", "error"}


def test_a_line_of_an_earlier_version_is_read_whatever_the_order_of_its_keys() -> None:
    assert decode(YESTERDAY) == FULL
    assert decode(json.dumps(json.loads(YESTERDAY), sort_keys=True).encode()) == FULL


def test_round_trip() -> None:
    assert decode(encode(FULL)) == FULL


def test_rendered_evidence_survives_a_round_trip() -> None:
    block = RenderedBlock("e1", "doc", "id", 3, "table", "Cash", "**Cash**\n|USD|Dec 2023|\n|---|---:|\n|Cash \\| x|1|")
    prediction = replace(FULL, evidence_blocks=(block,))
    assert decode(encode(prediction)) == prediction


def test_the_cost_of_tokens_is_stored_unless_it_is_zero() -> None:
    paid = replace(FULL, usage={"curate": TokenUsage(10, 2, 0.25), "answer": TokenUsage(5, 1)})
    record = to_object(paid)
    assert record["usage"]["curate"]["cost"] == 0.25
    assert "cost" not in record["usage"]["answer"]
    assert decode(encode(paid)) == paid


def test_a_prediction_names_filings_with_what_a_report_groups_by() -> None:
    filing = Filing("id", "doc", "s3://b/doc.htm", "0" * 64, "Acme Inc.", "10-K", ticker="ACME")
    prediction = Prediction("q", "x", "y", "answered", documents=(Document(filing, 1.0, ("year",)).ref,))
    assert decode(encode(prediction)).documents == (DocumentRef("doc", "id", 1.0, "Acme Inc.", "10-K", ("year",)),)


def test_a_line_is_one_line() -> None:
    line = encode(Prediction("q", "a\nb\u2028c", "d\re", "answered"))
    assert line.count(b"\n") == 1
    assert decode(line).question == "a\nb\u2028c"


@given(st.text(), st.text(), st.floats())
def test_any_text_and_number_is_readable_json(question: str, answer: str, value: float) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    line = encode(Prediction("q", question, answer, "answered", value=value))
    record = json.loads(line.decode("utf-8"), parse_constant=refuse)
    assert (record["status"] == "error") == (not math.isfinite(value))


def test_a_wrong_score_is_an_error_of_its_question() -> None:
    broken = Passage("D", "F", 0, 0, 1, "x", math.nan)
    unwritable = Prediction("q", "x", "yes", "answered", passages=(broken,), settings_hash="h")
    prediction = decode(encode(unwritable))
    assert (prediction.qid, prediction.status, prediction.settings_hash) == ("q", "error", "h")
    assert "not a finite number" in (prediction.error or "")


def test_half_a_surrogate_pair_from_a_filing_does_not_spoil_the_file() -> None:
    assert decode(encode(Prediction("q", "x", "a\ud83db", "answered"))).answer == "a?b"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "qid"),
        ({"qid": "q", "question": "x", "answer": "", "status": "done"}, "status"),
        ({"qid": "q", "question": "x", "answer": "", "status": "answered", "passages": [{}]}, "passages.0"),
        ({"qid": "q", "question": "x", "answer": "", "status": "answered", "documents": [3]}, "documents.0"),
        ({"qid": "q", "question": "x", "answer": "", "status": "answered", "documents": [{}]}, "documents.0"),
    ],
)
def test_what_is_not_a_prediction(record: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"not a prediction: {message}"):
        decode(json.dumps(record).encode())


@pytest.mark.parametrize("line", [b"", b"x", b"[1]", b"\xff", b"[" * 100_000])
def test_what_is_not_a_json_object(line: bytes) -> None:
    with pytest.raises(ValueError, match="not "):
        decode(line)


def test_fields_of_other_tools_are_ignored_and_absent_ones_empty() -> None:
    record = {"qid": "q", "question": "x", "answer": "y", "status": "answered", "documents": None, "note": 1}
    assert decode(json.dumps(record).encode()) == Prediction("q", "x", "y", "answered")


def test_a_bad_line_becomes_an_error_with_its_number() -> None:
    prediction = prediction_of_bad_line(BadLine(17, "line-17", "junk", "not JSON"), "h")
    assert (prediction.status, prediction.line, prediction.error) == ("error", 17, "line 17: not JSON")
    assert to_object(prediction)["line"] == 17
