"""Questions that an index cannot answer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from finray.cli import main
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.index.reading.reader import IndexReader
from finray.lab.datasets.probes import ProbeSource, make_probes, probe_source, strangers
from finray.question.periods.named import periods_in


@pytest.fixture(scope="module")
def source(reader: IndexReader) -> ProbeSource:
    return probe_source(reader)


@pytest.fixture(scope="module")
def asked(sample_questions: list[dict[str, Any]]) -> list[Question]:
    return [Question(each["qid"], each["question"]) for each in sample_questions]


def test_the_same_seed_makes_the_same_questions_of_three_types(asked: list[Question], source: ProbeSource) -> None:
    probes = make_probes(asked, source, count=5, seed=1)
    assert probes == make_probes(asked, source, count=5, seed=1)
    assert probes != make_probes(asked, source, count=5, seed=2)
    assert set(Counter(probe.question_type for probe in probes)) == {
        "unanswerable_company",
        "unanswerable_period",
        "unanswerable_metric",
    }
    assert len({probe.qid for probe in probes}) == len(probes)


def test_another_company_takes_the_place_of_one_that_is_indexed(asked: list[Question], source: ProbeSource) -> None:
    for probe in make_probes(asked, source, count=20, seed=0):
        if probe.question_type == "unanswerable_company":
            assert source.catalog.mentions(probe.question).known == ()
            assert any(name in probe.question for name in strangers())


def test_no_filing_prints_the_other_years(asked: list[Question], source: ProbeSource) -> None:
    years = {f.fiscal_year for own in source.filings.values() for f in own if f.fiscal_year is not None}
    moved = [p for p in make_probes(asked, source, count=20, seed=0) if p.question_type == "unanswerable_period"]
    assert moved
    for probe in moved:
        assert not years & {period.year for period in periods_in(probe.question)}


def test_the_command_writes_them(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "probes.jsonl"
    arguments = ["probes", str(sample_folder / "questions.jsonl"), "--index", sample_index, "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["finray", *arguments, "--count", "3"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 9
    assert all(line["question_type"].startswith("unanswerable_") for line in lines)


def test_most_are_refused(asked: list[Question], source: ProbeSource, ask: Any) -> None:
    """The target is 95%; the figures on real filings are in docs/results.md."""
    answers: list[Prediction] = [ask(p.question) for p in make_probes(asked, source, count=12, seed=3)]
    assert sum(answer.status == "unanswerable" for answer in answers) >= 0.9 * len(answers)
