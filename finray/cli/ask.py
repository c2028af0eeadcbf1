"""``finray ask``: answers one question from an index or through a running service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.core.records import to_object
from finray.core.settings import Settings
from finray.core.types import Passage, Prediction, Question

_EXCERPT = 400
_COLOR = {"answered": "green", "unanswerable": "yellow", "error": "red"}


def ask(
    question: Annotated[str, typer.Argument(help="One question.")],
    index: Annotated[str | None, typer.Option("--index", help="Index location: a folder or s3:// URI.")] = None,
    server: Annotated[
        str | None, typer.Option("--server", help="URL of a running service (`finray serve`) to ask instead.")
    ] = None,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the key for --server.")
    ] = "FINRAY_API_KEY",
    preset: PresetOption = "local",
    set_: SetOption = None,
    json_: JsonOption = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show what each stage did and why each filing was ranked.")
    ] = False,
) -> int:
    """Answer one question and show the pages that support the answer."""
    if server is not None and index is None:
        prediction = _ask_service(question, server, os.environ.get(api_key_env), trace=trace)
    elif index is not None and server is None:
        prediction = _ask_index(question, index, settings_of(preset, set_))
    else:
        raise typer.BadParameter("give either --index or --server")
    record = prediction if trace else replace(prediction, trace=())
    emit(to_object(record), *shown(record), as_json=json_)
    return 1 if prediction.status == "error" else 0


def _ask_index(question: str, index: str, settings: Settings) -> Prediction:
    """Use an engine in a child process, so that Ctrl-C and the time limit can always end it."""
    from finray.engines.questions import QuestionEngine

    with closing(QuestionEngine(index, settings, asks_llm=settings.loop.asks_llm)) as engine:
        return asyncio.run(engine.answer(Question(qid="ask", question=question)))


def _ask_service(question: str, server: str, key: str | None, *, trace: bool) -> Prediction:
    """Show the current stage on standard error. Raises ServiceError, UsageError."""
    from finray.client import AnswerEvent, Client, ServiceError, StageEvent

    with Client(server, key) as client, err.status("asking") as status:
        prediction = None
        for event in client.stream(question, trace=trace):
            if isinstance(event, AnswerEvent):
                prediction = event.prediction
            elif isinstance(event, StageEvent) and event.state == "started":
                status.update(f"{event.stage}, iteration {event.iteration}")
    if prediction is None:
        raise ServiceError(0, "no_answer", "the service closed the connection before it answered; try again")
    return prediction


def shown(prediction: Prediction) -> Iterator[RenderableType]:
    """The answer, its program and its evidence as text; pages count from 1."""
    answer = Text(prediction.answer or prediction.error or "")
    yield Panel(answer, title=prediction.status, border_style=_COLOR[prediction.status])
    if prediction.program:
        yield Text.assemble(("program", "bold"), "  ", prediction.program)
    for passage in prediction.evidence:
        yield Text.assemble(("evidence", "bold"), " ", cite(passage))
        yield Panel(Text(_excerpt(passage.text)), border_style="dim")
    yield from (Text(line, style="dim") for line in prediction.trace)
    yield Text(f"{prediction.seconds * 1000:.0f} ms, {prediction.iterations} iterations", style="dim")


def cite(passage: Passage) -> str:
    """A citation such as ``ACME_2022_10K, p. 12``."""
    return f"{passage.doc_name}, p. {passage.page + 1}"


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rstrip() + " …"
