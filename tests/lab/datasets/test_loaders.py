from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.batch.question_files import BadLine
from finray.core.errors import SourceError, UsageError
from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets.registry import DATASETS, load_dataset

FINANCEBENCH: dict[str, Any] = {
    "financebench_id": "fb_1",
    "company": "Acme",
    "doc_name": "ACME_2022_10K",
    "question_type": "metrics-generated",
    "question": "What is Acme's FY2022 capex?",
    "answer": "$12.00",
    "evidence": [{"evidence_text": "Purchases (12)", "doc_name": "ACME_2022_10K", "evidence_page_num": 59}],
}
LOFIN: dict[str, Any] = {
    "qid": "lofin_1",
    "question": "What was Acme's revenue in 2022?",
    "answer": "1,200",
    "evidences": [{"doc_name": "ACME_2022_10K", "page_num": 31}],
    "answer2": None,
}
FINQA: dict[str, Any] = {
    "id": "ACME/2016/page_23.pdf-2",
    "pre_text": ["..."],
    "post_text": [],
    "table": [["", "2016"], ["revenue", "5829"]],
    "qa": {
        "question": "what is the change in revenue?",
        "answer": "94",
        "program": "subtract(5829, 5735)",
        "exe_ans": 94.0,
        "gold_inds": {"table_1": "revenue of 2016 is 5829", "text_3": "it was 5735 in 2015"},
    },
}
TATQA: dict[str, Any] = {
    "table": {"uid": "t1", "table": [["", "2019", "2018"], ["Inventories", "1,571.7", "1,500.0"]]},
    "paragraphs": [{"uid": "p1", "order": 1, "text": "In millions."}, {"uid": "p2", "order": 2, "text": "Else."}],
    "questions": [
        {
            "uid": "q1", "order": 1, "question": "What is the percentage change in inventories?", "answer": 4.78,
            "derivation": "(1,571.7-1,500.0)/1,500.0", "answer_type": "arithmetic", "answer_from": "table-text",
            "rel_paragraphs": ["1"], "req_comparison": False, "scale": "percent", "facts": ["1571.7"],
            "mappings": [{"table": [1, 1]}, {"paragraph_1": [0, 2]}],
        },
        {
            "uid": "q2", "order": 2, "question": "What were inventories?", "answer": ["1,571.7", "1,500.0"],
            "derivation": "", "answer_type": "multi-span", "answer_from": "table", "rel_paragraphs": [],
            "req_comparison": False, "scale": "million",
        },
    ],
}  # fmt: skip
OWN = {"qid": "a", "question": "What was revenue?", "evidence": [{"doc_name": "D", "page": 3}]}


def lines(*records: object) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records)


def encoded(name: str, *records: object) -> bytes:
    if name in ("finqa", "tatqa"):
        return json.dumps(records).encode()
    return lines(*records)


GOOD: dict[str, dict[str, Any]] = {
    "financebench": FINANCEBENCH, "lofin": LOFIN, "finqa": FINQA, "tatqa": TATQA,
    "finray": OWN,
}  # fmt: skip


def load(name: str, *records: object) -> list[Question | BadLine]:
    return list(DATASETS[name].load(encoded(name, *records), f"data/numeric_text/{name}.jsonl"))


def test_financebench() -> None:
    assert load("financebench", FINANCEBENCH) == [
        Question("fb_1", "What is Acme's FY2022 capex?", "$12.00", "metrics-generated",
                 (GoldEvidence("ACME_2022_10K", 59, "Purchases (12)"),))
    ]  # fmt: skip


def test_financebench_evidence_without_a_name_is_from_the_question_s_filing() -> None:
    record = FINANCEBENCH | {"evidence": [{"evidence_page_num": 3}]}
    (question,) = load("financebench", record)
    assert isinstance(question, Question)
    assert question.evidence == (GoldEvidence("ACME_2022_10K", 3),)


