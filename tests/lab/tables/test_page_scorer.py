"""``finray tables page-scorer`` over the sample: measured rows, gaps for missing models, folds of a trained scorer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.cli.tables import tables as tables_command
from finray.core.errors import UsageError
from finray.core.settings import LlmSettings
from finray.lab.tables.page_scorer import NUMBERS
from finray.models.chat import ChatModel, Message
from tests.scripted_chat import ScriptedChatModel

FAKES = ("encoder.model=hash", "sparse_encoder.model=hash", "llm.base_url=http://127.0.0.1:9/v1")
RERANKED = (*FAKES, "passage_reranker.model=overlap")
UNTRAINED = "Page vectors of the index, untrained"
HEADS = ("DocRec@5", "PageRec@5", "Max BLEU@5", "Max ROUGE-L@5")


@pytest.fixture(scope="module")
def questions(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nine questions on three companies, with the published types and, as gold text, the answer."""
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [q for q in map(json.loads, lines) if q.get("evidence") and "2022-10k" in q["evidence"][0]["doc_name"]][:9]
    for number, question in enumerate(asked):
        question["question_type"] = ("domain-relevant", "metrics-generated", "novel-generated")[number % 3]
        for gold in question["evidence"]:
            gold["text"] = question["question"]
    path = tmp_path_factory.mktemp("paper") / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in asked), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def index(sample_index: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A copy of the sample's index, to store vectors beside it."""
    return str(shutil.copytree(sample_index, tmp_path_factory.mktemp("copy") / "index"))


class Tables:
    def __init__(self, questions: str, index: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.questions, self.index, self._capsys = questions, index, capsys

    def __call__(self, *numbers: str, settings: Sequence[str] = RERANKED, **options: Any) -> list[dict[str, Any]]:
        """The tables as data."""
        only = ",".join(numbers)
        tables_command(
            "page-scorer",
            questions=[self.questions],
            index=self.index,
            set_=[*settings],
            only=only,
            json_=True,
            preset="local",
            **options,
        )
        found: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)
        return found


@pytest.fixture
def tables(questions: str, index: str, capsys: pytest.CaptureFixture[str]) -> Tables:
    return Tables(questions, index, capsys)


def measured(table: Mapping[str, Any], label: str) -> dict[str, Any]:
    """The cells of one row."""
    cells: dict[str, Any] = next(row["measured"] for row in table["rows"] if row["label"] == label)
    return cells


def test_without_models_the_rows_that_need_them_are_named_gaps(tables: Tables) -> None:
    (table,) = tables("3", settings=FAKES)
    assert [row["label"] for row in table["rows"]][-2:] == ["Learned page scorer", UNTRAINED]
    for label in (
        "Dense baseline",
        "BM25",
        "SPLADE",
        "Hybrid fusion (BM25 + dense)",
        "Query expansion (dense)",
        UNTRAINED,
    ):
        cells = measured(table, label)
        assert list(cells) == list(HEADS)
        assert all(0 <= cell["low"] <= cell["value"] <= cell["high"] and cell["n"] == 9 for cell in cells.values())
    gaps = {row["label"]: row["measured"]["DocRec@5"].get("gap", "") for row in table["rows"]}
    assert "no language model 'Qwen/Qwen2.5-7B-Instruct'" in gaps["HyDE"]
    assert "passage_reranker.model" in gaps["Dense + ReRanker"]
    assert "--recipe page-scorer" in gaps["Learned page scorer"]
    assert table["rows"][0]["published"] == dict(zip(HEADS, (0.88, 0.34, 0.26, 0.35), strict=True))


def test_oracles_bound_the_method_and_the_page_oracle_ranks_inside_the_page(tables: Tables) -> None:
    two, three = tables("2", "3")
    dense = measured(three, "Dense baseline")
    document, page = (measured(two, f"Oracle {name}") for name in ("document", "page"))
    assert document["DocRec@5"]["value"] == page["PageRec@5"]["value"] == 1.0
    assert dense["PageRec@5"]["value"] <= document["PageRec@5"]["value"] <= 1.0
    assert "no language model" in document["Numeric match"]["gap"]
    assert any("numeric match: over 3 metrics-generated questions" in note for note in two["notes"])


def test_answers_are_scored_with_a_language_model(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(messages: Sequence[Message]) -> str | dict[str, Any]:
        if "You write text" in messages[0].content:
            return {"passages": [messages[-1].content]}
        return "About 12 of 1,234." if "Context: " in messages[-1].content else "yes"

    def load(llm: LlmSettings) -> ChatModel:
        return ScriptedChatModel(script)

    monkeypatch.setattr("finray.lab.tables.runs.load_chat", load)
    monkeypatch.setattr("finray.engine.load_chat", load)
    (five,) = tables("5")
    for label in ("Dense + Multi-HyDE + ReRanker", "Oracle document", "Oracle page"):
        cells = measured(five, label)
        assert 0 <= cells["ROUGE-L"]["value"] <= 1
        assert (cells["ROUGE-L"]["n"], cells["Numeric match"]["n"]) == (9, 3)
    assert "gap" in measured(five, "Learned page scorer")["ROUGE-L"]


def test_forms_and_types_have_their_own_columns(tables: Tables) -> None:
    four, figure = tables("4", "F3")
    assert "10K n = 9, 10Q n = 0" in four["title"]
    oracle = measured(four, "Oracle document")
    assert oracle["10K D@5"]["value"] == 1.0
    assert oracle["10Q D@5"] is None
    assert four["rows"][1]["published"]["10K P@5"] == 0.62
    assert figure["rows"][1]["published"]["metrics-generated P@5"] == 0.81
    assert figure["rows"][1]["published"]["novel-generated P@5"] is None


@pytest.mark.slow
def test_each_question_is_searched_by_the_model_of_its_fold(
    tables: Tables, questions: str, tiny_base: str, tmp_path: Path
) -> None:
    qids = [json.loads(line)["qid"] for line in Path(questions).read_text(encoding="utf-8").splitlines()]
    for number in (1, 2):
        folder = Path(shutil.copytree(tiny_base, tmp_path / "models" / f"fold-{number}"))
        held = qids[number - 1 : 8 : 2]  # the ninth question was in no fold
        record = {
            "kind": "page-scorer",
            "identity": {"base": "tiny", "max_tokens": 32, "page_characters": 100, "query_prefix": ""},
            "held_out_questions": held,
            "learned_questions": [qid for qid in qids[:8] if qid not in held],
        }
        (folder / "training.json").write_text(json.dumps(record), encoding="utf-8")
    (six,) = tables("6", models=str(tmp_path / "models"), out_=str(tmp_path / "out"))
    for p in (5, 10, 20, 30, 40, 50):
        assert measured(six, f"P = {p}")["PageRec@5"]["n"] == 9
    assert six["rows"][2]["published"]["PageRec@5"] == 0.55
    assert "page scorer from tiny" in six["notes"][-1]
    stored = {path.name for path in (Path(tables.index) / "extensions").glob("*.json")}
    assert {"page_scorer-models-fold-1.json", "page_scorer-models-fold-2.json"} <= stored
    answered = (tmp_path / "out" / "fold-2-page_scorer-20.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["qid"] for line in answered} == set(qids[1:8:2])


def test_table_1_counts_the_questions(tables: Tables) -> None:
    (one,) = tables("1")
    assert measured(one, "form 10K") == {"questions": "9", "share": 1.0}
    assert measured(one, "metrics-generated")["questions"] == "3"


def test_an_unknown_table_is_an_error(tables: Tables) -> None:
    with pytest.raises(UsageError, match=f"page-scorer has no table '7'; it has {', '.join(NUMBERS)}"):
        tables("7")
