"""The engine that the settings describe, in a process of its own: it answers as it does in this one."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from finray.core.journal import StageReport
from finray.core.settings import Settings
from finray.core.types import Question
from finray.engine import Engine
from finray.engines.pool import EnginePool, Watch
from finray.engines.source import EngineSource
from tests.weightless import weightless

ASKED = "What was the total revenue of CLDVC in FY2022?"
WATCH = Watch(60.0, "test", 5.0)


async def test_answers_reports_and_retrieval_are_those_of_an_engine_here(
    engine: Engine, sample_index: str, local_settings: Settings
) -> None:
    question = Question("1", ASKED)
    here: list[StageReport] = []
    there: list[StageReport] = []
    with closing(EnginePool(EngineSource(sample_index, local_settings), WATCH)) as pool:
        expected = await engine.answer(question, here.append)
        assert replace(await pool.answer(question, there.append), seconds=0.0) == replace(expected, seconds=0.0)
        assert await pool.retrieve(ASKED, k_passages=3) == await engine.retrieve(ASKED, k_passages=3)
    assert [(report.stage, report.result) for report in there] == [(report.stage, report.result) for report in here]


async def test_a_flat_method_sends_no_list_of_the_whole_index(sample_index: str) -> None:
    settings = weightless(retrieval__method="dense")
    with closing(EnginePool(EngineSource(sample_index, settings), WATCH)) as pool:
        _, documents, passages = await pool.retrieve(ASKED)
        assert documents == ()
        assert passages
        assert (await pool.answer(Question("1", ASKED))).documents
