"""Tables of publications: measured, published and missing values."""

from __future__ import annotations

import pytest

from finray.cli.tables import tables as tables_command
from finray.core.bootstrap import Estimate
from finray.core.errors import UsageError
from finray.lab.tables import registry
from finray.lab.tables.paper_table import Gap, PaperTable, Row, tables_data, tables_markdown
from finray.lab.tables.registry import System, paper_tables
from finray.lab.tables.request import Progress, Request

TABLE = PaperTable(
    "3",
    "retrieval",
    ("page recall", "BLEU"),
    (
        Row("dense", (Estimate(0.341, 0.2, 0.5, 150), 0.26), (0.34, 0.26)),
        Row("reranked", (Gap("no reranker"), Gap("no reranker"))),
        Row("oracle", (None, Gap("no gold text"))),
    ),
    ("150 questions",),
)


def test_gaps_are_numbered_and_named_under_the_table() -> None:
    text = tables_markdown([TABLE])
    assert "| dense | 0.34 [0.20, 0.50] | 0.26 |" in text
    assert "|   published | 0.34 | 0.26 |" in text
    assert "| reranked | gap 1 | gap 1 |" in text
    assert "| oracle | – | gap 2 |" in text
    assert text.endswith("* gap 1: no reranker\n* gap 2: no gold text\n* 150 questions")


def test_data_keeps_intervals_and_reasons() -> None:
    (data,) = tables_data([TABLE])
    first, second, _ = data["rows"]
    assert first["measured"]["page recall"] == {"value": 0.341, "low": 0.2, "high": 0.5, "n": 150}
    assert first["published"] == {"page recall": 0.34, "BLEU": 0.26}
    assert second["measured"]["BLEU"] == {"gap": "no reranker"}


def test_only_the_chosen_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def tables(request: Request, progress: Progress) -> list[PaperTable]:
        return [TABLE, PaperTable("4", "forms", (), ())]

    monkeypatch.setitem(registry.SYSTEMS, "made-up", System("made-up", "a paper", ("3", "4"), tables))

    def numbers(*only: str) -> list[str]:
        request = Request(("questions.jsonl",), "index", only=only)
        return [table.number for table in paper_tables("made-up", request, lambda *_: None)]

    assert numbers() == ["3", "4"]
    assert numbers("4") == ["4"]
    with pytest.raises(UsageError, match="made-up has no table '9'; it has 3, 4"):
        numbers("9")
    with pytest.raises(UsageError, match="no tables for 'none'"):
        paper_tables("none", Request((), "index"), lambda *_: None)


@pytest.mark.parametrize(
    ("system", "given", "preset"),
    [
        ("hirec", None, "hirec"),
        ("page-scorer", None, "page-scorer"),
        ("fair", None, "local"),
        ("hirec", "local", "local"),
    ],
)
def test_a_system_s_tables_are_computed_with_its_published_settings(
    monkeypatch: pytest.MonkeyPatch, system: str, given: str | None, preset: str
) -> None:
    asked: list[Request] = []

    def tables(name: str, request: Request, progress: Progress) -> list[PaperTable]:
        asked.append(request)
        return []

    monkeypatch.setattr(registry, "paper_tables", tables)
    tables_command(system, questions=["q.jsonl"], index="i", preset=given)
    assert [request.preset for request in asked] == [preset]
