"""Runs a judge, chosen by name, over answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from finray.core.settings import LlmSettings, Settings
from finray.lab.evaluation.judging.judge_all import JudgeSummary, Progress, judge_all
from finray.lab.evaluation.judging.judgement import AnswerJudge, Submission
from finray.lab.evaluation.judging.judgement_store import JudgementStore
from finray.lab.evaluation.judging.llm_judge import LlmJudge
from finray.lab.evaluation.judging.rule_judge import RuleJudge
from finray.models.chat import ChatModel, ChatReply, Message
from finray.models.load_chat import load_chat

JudgeKind = Literal["llm", "rules"]


def judge_with(
    kind: JudgeKind,
    submissions: Iterable[Submission],
    uri: str,
    settings: Settings,
    *,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> JudgeSummary:
    """Judge ``submissions`` into the file ``uri``, resuming earlier runs. Raises UsageError, ModelUnavailableError."""
    judge: AnswerJudge = LlmJudge(OnDemandModel(settings.llm), settings.llm) if kind == "llm" else RuleJudge()
    return judge_into(uri, judge, submissions, settings.llm, retry_failed=retry_failed, progress=progress)


def judge_into(
    uri: str,
    judge: AnswerJudge,
    submissions: Iterable[Submission],
    llm: LlmSettings,
    *,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> JudgeSummary:
    """Like ``judge_with``, by any judge; ``llm`` limits its requests at once."""
    limit = llm.in_flight
    with JudgementStore(uri, judge.name, judge.hash) as store:
        run = judge_all(submissions, judge, store, concurrency=limit, retry_failed=retry_failed, progress=progress)
        return asyncio.run(run)


class OnDemandModel:
    """The model of the settings, loaded on the first request, so that a run without requests starts no engine."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._model: ChatModel | None = None

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self._model = self._model or load_chat(self._settings)
        return await self._model.chat(messages, schema=schema)
