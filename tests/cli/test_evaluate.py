"""`finray report`: from predictions to a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.weightless import OPTIONS

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def answers() -> list[bytes]:
    """The predictions file that the first test of this module writes, for the others."""
    return []


@pytest.fixture
def predictions(
    finray: Run, few: Path, sample_index: str, tmp_path: Path, one_engine: None, answers: list[bytes]
) -> Path:
    path = tmp_path / "run.jsonl"
    if not answers:
        assert finray("answer", few, "--index", sample_index, "--out", path, "--workers", 0, *OPTIONS).code == 0
        answers.append(path.read_bytes())
    path.write_bytes(answers[0])
    return path


def test_a_page_with_an_index(finray: Run, predictions: Path, few: Path, sample_index: str, tmp_path: Path) -> None:
    page = tmp_path / "new" / "report.html"
    result = finray("report", predictions, few, "--out", page, "--index", sample_index, "--title", "Trial <1>")
    assert result.code == 0
    assert result.out.split() == ["12", "questions,", "1", "run", "->", str(page)]
    html = page.read_text(encoding="utf-8")
    assert "<h1>Trial &lt;1&gt;</h1>" in html
    assert "By company" in html
    assert "Systems" in html


def test_predictions_alone_name_companies(finray: Run, predictions: Path, few: Path, tmp_path: Path) -> None:
    with_index = finray("report", predictions, few, "--out", tmp_path / "r.html", "--json")
    assert with_index.code == 0
    run = with_index.json["runs"]["run"]
    assert with_index.json["report"] == str(tmp_path / "r.html")
    assert sum(run["errors"].values()) == 12
    assert any("Systems" in name for name in run["breakdowns"]["company"])
    assert run["over_iterations"]["page_recall"]["1"]["n"] > 0


def test_several_runs(finray: Run, predictions: Path, few: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(predictions.read_bytes())
    assert finray("report", predictions, other, few, "--out", tmp_path / "r.html").code == 0
    assert "minus each other run" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_what_cannot_be_reported(finray: Run, predictions: Path, few: Path, tmp_path: Path) -> None:
    for arguments, message in [
        ((few, "--out", tmp_path / "r.html"), "at least one predictions file"),
        ((predictions, few, "--out", tmp_path / "r.pdf"), "must end in .html"),
        ((tmp_path / "none.jsonl", few, "--out", tmp_path / "r.html"), "no predictions there"),
        ((predictions, few, "--out", tmp_path / "r.html", "--index", tmp_path / "none"), "index"),
    ]:
        result = finray("report", *arguments)
        assert result.code == 2
        assert message in result.err
        assert not (tmp_path / "r.html").exists()


def test_results_for_the_documentation(finray: Run, predictions: Path, few: Path, tmp_path: Path) -> None:
    other = tmp_path / "before.jsonl"
    other.write_bytes(predictions.read_bytes())
    curve = tmp_path / "new" / "curve.svg"
    result = finray("evaluate", predictions, other, few, "--markdown", "--curve", curve)
    assert result.code == 0
    assert "|  | run | before | run minus before |" in result.out
    assert "| answers | confidence from | share of questions | right |" in result.out
    assert curve.read_text(encoding="utf-8").startswith("<svg")
    refused = finray("evaluate", predictions, few, "--curve", tmp_path / "curve.png")
    assert (refused.code, "must end in .svg" in refused.err) == (2, True)


def test_why_figures_fail(finray: Run, predictions: Path, few: Path, sample_index: str) -> None:
    counted = finray("errors", predictions, few, "--index", sample_index, "--json").json
    assert counted["questions"] == sum(counted["errors"].values()) > 0
    shown = finray("errors", predictions, few, "--index", sample_index, "--markdown")
    assert shown.code == 0
    assert "| first stage that fails | n | share [95% interval] |" in shown.out
