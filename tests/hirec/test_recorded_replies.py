"""The model's path end to end without a model: recorded replies of a strong reader to the very prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.models.chat import ChatReply, Message
from tools.record_replies import Scripted, answers, build_index, corpora, script, unpack

MOST_PROMPT_TOKENS = 4_500
"""Of a question that is answered in one round, at four characters a token."""


class NoModel:
    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        raise AssertionError(
            "no reply is recorded for this prompt: prompts, retrieval or evidence have changed; run "
            f"`python -m tools.record_replies`. The prompt ends in {messages[-1].content[-400:]!r}"
        )


async def check(index: str, corpus: str, folder: Path) -> None:
    asked: list[Scripted] = [one for one in script() if one.corpus == corpus]
    assert len(asked) >= 5
    recorded = folder / "recorded"
    unpack(corpus, recorded)
    for one, prediction in zip(asked, await answers(index, asked, NoModel(), recorded), strict=True):
        assert prediction.error is None, one.question
        assert prediction.answer == one.expected
        assert prediction.iterations == len(one.rounds)
        assert set(prediction.usage) == {"transform", "respond"}
        if prediction.status == "answered":
            assert prediction.evidence, one.question
            assert prediction.grounded is True, one.question
        if one.value is not None:
            assert prediction.value == pytest.approx(one.value, rel=0.01), one.question
        if len(one.rounds) == 1:
            assert sum(usage.prompt_tokens for usage in prediction.usage.values()) <= MOST_PROMPT_TOKENS


async def test_generated_filings(sample_index: str, tmp_path: Path) -> None:
    await check(sample_index, "sample", tmp_path)


@pytest.mark.slow
async def test_published_filings(shared_data: Path, tmp_path: Path) -> None:
    index = build_index(corpora(shared_data)["releases"], tmp_path)
    await check(index, "releases", tmp_path)
