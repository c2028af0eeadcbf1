"""What a record is as JSON."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.core.passages import Passage
from finray.core.predictions import CitedCell, Prediction, TokenUsage
from finray.core.questions import GoldEvidence, Question
from finray.core.records import field_docs, from_object, from_row, is_torn, parse_json, to_json, to_object
from finray.core.replies import FilingCover, StageEvent

PREDICTION = Prediction(
    'q"\\é',
    "日本 \U0001f4c8\n\x01?",
    "",
    "answered",
    value=-1.5e9,
    passages=(Passage("D", "F", 3, 0, 4, "text", 0.5),),
    operands=(CitedCell("a", 1.0, "D", "F", 3, "Cash", "1", period_end=dt.date(2020, 12, 31)),),
    grounded=True,
    confidence=0.0,
)


def test_what_is_not_known_is_left_out_and_zero_is_known() -> None:
    record = to_object(PREDICTION)
    assert "program" not in record
    assert record["confidence"] == 0.0
    assert record["error"] is None
    assert to_object(Question("q", "x", value=0.0, evidence=(GoldEvidence("D", 0),))) == {
        "qid": "q",
        "question": "x",
        "value": 0.0,
        "evidence": [{"doc_name": "D", "page": 0}],
    }
    assert to_object(TokenUsage(1)) == {"prompt_tokens": 1, "completion_tokens": 0}
    assert to_object(StageEvent("q", "documents", 0, "finished", documents=())) == {
        "qid": "q", "stage": "documents", "iteration": 0, "state": "finished", "documents": []
    }  # fmt: skip


def test_null_in_a_file_is_the_same_as_absent() -> None:
    page = {"doc_name": "D", "page": 1, "text": None, "alternative_pages": None}
    found = from_row(Question, {"qid": "q", "question": "x", "unit": None, "evidence": [page]})
    assert found == Question("q", "x", evidence=(GoldEvidence("D", 1),))
    with pytest.raises(ValueError, match=r"^question: Field required$"):
        from_row(Question, {"qid": "q", "question": None})


@given(st.text(), st.none() | st.floats(allow_nan=False, allow_infinity=False))
def test_records_come_back_as_they_were(text: str, value: float | None) -> None:
    read = from_object(Question, parse_json(to_json(Question("q", text, value=value))))
    assert read == Question("q", text.encode("utf-8", "replace").decode(), value=value)


def test_every_beginning_of_a_line_is_known_for_one_whatever_the_order_of_its_keys() -> None:
    record = to_object(PREDICTION)
    for line in (to_json(PREDICTION), json.dumps(record, sort_keys=True, ensure_ascii=True).encode()):
        assert all(is_torn(Prediction, line[:cut]) for cut in range(1, len(line)))
        assert not is_torn(Prediction, line)


@pytest.mark.parametrize(
    "other", [b"", b"notes", b"[1, 2", b'"qid', b"7", b'{"author": "me", "qid": "', b"{qid", b"\xff", b"[" * 99_999]
)
def test_the_beginning_of_something_else_is_not(other: bytes) -> None:
    assert not is_torn(Prediction, other)


def test_the_location_of_a_filing_is_not_disclosed() -> None:
    filing = Filing("id", "doc", "s3://secret/doc.htm", "0" * 64, "Acme", "10-K")
    cover = FilingCover("id", "doc", source_uri=filing.source_uri, content_sha256="", company="A", form="B", n_pages=1)
    assert "secret" not in to_json(cover).decode()
    assert to_object(cover)["n_pages"] == 1


def test_fields_are_described_by_their_docstrings() -> None:
    assert field_docs(Prediction)["settings_hash"] == "12 hex digits over every setting that can change an answer."
    assert field_docs(FilingCover)["fiscal_year_end"].startswith("``MM-DD``")
