"""``finray ask``: one question, in this process or by a running service."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import closing
from dataclasses import replace

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from finray.client.wire import ServiceError
from finray.core.records import to_object
from finray.core.replies import AnswerEvent, StageEvent
from finray.core.settings import Settings
from finray.core.types import Passage, Prediction, Question
from finray.engines.questions import QuestionEngine

_EXCERPT = 400


def run_ask(question: str, index: str, settings: Settings, *, as_json: bool, trace: bool, out: Console) -> int:
    """Print the answer; 0 where there is one, also an honest refusal, 1 for an error.

    The engine is a process of its own, so that Ctrl-C and the limit of time end it whatever it does.
    """
    with closing(QuestionEngine(index, settings, asks_llm=settings.loop.asks_llm)) as engine:
        prediction = asyncio.run(engine.answer(Question(qid="ask", question=question)))
    return _tell(prediction, as_json=as_json, trace=trace, out=out)


def run_ask_server(
    question: str, server: str, api_key_env: str, *, as_json: bool, trace: bool, out: Console, err: Console
) -> int:
    """As ``run_ask``, by a running service; says on ``err`` which stage it is at. Raises ServiceError, UsageError."""
    from finray.client import Client

    with Client(server, os.environ.get(api_key_env)) as client, err.status("asking") as status:
        prediction = None
        for event in client.stream(question, trace=trace):
            if isinstance(event, AnswerEvent):
                prediction = event.prediction
            elif isinstance(event, StageEvent) and event.state == "started":
                status.update(f"{event.stage}, iteration {event.iteration}")
    if prediction is None:
        raise ServiceError(0, "no_answer", "the service closed the connection before it answered; try again")
    return _tell(prediction, as_json=as_json, trace=trace, out=out)


def _tell(prediction: Prediction, *, as_json: bool, trace: bool, out: Console) -> int:
    if as_json:
        shown = prediction if trace else replace(prediction, trace=())
        sys.stdout.write(json.dumps(to_object(shown)) + "\n")
    else:
        show(prediction, out, trace=trace)
    return 1 if prediction.status == "error" else 0


def show(prediction: Prediction, out: Console, *, trace: bool = False) -> None:
    """The answer, its program and its evidence for a person; pages are one-based here."""
    colour = {"answered": "green", "unanswerable": "yellow", "error": "red"}[prediction.status]
    out.print(Panel(escape(prediction.answer or prediction.error or ""), title=prediction.status, border_style=colour))
    if prediction.program:
        out.print(f"[bold]program[/]  {escape(prediction.program)}")
    for passage in prediction.evidence:
        out.print(f"[bold]evidence[/] {escape(cite(passage))}")
        out.print(Panel(escape(_excerpt(passage.text)), border_style="dim"))
    if trace:
        for line in prediction.trace:
            out.print(f"[dim]{escape(line)}[/]")
    out.print(f"[dim]{prediction.seconds * 1000:.0f} ms, {prediction.iterations} iterations[/]")


def cite(passage: Passage) -> str:
    """``ACME_2022_10K, p. 12``."""
    return f"{passage.doc_name}, p. {passage.page + 1}"


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rstrip() + " …"