def test_lofin_takes_its_subset_from_the_path() -> None:
    (question,) = load("lofin", LOFIN)
    assert isinstance(question, Question)
    assert (question.question_type, question.evidence) == ("numeric_text", (GoldEvidence("ACME_2022_10K", 31),))


@pytest.mark.parametrize(
    ("change", "source"),
    [
        ({"qid": "financebench_id_00070"}, "financebench"),
        ({"qid": "ETR/2016/page_23.pdf-2"}, "finqa"),
        ({"qid": "SEC-QA-12"}, "secqa"),
        ({"qid": "17", "source": "sec_qa"}, "secqa"),
        ({"qid": "17", "dataset": "FinQA"}, "finqa"),
        ({"qid": "17", "source": 3}, None),
        ({"qid": "17"}, None),
    ],
)
def test_lofin_knows_the_source_of_a_question(change: dict[str, Any], source: str | None) -> None:
    (question,) = load("lofin", LOFIN | change)
    assert isinstance(question, Question)
    assert question.source == source


def test_finqa_keeps_program_result_and_gold_sentences() -> None:
    (question,) = load("finqa", FINQA)
    assert isinstance(question, Question)
    assert (question.answer, question.value, question.program) == ("94", 94.0, "subtract(5829, 5735)")
    text = "revenue of 2016 is 5829\nit was 5735 in 2015"
    assert question.evidence == (GoldEvidence("ACME_2016_page_23", 0, text),)


def test_own_questions_pass_through() -> None:
    assert load("finray", OWN) == [Question("a", "What was revenue?", evidence=(GoldEvidence("D", 3),))]


@pytest.mark.parametrize("name", ["financebench", "lofin", "finqa"])
@pytest.mark.parametrize("bad", [7, None, {}, {"question": 5, "query": 5, "id": "x", "qid": [], "financebench_id": {}}])
def test_one_bad_record_is_numbered_and_the_others_stay(name: str, bad: object) -> None:
    results = load(name, GOOD[name], bad)
    assert isinstance(results[0], Question)
    assert [(result.line, bool(result.reason)) for result in results if isinstance(result, BadLine)] == [(2, True)]


@pytest.mark.parametrize("name", ["financebench", "lofin", "finqa"])
def test_a_second_record_of_the_same_id_is_reported(name: str) -> None:
    _, second = load(name, GOOD[name], GOOD[name])
    assert isinstance(second, BadLine)
    assert "record 1" in second.reason


@pytest.mark.parametrize(("path", "value"), [("evidence_page_num", -1), ("evidence_page_num", "x"), ("doc_name", 5)])
def test_bad_evidence_is_reported(path: str, value: object) -> None:
    evidence = FINANCEBENCH["evidence"][0] | {path: value}
    (result,) = load("financebench", FINANCEBENCH | {"evidence": [evidence]})
    assert isinstance(result, BadLine)
    assert path in result.reason


@pytest.mark.parametrize("name", ["finqa", "tatqa"])
@pytest.mark.parametrize("content", [b"", b"{", b"3", b'{"a": 1}', b"[" * 100_000, b"\xff\xfe"])
def test_another_kind_of_file_is_an_error(name: str, content: bytes) -> None:
    with pytest.raises(SourceError, match="file"):
        list(DATASETS[name].load(content, "file.json"))


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_a_missing_file_says_where_to_get_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="where to get") as error:
        load_dataset(name, str(tmp_path / "none.json"))
    assert DATASETS[name].where in str(error.value)


def test_an_unknown_data_set_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="financebench, finqa"):
        load_dataset("squad", "x.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(GOOD)), data=st.data())
def test_wild_values_never_break_a_loader(name: str, data: st.DataObject) -> None:
    record = json.loads(json.dumps(GOOD[name]))
    spots = list(_spots(record))
    place, key = data.draw(st.sampled_from(spots))
    place[key] = data.draw(JSON)
    for result in load(name, record):
        assert isinstance(result, Question | BadLine)


def _spots(value: Any) -> list[tuple[Any, Any]]:
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], (dict, list)):
            found += _spots(value[key])
    return found
