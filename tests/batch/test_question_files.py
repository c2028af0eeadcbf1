"""Question files: what a user sees for good, odd and hostile lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.batch.question_files import BadLine, parse_jsonl, read_questions, write_questions
from finray.core.errors import SourceError
from finray.core.question_fields import excerpt
from finray.core.questions import GoldEvidence, Question

LIMIT = 8000


def read(*lines: object, limit: int = LIMIT) -> list[Question | BadLine]:
    content = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return list(parse_jsonl(content, max_characters=limit))


def bad(line: object, limit: int = LIMIT) -> BadLine:
    (result,) = read(line, limit=limit)
    assert isinstance(result, BadLine), result
    assert len(result.text) <= 201
    assert len(result.reason) < 400
    result.text.encode("utf-8")
    result.reason.encode("utf-8")
    return result


def test_full_question() -> None:
    (question,) = read(
        {
            "qid": "q1",
            "question": " What was capex? ",
            "answer": 24.26,
            "question_type": "numeric",
            "evidence": [{"doc_name": "ACME_2020_10K", "page": 3, "text": "Capex", "extra": 1}],
            "company": "ignored",
        }
    )
    gold = (GoldEvidence("ACME_2020_10K", 3, "Capex"),)
    assert question == Question("q1", "What was capex?", "24.26", "numeric", gold)


def test_evidence_may_name_a_filing_without_a_page_and_exact_fills_in_for_a_blank_answer() -> None:
    found = read(
        {"qid": "a", "question": "x", "answer": "", "exact": "0.5", "evidence": [{"doc_name": "D"}], "printed_page": 9},
        {"qid": "b", "question": "x", "answer": "50%", "exact": "0.5", "evidence": [{"doc_name": "D", "page": None}]},
    )
    assert [question.answer for question in found if isinstance(question, Question)] == ["0.5", "50%"]
    assert [question.evidence for question in found if isinstance(question, Question)] == [(GoldEvidence("D"),)] * 2


@pytest.mark.parametrize(("qid", "kept"), [(7, "7"), (1.5, "1.5"), ("a b", "a b"), ("問1", "問1")])
def test_usable_qids(qid: object, kept: str) -> None:
    (question,) = read({"qid": qid, "question": "x"})
    assert question.qid == kept


@pytest.mark.parametrize(
    "text", ["Wie hoch war der Umsatz?", "売上高は?", "كم كانت الإيرادات؟", "Revenue 📈 👩‍💼?", "tab\there"]
)
def test_other_scripts_and_emoji_are_questions(text: str) -> None:
    (question,) = read({"qid": "q", "question": text})
    assert isinstance(question, Question)
    assert question.question == text


@pytest.mark.parametrize(
    ("line", "qid", "reason"),
    [
        (b"not json", "line-1", "not JSON"),
        (b'{"qid": "q", "question": "torn', "line-1", "not JSON"),
        (b"[" * 100_000, "line-1", "not readable JSON"),
        (b'{"qid": ' + b"9" * 5000 + b"}", "line-1", "not readable JSON"),
        (b'{"qid": "q", "question": "caf\xe9"}', "line-1", "not UTF-8: byte 0xe9 at 30"),
        ([1, 2], "line-1", "not a JSON object but a list"),
        ("text", "line-1", "not a JSON object but text"),
        (None, "line-1", "not a JSON object but null"),
        ({"question": "x"}, "line-1", "no qid"),
        ({"qid": None, "question": "x"}, "line-1", "no qid"),
        ({"qid": True, "question": "x"}, "line-1", "'qid' is true"),
        ({"qid": ["q"], "question": "x"}, "line-1", "'qid' is a list"),
        ({"qid": " ", "question": "x"}, "line-1", "'qid' is blank"),
        ({"qid": "q" * 300, "question": "x"}, "line-1", "'qid' has 300 characters"),
        ({"qid": "a\x00b", "question": "x"}, "line-1", "control character U+0000"),
        (b'{"qid": NaN, "question": "x"}', "line-1", "'qid' is nan"),
        ({"qid": "q"}, "q", "no question"),
        ({"qid": "q", "question": None}, "q", "no question"),
        ({"qid": "q", "question": 5}, "q", "'question' is a number"),
        ({"qid": "q", "question": ""}, "q", "blank"),
        ({"qid": "q", "question": " \n\t"}, "q", "blank"),
        ({"qid": "q", "question": "a\x00b"}, "q", "control character U+0000 at 2"),
        ({"qid": "q", "question": "a\x1b[2Jb"}, "q", "control character U+001B"),
        ({"qid": "q", "question": "a\ud83d"}, "q", "half a surrogate pair"),
        ({"qid": "q", "question": "x", "answer": {"v": 1}}, "q", "'answer' is an object"),
        ({"qid": "q", "question": "x", "question_type": 1}, "q", "'question_type' is a number"),
        ({"qid": "q", "question": "x", "evidence": "p. 3"}, "q", "'evidence' is text"),
        ({"qid": "q", "question": "x", "evidence": ["p. 3"]}, "q", "evidence 1 is text"),
        ({"qid": "q", "question": "x", "evidence": [{"page": 1}]}, "q", "'doc_name' is null"),
        (
            {"qid": "q", "question": "x", "evidence": [{"doc_name": "D", "alternative_pages": [2]}]},
            "q",
            "'alternative_pages' without a 'page'",
        ),
        ({"qid": "q", "question": "x", "evidence": [{"doc_name": "D", "page": -1}]}, "q", "'page' is -1"),
        ({"qid": "q", "question": "x", "evidence": [{"doc_name": "D", "page": "3"}]}, "q", "'page' is '3'"),
        ({"qid": "q", "question": "x", "evidence": [{"doc_name": "D", "page": 1, "text": 3}]}, "q", "'text'"),
    ],
)
def test_bad_lines_say_why(line: object, qid: str, reason: str) -> None:
    result = bad(line)
    assert (result.line, result.qid) == (1, qid)
    assert reason in result.reason


def test_a_megabyte_of_text_is_cut_in_messages() -> None:
    result = bad({"qid": "huge", "question": "x" * 1_000_000})
    assert result.qid == "huge"
    assert "1,000,000 characters" in result.reason
    assert "max_question_characters" in result.reason
    assert len(bad(b"x" * 1_000_000).text) <= 201


def test_lines_are_counted_with_blank_ones() -> None:
    content = (
        b"\xef\xbb\xbf" + b'{"qid": "a", "question": "x"}\r\n\r\n  \n'
        b'{"qid": "b", "question": "y\xe2\x80\xa8z"}\r\n'  # U+2028 is no line break in JSON lines
        b"junk\r\n\n"
        b'{"qid": "c", "question": "z"}'
    )
    results = list(parse_jsonl(content, max_characters=LIMIT))
    assert [r.qid for r in results] == ["a", "b", "line-5", "c"]


def test_one_line_of_another_encoding_spoils_only_itself() -> None:
    latin = b'{"qid": "b", "question": "\xff"}'
    results = read({"qid": "a", "question": "x"}, latin, {"qid": "c", "question": "é"})
    assert [type(r) for r in results] == [Question, BadLine, Question]


def test_duplicates_name_the_first_line_and_every_id_is_used_once() -> None:
    results = read(
        {"qid": "a", "question": "x"},
        {"qid": "a", "question": "y"},
        {"qid": "line-4", "question": "z"},
        b"junk",
        {"qid": "line-2", "question": "taken by the second line"},
        {"qid": 7, "question": "x"},
        {"qid": "7", "question": "x"},
    )
    assert [r.qid for r in results] == ["a", "line-2", "line-4", "line-4-bad", "line-5", "7", "line-7"]
    assert isinstance(results[1], BadLine)
    assert results[1].reason == "duplicate qid 'a': line 1 has it already"


def test_utf16_is_refused_with_advice() -> None:
    with pytest.raises(SourceError, match="save it as UTF-8"):
        read('{"qid": "a"}'.encode("utf-16"))


NEAR_QUESTIONS = st.from_regex(rb'\{"qid": [0-9"]{0,3}, "question": .{0,9}\}')


@given(st.lists(st.one_of(st.binary(max_size=40), NEAR_QUESTIONS)))
def test_every_non_empty_line_yields_one_result(lines: list[bytes]) -> None:
    content = b"\n".join(lines)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    results = list(parse_jsonl(content, max_characters=LIMIT))
    filled = [line for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    assert len(results) == len(filled)
    assert len({r.qid for r in results}) == len(results)


@given(st.text())
def test_excerpts_are_one_printable_line(text: str) -> None:
    shown = excerpt(text, 20)
    assert len(shown) <= 21
    assert shown.isprintable()


QUESTIONS = [
    Question("a", "What was revenue?", "1,000", "numeric", (GoldEvidence("D", 3, "Revenue 1,000"),)),
    Question("b", "売上高?"),
    Question("c", "x", "5%", None, (GoldEvidence("D", 3, None, (7, 9)),), value=5.0, unit="percent", program="a / b"),
    Question("d", "x", "5%", None, (GoldEvidence("D"),)),
]


@pytest.mark.parametrize("name", ["q.jsonl", "q.parquet", "Q.JSONL"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    target = str(tmp_path / "new" / name)
    write_questions(target, QUESTIONS)
    assert list(read_questions(target)) == QUESTIONS
    assert [p.name for p in (tmp_path / "new").iterdir()] == [name]


@pytest.mark.parametrize("value", ["n/a", None, True, [1], 10**400])
def test_a_gold_value_that_is_no_number_is_no_reason_to_refuse_a_question(value: object) -> None:
    line = json.dumps({"qid": "a", "question": "x", "value": value, "unit": 5, "program": {}}).encode()
    assert list(parse_jsonl(line, max_characters=100)) == [Question("a", "x")]


@pytest.mark.parametrize("pages", [3, [-1], ["x"], [1.5]])
def test_bad_alternative_pages_are_reported(pages: object) -> None:
    evidence = [{"doc_name": "D", "page": 1, "alternative_pages": pages}]
    line = json.dumps({"qid": "a", "question": "x", "evidence": evidence}).encode()
    (result,) = parse_jsonl(line, max_characters=100)
    assert isinstance(result, BadLine)
    assert "alternative" in result.reason


def parquet(path: Path, columns: dict[str, Any]) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_parquet_nulls_and_numbers(tmp_path: Path) -> None:
    uri = parquet(
        tmp_path / "q.parquet",
        {
            "qid": pa.array([1, 2, None, 2]),
            "question": ["x", None, "y", "z"],
            "evidence": [[{"doc_name": "D", "page": 2.0}], None, None, None],
            "other": [1, 2, 3, 4],
        },
    )
    results = list(read_questions(uri))
    assert results[0] == Question("1", "x", evidence=(GoldEvidence("D", 2),))
    assert [(r.line, r.qid, r.reason[:11]) for r in results[1:] if isinstance(r, BadLine)] == [
        (2, "2", "no question"),
        (3, "line-3", "no qid: the"),
        (4, "line-4", "duplicate q"),
    ]


def test_parquet_without_a_question_column(tmp_path: Path) -> None:
    uri = parquet(tmp_path / "q.parquet", {"qid": ["a"], "text": ["x"]})
    with pytest.raises(SourceError, match="no column 'question'; its columns are qid, text"):
        list(read_questions(uri))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.parquet", b"not parquet", "not a Parquet file"),
        ("q.txt", b"qid,question", r"ends in \.jsonl, \.parquet, \.csv or \.xlsx"),
        ("q.jsonl", None, "cannot read"),
    ],
)
def test_unusable_files(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match=message):
        list(read_questions(str(path)))


def test_an_empty_file_has_no_questions(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_bytes(b"\n \n")
    assert list(read_questions(str(tmp_path / "q.jsonl"))) == []
