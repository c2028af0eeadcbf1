"""The command line. A command reads its options, calls the library and emits a record; jobs/ run the same commands.

A command returns its exit code: 0 for success, 1 for success with failures, which it lists. Exit code 2 means that it
could not run. Only modules that ``--help`` needs are imported before a command runs.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from finray.cli import (
    answer,
    ask,
    build_lofin,
    check,
    compare,
    datasets,
    demo,
    doctor,
    evaluate,
    extend,
    facts,
    fetch_models,
    index,
    judge,
    keys,
    maintain,
    mcp,
    panel,
    sample,
    serve,
    sync,
    tables,
)
from finray.cli.output import fail
from finray.cli.train.commands import app as train_app
from finray.core.errors import FinrayError, UsageError
from finray.core.garbage import collect_seldom


def _exit(code: int | None) -> None:
    raise typer.Exit(code or 0)


app = typer.Typer(
    name="finray",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Open-domain question answering over SEC filings, in bulk and with evidence.",
    result_callback=_exit,
)
_PANELS: dict[str, tuple[Callable[..., object], ...]] = {
    "First steps": (demo.demo, sample.sample, doctor.doctor, doctor.presets, fetch_models.fetch_models),
    "Filings": (index.index, sync.sync, check.check, maintain.maintain, extend.extend),
    "Answers": (ask.ask, answer.answer, panel.panel, facts.facts, serve.serve, mcp.mcp),
    "Scores": (
        evaluate.evaluate,
        evaluate.report,
        evaluate.errors,
        compare.compare,
        tables.tables,
        judge.judge,
        judge.judge_labels,
        judge.judge_agreement,
    ),
    "Question sets": (
        datasets.questions,
        datasets.paraphrases,
        datasets.probes,
        datasets.convert,
        build_lofin.build_lofin,
    ),
}
"""The commands as ``--help`` groups them."""
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
app.add_typer(keys.app, name="keys", rich_help_panel="Answers")
app.add_typer(train_app, name="train", rich_help_panel="Scores")


def main() -> None:
    """Entry point: prints expected errors as one line and exits with code 2."""
    collect_seldom()
    try:
        app(prog_name="finray")
    except UsageError as error:
        fail(str(error))
    except FinrayError as error:
        fail(f"{type(error).__name__}: {error}")
    except OSError as error:  # a failing disk or S3
        from finray.storage.lance_commit import reason

        fail(f"{reason(error)}. Fix this, then run the same command again")
