"""The engine that the settings describe, in a process of its own: it answers as it does in this one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from finray.core.journal import StageReport
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engine import Engine, open_engine
from finray.engines.outside import Outsiders
from finray.engines.pool import EnginePool, Watch
from finray.engines.source import EngineSource
from finray.models.encoder import Vectors
from finray.models.hash_encoder import HashEncoder
from finray.models.reranker import OverlapReranker, Scores
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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["finray", "dense+rerank"])
async def test_questions_wait_for_models_elsewhere_together(sample_index: str, method: str) -> None:
    """Without it, a replica would get one text at a time from each engine."""
    reranked = {"passage_reranker__model": "overlap", "retrieval__reranked_pages": 4}
    settings = weightless(retrieval__method=method, **reranked)
    open_calls = {"encoder": 0, "passage_reranker": 0}
    most = dict(open_calls)

    async def called(name: str) -> None:
        open_calls[name] += 1
        most[name] = max(most[name], open_calls[name])
        await asyncio.sleep(0.3)
        open_calls[name] -= 1

    async def encode(texts: Sequence[str]) -> Vectors:
        await called("encoder")
        return HashEncoder().encode_passages(texts)

    async def score(query: str, texts: Sequence[str]) -> Scores:
        await called("passage_reranker")
        return OverlapReranker().scores(query, texts)

    outsiders: Outsiders = {"encoder": encode, "passage_reranker": score}
    asked = [Question(str(year), f"What was the total revenue of CLDVC in FY{year}?") for year in range(2019, 2025)]
    here = open_engine(sample_index, settings)
    expected = [replace(await here.answer(question), seconds=0.0) for question in asked]
    source = EngineSource(sample_index, settings, frozenset(outsiders))
    with closing(EnginePool(source, WATCH, in_flight=3, outsiders=outsiders)) as pool:
        found = await asyncio.gather(*(pool.answer(question) for question in asked))
    assert [replace(prediction, seconds=0.0) for prediction in found] == expected
    assert min(most.values()) > 1, most


async def test_a_flat_method_sends_no_list_of_the_whole_index(sample_index: str) -> None:
    settings = weightless(retrieval__method="dense")
    with closing(EnginePool(EngineSource(sample_index, settings), WATCH)) as pool:
        _, documents, passages = await pool.retrieve(ASKED)
        assert documents == ()
        assert passages
        assert (await pool.answer(Question("1", ASKED))).documents
