"""The benchmark of quarters that are not printed asks about each annual report, and tells lengths apart."""

from __future__ import annotations

import asyncio
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from finray.core.predictions import CitedCell, Prediction
from finray.engine import Engine

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "parts_of_years.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def _prediction(*months: int | None) -> Prediction:
    cells = tuple(CitedCell("x", 1.0, "A", "a", 1, "Sales", "1", months=each) for each in months)
    return Prediction("q", "How much?", "$1", "answered", value=1.0, unit="USD", operands=cells)


@pytest.mark.parametrize(
    ("months", "expected"),
    [((3,), "of the period"), ((6, 3), "of the period"), ((12,), "of another period"), ((), "of another period")],
)
def test_a_figure_is_of_the_period_if_its_cells_are(
    script: dict[str, Any], months: tuple[int, ...], expected: str
) -> None:
    assert script["outcome"](_prediction(*months), 3) == expected


def test_the_sample_s_annual_reports_give_no_figure_of_another_period(script: dict[str, Any], engine: Engine) -> None:
    asked = list(script["questions"](engine))
    assert len(asked) == 3 * sum(filing.form == "10-K" for filing in engine.reader.filings())
    found = Counter(script["outcome"](asyncio.run(engine.answer(one)), months) for one, months in asked)
    assert found["of another period"] == 0
