"""The ablations with a command in docs/evaluation.md: each runs and disables its part."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from finray.batch.prediction_store import read_predictions
from tests.weightless import OPTIONS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "evaluation.md"
Run = Callable[..., Any]


@pytest.mark.slow
def test_every_documented_ablation_runs(finray: Run, few: Path, sample_index: str, tmp_path: Path) -> None:
    command = re.search(r"finray compare (finray [^-]*?)\s*--answers", DOCS.read_text(encoding="utf-8"))
    assert command is not None
    variants = command[1].replace("\\", " ").split()
    assert len(variants) == 7
    result = finray(
        "compare", *variants, "--answers", "--questions", few, "--index", sample_index, "--out", tmp_path / "runs",
        *OPTIONS, "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    runs = {variant: read_predictions(str(stored(tmp_path, variant))).predictions for variant in variants}
    assert {len(predictions) for predictions in runs.values()} == {12}
    assert all(p.iterations == len(p.rounds) for predictions in runs.values() for p in predictions)
    assert {p.iterations for p in runs["finray:loop.curate=false"]} == {0}
    assert {p.iterations for p in runs["finray:loop.i_max=1"]} == {1}
    assert max(p.iterations for p in runs["finray:loop.i_max=2"]) <= 2
    assert filings(runs["finray"]) <= 5 < filings(runs["finray:retrieval.hierarchical=false"])
    assert pages(runs["finray:loop.filter=false"]) >= pages(runs["finray"])


def stored(folder: Path, variant: str) -> Path:
    """The one predictions file of a variant, however its name is spelled as a file."""
    own = re.sub(r"[^\w.=]", ".", variant)
    found = [path for path in (folder / "runs").iterdir() if re.fullmatch(own.replace(".", ".{1,2}"), path.stem)]
    assert len(found) == 1
    return found[0]


def filings(predictions: Any) -> int:
    return max(len({passage.filing_id for passage in p.passages}) for p in predictions)


def pages(predictions: Any) -> int:
    return sum(len(places) for p in predictions for places in p.rounds)
