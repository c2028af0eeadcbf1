"""The fair table over the sample: every method beside finray, gaps for missing models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finray.core.bootstrap import Estimate
from finray.core.errors import UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import load_settings
from finray.index.job.in_process import index_in_process
from finray.lab.tables import fair
from finray.lab.tables.paper_table import Gap
from finray.lab.tables.registry import paper_tables
from finray.lab.tables.request import Request
from finray.retrieval.methods.registry import METHODS
from tests.weightless import WEIGHTLESS

SETTINGS = {**WEIGHTLESS, "llm.base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.slow
def test_methods_with_and_without_titles_are_compared_with_finray(
    sample_folder: Path, sample_questions: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ("finray", "bm25", "rrf", "hyde", "dense_rerank", "zero_shot")
    monkeypatch.setattr(fair, "METHODS", {name: METHODS[name] for name in chosen})
    reports = [str(path) for path in sorted((sample_folder / "filings").glob("*10k*"))[:3]]
    index_in_process(reports, str(tmp_path / "index"), load_settings(overrides=SETTINGS, environment={}))
    names = {Path(report).stem for report in reports}
    asked = [q for q in sample_questions if {one["doc_name"] for one in q.get("evidence", ())} & names][:6]
    files = []
    for name, part in (("early", asked[:3]), ("late", asked[3:])):
        files.append(str(tmp_path / f"{name}.jsonl"))
        Path(files[-1]).write_text("".join(json.dumps(question) + "\n" for question in part), "utf-8")
    request = Request(files, str(tmp_path / "index"), overrides=SETTINGS, out=str(tmp_path / "out"))
    values, differences = paper_tables("fair", request, lambda *_: None)

    assert values.heads[:4] == ["early filing R@1", "early page R@5", "late filing R@1", "late page R@5"]
    rows = {row.label: row.cells for row in values.rows}
    assert set(rows) == {"finray", "bm25", "bm25+title", "rrf", "rrf+title", "hyde", "hyde+title", "dense_rerank"}
    assert isinstance(rows["rrf+title"][1], Estimate)
    assert rows["rrf+title"][-1] == "0"
    assert isinstance(rows["hyde"][0], Gap)
    assert "language model" in rows["hyde"][0].reason
    assert isinstance(rows["dense_rerank"][0], Gap)
    assert "reranker" in rows["dense_rerank"][0].reason
    finray, bm25 = rows["finray"][0], rows["bm25"][0]
    paired = next(row.cells for row in differences.rows if row.label == "bm25")[0]
    assert isinstance(finray, Estimate)
    assert isinstance(bm25, Estimate)
    assert isinstance(paired, Estimate)
    assert paired.value == pytest.approx((bm25.value or 0) - (finray.value or 0))

    with pytest.raises(UsageError, match="same name"):
        paper_tables("fair", Request([files[0], files[0]], request.index, overrides=SETTINGS), lambda *_: None)


def test_latency_is_that_of_all_questions_together_and_sets_may_share_ids() -> None:
    def some(*seconds: float) -> tuple[list[Prediction], list[Question]]:
        ids = [f"q{number}" for number in range(len(seconds))]
        found = [Prediction(qid, "?", "5", "answered", seconds=each) for qid, each in zip(ids, seconds, strict=True)]
        return found, [Question(qid, "?") for qid in ids]

    pooled = fair._pooled([some(1.0, 1.0, 9.0), some(9.0, 9.0)])
    assert pooled is not None
    assert (pooled.questions, pooled.latency.p50) == (5, 9.0)
    assert fair._pooled([]) is None
