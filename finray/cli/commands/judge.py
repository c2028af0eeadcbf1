"""``finray judge``, ``judge-labels`` and ``judge-agreement``: is an answer in words right, and who may say so."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from finray.batch.question_files import read_questions
from finray.cli.commands.progress import progress_bar
from finray.cli.commands.runs import read_runs
from finray.core.errors import UsageError
from finray.core.settings import LlmSettings, Settings
from finray.core.types import Question
from finray.lab.evaluation.judging.agreement import agreement
from finray.lab.evaluation.judging.agreement_report import agreement_report
from finray.lab.evaluation.judging.constructed import constructed_labels
from finray.lab.evaluation.judging.judge_all import NOT_JUDGED, JudgeSummary, judge_all
from finray.lab.evaluation.judging.judgement import VERDICTS, AnswerJudge, Submission, submission_of
from finray.lab.evaluation.judging.judgement_store import JudgementStore, read_judgements
from finray.lab.evaluation.judging.labels import read_labels, write_labels
from finray.lab.evaluation.judging.llm_judge import LlmJudge
from finray.lab.evaluation.judging.rule_judge import RuleJudge
from finray.models.chat import ChatModel, ChatReply, Message
from finray.models.load_chat import load_chat
from finray.storage.locations import read_bytes

JudgeKind = Literal["llm", "rules"]


def run_judge(
    predictions: Sequence[str],
    questions: str,
    out_uri: str,
    settings: Settings,
    *,
    retry_failed: bool,
    as_json: bool,
    out: Console,
    err: Console,
) -> int:
    """Judge the textual answers of one or more runs with a language model; 1 where an answer was not judged."""
    runs, asked = read_runs(predictions, questions)
    by_qid = {question.qid: question for question in asked}
    pairs = [(by_qid[p.qid], p) for run in runs for p in run.predictions if p.qid in by_qid]
    submissions = [found for pair in pairs if (found := submission_of(*pair)) is not None]
    if not submissions:
        raise UsageError("there is no textual answer to judge: numbers are compared, and refusals count as they are")
    summary = _judged(submissions, "llm", out_uri, settings, retry_failed=retry_failed, err=err)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(describe(summary, out_uri), highlight=False, markup=False, soft_wrap=True)
    return 1 if summary.verdicts.get(NOT_JUDGED) else 0


def run_judge_labels(questions: str, out_uri: str, *, seed: int, as_json: bool, out: Console) -> int:
    """Write constructed answers with labels."""
    asked = [line for line in read_questions(questions) if isinstance(line, Question)]
    labelled = constructed_labels(asked, companies=_companies(questions), seed=seed)
    if not labelled:
        raise UsageError(f"{questions!r} has no question whose gold answer is in words")
    write_labels(out_uri, labelled)
    counts = {label: sum(one.label == label for one in labelled) for label in VERDICTS}
    if as_json:
        sys.stdout.write(json.dumps({"out": out_uri, "answers": len(labelled), "labels": counts}) + "\n")
    else:
        shown = ", ".join(f"{count} {label}" for label, count in counts.items())
        out.print(f"{len(labelled)} answers: {shown} -> {out_uri}", highlight=False, markup=False, soft_wrap=True)
    return 0


def run_judge_agreement(
    labels: str,
    by: JudgeKind,
    out_uri: str | None,
    settings: Settings,
    *,
    as_json: bool,
    out: Console,
    err: Console,
) -> int:
    """Judge labelled answers and hold the verdicts against the labels; 1 where an answer was not judged."""
    labelled = read_labels(labels)
    submissions = [one.submission for one in labelled]
    with tempfile.TemporaryDirectory() as folder:
        uri = out_uri or str(Path(folder) / "judgements.jsonl")
        summary = _judged(submissions, by, uri, settings, retry_failed=False, err=err)
        found = agreement(labelled, read_judgements(uri).by_key)
    if as_json:
        sys.stdout.write(json.dumps({"judge": summary.judge, **asdict(found), "usage": asdict(summary.usage)}) + "\n")
    else:
        out.print(agreement_report(summary.judge, found))
        out.print(_spent(summary), highlight=False, markup=False, soft_wrap=True)
    return 1 if found.not_judged else 0


def describe(summary: JudgeSummary, out_uri: str) -> str:
    """The summary for a person."""
    counts = ", ".join(f"{summary.verdicts.get(name, 0)} {name}" for name in (*VERDICTS, NOT_JUDGED))
    return (
        f"{summary.answers} textual answers: {counts} ({summary.resumed} from an earlier run) -> {out_uri}\n"
        f"{_spent(summary)}"
    )


def _spent(summary: JudgeSummary) -> str:
    tokens = summary.usage
    cost = f", cost {tokens.cost:,.4f}" if tokens.cost else ""
    read = f"{tokens.prompt_tokens:,} tokens in, {tokens.completion_tokens:,} out{cost}"
    return f"{summary.judge}: {read}, {summary.seconds:.1f} s"


def _judged(
    submissions: Iterable[Submission], by: JudgeKind, uri: str, settings: Settings, *, retry_failed: bool, err: Console
) -> JudgeSummary:
    judge: AnswerJudge = LlmJudge(_OnDemand(settings.llm), settings.llm) if by == "llm" else RuleJudge()
    with JudgementStore(uri, judge.name, judge.hash) as store, progress_bar(err, "judging") as progress:
        return asyncio.run(
            judge_all(
                submissions,
                judge,
                store,
                concurrency=settings.llm.max_concurrency,
                retry_failed=retry_failed,
                progress=progress,
            )
        )


class _OnDemand:
    """The model of the settings, loaded with the first question: a run that has nothing to ask starts no engine."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._model: ChatModel | None = None

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self._model = self._model or load_chat(self._settings)
        return await self._model.chat(messages, schema=schema)


def _companies(questions: str) -> Mapping[str, str]:
    """qid -> company, where the question file names one, as FinanceBench's does."""
    if not questions.lower().endswith((".jsonl", ".ndjson")):
        return {}
    found: dict[str, str] = {}
    for line in read_bytes(questions).splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # read_questions has dealt with it
            continue
        if isinstance(record, dict) and isinstance(record.get("company"), str):
            found[str(record.get("qid"))] = record["company"]
    return found
