"""``finray ask``: answers one question or a conversation, from an index or through a running service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Column, Table
from rich.text import Text

from finray.cli.chat import Ask, converse
from finray.cli.evidence import shown_block
from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.core.errors import UsageError
from finray.core.grid import Grid
from finray.core.passages import Passage, RenderedBlock
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.records import to_object
from finray.core.settings import Settings

if TYPE_CHECKING:
    from finray.client import Client

_EXCERPT = 400
_COLOR = {"answered": "green", "unanswerable": "yellow", "error": "red"}


def ask(
    question: Annotated[str | None, typer.Argument(help="One question; with --chat, the first one.")] = None,
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
    chat: Annotated[
        bool,
        typer.Option("--chat", help="Go on with the questions of standard input, one a line; they may be follow-ups."),
    ] = False,
) -> int:
    """Answer one question, or a conversation, and show the pages that support each answer."""
    if question is None and not chat:
        raise typer.BadParameter("give a question, or --chat for a conversation")
    if server is not None and index is None:
        given = ", ".join(name for name, value in (("--preset", preset != "local"), ("--set", set_)) if value)
        if given:
            raise UsageError(f"the service at {server!r} answers with its own settings; leave out {given}")
        asking = _service(server, os.environ.get(api_key_env), trace=trace)
    elif index is not None and server is None:
        asking = _index(index, settings_of(preset, set_))
    else:
        raise typer.BadParameter("give either --index or --server")

    def show(prediction: Prediction) -> None:
        record = prediction if trace else replace(prediction, trace=())
        emit(to_object(record), *shown(record), as_json=json_)

    with asking as ask_one:
        if chat:
            return 1 if converse(question, ask_one, show) else 0
        prediction = ask_one(question or "", ())
    show(prediction)
    return 1 if prediction.status == "error" else 0


@contextmanager
def _index(index: str, settings: Settings) -> Iterator[Ask]:
    """Use an engine in a child process, so that Ctrl-C and the time limit can always end it."""
    from finray.engines.questions import QuestionEngine

    with closing(QuestionEngine(index, settings, asks_llm=settings.loop.asks_llm)) as engine:
        yield lambda question, earlier: asyncio.run(
            engine.answer(Question(qid="ask", question=question, context=tuple(earlier)))
        )


@contextmanager
def _service(server: str, key: str | None, *, trace: bool) -> Iterator[Ask]:
    from finray.client import Client

    with Client(server, key) as client:
        yield partial(_ask_service, client, trace=trace)


def _ask_service(client: Client, question: str, earlier: Sequence[str], *, trace: bool) -> Prediction:
    """Show the current stage on standard error. Raises ServiceError, UsageError."""
    from finray.client import AnswerEvent, ServiceError, StageEvent

    with err.status("asking") as status:
        prediction = None
        for event in client.stream(question, context=earlier, trace=trace):
            if isinstance(event, AnswerEvent):
                prediction = event.prediction
            elif isinstance(event, StageEvent) and event.state == "started":
                status.update(f"{event.stage}, iteration {event.iteration}")
    if prediction is None:
        raise ServiceError(0, "no_answer", "the service closed the connection before it answered; try again")
    return prediction


def shown(prediction: Prediction) -> Iterator[RenderableType]:
    """The answer, its program and its evidence as text; pages count from 1."""
    if prediction.resolved:
        yield Text.assemble(("read as", "bold"), "  ", prediction.resolved)
    grid = prediction.grid
    answer = Text(prediction.answer or prediction.error or "") if grid is None else Text(grid.shown)
    yield Panel(answer, title=prediction.status, border_style=_COLOR[prediction.status])
    if grid is not None:
        yield _grid_table(grid)
        yield from (Text.assemble(("no figure", "bold"), "  ", missing) for missing in grid.missing)
    if prediction.program:
        yield Text.assemble(("program", "bold"), "  ", prediction.program)
    for block in prediction.evidence_blocks:
        yield Text.assemble(("evidence", "bold"), " ", cite(block))
        yield from shown_block(block)
    for passage in () if prediction.evidence_blocks else prediction.evidence:
        yield Text.assemble(("evidence", "bold"), " ", cite(passage))
        yield Panel(Text(_excerpt(passage.text)), border_style="dim")
    apart = [place for place in prediction.nearest if place not in prediction.answer]
    yield from (Text.assemble(("nearest", "bold"), "  ", place) for place in apart)
    yield from (Text(line, style="dim") for line in prediction.trace)
    yield Text(f"{prediction.seconds * 1000:.0f} ms, {prediction.iterations} iterations", style="dim")


def _grid_table(grid: Grid) -> Table:
    """A row for each company and item, a column for each period, and the row of the filings that they are read from."""
    table = Table("", *(Column(period, justify="right", no_wrap=True) for period in grid.periods), "row")
    for company, item, cells in grid.rows():
        figures = (Text(cell.text + " †" * cell.other_row if cell.value is not None else "–") for cell in cells)
        rows = dict.fromkeys(cell.row for cell in cells if cell.row)
        table.add_row(Text(f"{company}, {item}"), *figures, Text("; ".join(rows), style="dim"))
    if any(cell.other_row for cell in grid.cells):
        table.caption = "† read from a row of another name, which may be another line"
    return table


def cite(place: Passage | RenderedBlock) -> str:
    """A citation such as ``ACME_2022_10K, p. 12``."""
    return f"{place.doc_name}, p. {place.page + 1}"


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rstrip() + " …"
