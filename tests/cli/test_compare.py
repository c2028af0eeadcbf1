"""``finray compare`` over the sample: one table, resumable, each question asked once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finray.batch.prediction_store import read_predictions
from finray.cli.compare import compare as compare_command
from finray.core.errors import SettingsError, UsageError
from finray.lab import comparison
from tests.weightless import ASSIGNMENTS


@pytest.fixture(scope="module")
def few(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("few") / "questions.jsonl"
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:10]) + "no question\n", encoding="utf-8")
    return str(path)


class Compare:
    """The command with its output: ``text`` and ``said`` on the standard output and error, ``code`` its exit code."""

    def __init__(self, questions: str, index: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.questions, self.index, self._capsys = questions, index, capsys
        self.text, self.said, self.code = "", "", 0

    def __call__(self, *methods: str, **options: Any) -> Compare:
        self.code = compare_command(
            [*methods], questions=self.questions, index=self.index, set_=[*ASSIGNMENTS], **options
        )
        self.text, self.said = self._capsys.readouterr()
        return self


@pytest.fixture
def compare(few: str, sample_index: str, capsys: pytest.CaptureFixture[str]) -> Compare:
    return Compare(few, sample_index, capsys)


def test_nothing_is_cut_on_a_narrow_terminal(compare: Compare) -> None:
    text = compare("bm25", "dense", "finray").text
    assert all(len(line) <= 80 for line in text.splitlines())
    means, differences = text.split("Difference to bm25")
    for method in ("bm25", "dense", "finray"):
        rows = [line.split()[1:] for line in means.splitlines() if line.split()[:1] == [method]]
        assert sum(map(len, rows)) == 10
        assert (f"  {method} " in differences) == (method != "bm25")
    assert {"filing", "page", "R@1", "R@10", "ROUGE-L@5", "p95", "ms"} <= set(means.split())
    assert "…" not in text
    assert "retrieval only" in compare.said
    assert compare.code == 0


def test_for_a_machine(compare: Compare) -> None:
    data = json.loads(compare("bm25", "finray", json_=True).text)
    assert data["baseline"] == "bm25" and data["retrieval_only"]
    assert set(data["methods"]) == {"bm25", "finray"} and set(data["differences"]) == {"finray"}
    mean = {name: data["methods"][name]["metrics"]["document_recall@1"]["value"] for name in data["methods"]}
    difference = data["differences"]["finray"]["document_recall@1"]
    assert difference["value"] == pytest.approx(mean["finray"] - mean["bm25"])
    assert difference["low"] <= difference["value"] <= difference["high"]


def test_for_a_page(compare: Compare) -> None:
    lines = compare("bm25", "rrf:methods.rrf.constant=1,methods.rrf.candidates=5", markdown=True).text.splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert tables[0].startswith("| method | filing R@1 |")
    assert {line.count("|") for line in tables[:4]} == {12}
    assert any(line.startswith("| rrf:methods.rrf.constant=1,methods.rrf.candidates=5 |") for line in tables)


def test_predictions_are_kept_and_resumed(compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tmp_path / "runs")
    first = compare("bm25", "rrf:methods.rrf.constant=1", out_=folder).text
    names = sorted(path.name for path in (tmp_path / "runs").glob("*.jsonl"))
    assert names == ["bm25.jsonl", "rrf__methods.rrf.constant=1.jsonl"]
    predictions = read_predictions(f"{folder}/bm25.jsonl").predictions
    assert len(predictions) == 11
    asked = [p for p in predictions if p.line is None]
    assert all(p.passages and p.status == "unanswerable" and p.iterations == 0 for p in asked)
    monkeypatch.setattr(comparison, "build_engine", _never)
    assert compare("bm25", "rrf:methods.rrf.constant=1", out_=folder).text == first


def test_with_answers_the_numbers_are_scored(compare: Compare) -> None:
    text = compare("finray", "bm25", retrieval_only=False).text
    assert "numeric" in text and "with curation and answers" in text
    assert "retrieval only" not in compare.said


def test_an_unknown_method_or_setting_is_an_error_before_anything_runs(compare: Compare, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'bm52' is unknown; choose from finray, bm25"):
        compare("bm25", "bm52", out_=str(tmp_path / "runs"))
    with pytest.raises(SettingsError, match=r"methods\.rrf\.konstant"):
        compare("rrf:methods.rrf.konstant=3")
    with pytest.raises(UsageError, match=r"rrf:section\.key=value"):
        compare("rrf:constant")
    with pytest.raises(UsageError, match="given twice"):
        compare("rrf", "rrf")
    assert not (tmp_path / "runs").exists()


def test_a_missing_requirement_of_a_method_is_an_error_before_the_first_question(
    compare: Compare, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=r"passage_reranker\.model"):
        compare("bm25", "dense_rerank", out_=str(tmp_path / "runs"))
    assert not list((tmp_path / "runs").glob("*.jsonl"))


def _never(*arguments: object, **options: object) -> None:
    raise AssertionError("nothing was to be asked")
