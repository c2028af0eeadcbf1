"""`finray ablate`: parts of the method switched off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from finray.evaluation.ablations import ABLATIONS
from finray.prediction_store import read_predictions
from finray.settings import load_settings

HASH = ["--set", "encoder.model=hash"]
Run = Callable[..., Any]


def test_each_ablation_is_a_setting_that_changes_the_answers_hash() -> None:
    hashes = {load_settings(overrides=a.settings, environment={}).answer_hash() for a in ABLATIONS.values()}
    assert len(hashes) == len(ABLATIONS)


def test_all_ablations_answer_and_stand_side_by_side(finray: Run, few: Path, sample_index: str, tmp_path: Path) -> None:
    command = ("ablate", few, "--index", sample_index, "--out", tmp_path / "runs", "--workers", 0, *HASH)
    result = finray(*command, "--json")
    assert result.code == 0, result.err
    assert list(result.json) == list(ABLATIONS)
    runs = {name: read_predictions(str(tmp_path / "runs" / f"{name}.jsonl")).predictions for name in ABLATIONS}
    assert {len(predictions) for predictions in runs.values()} == {12}
    assert all(p.iterations == 0 and not p.rounds for p in runs["no-curation"])
    assert all(p.iterations == len(p.rounds) == 1 for p in runs["one-iteration"])
    assert max(len(p.documents) for p in runs["full"]) < len(
        {p.doc_name for r in runs["no-hierarchy"] for p in r.passages}
    )
    again = finray(*command, "full", "no-filter")
    assert again.code == 0
    assert "(12 from an earlier run)" in again.err
    assert "full minus the other" in again.out


def test_an_unknown_ablation_names_the_known(finray: Run, few: Path, sample_index: str, tmp_path: Path) -> None:
    result = finray("ablate", few, "no-luck", "--index", sample_index, "--out", tmp_path)
    assert result.code == 2
    assert "no ablation 'no-luck'; there are full, no-hierarchy" in " ".join(result.err.split())
