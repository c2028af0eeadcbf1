"""The command line. A command reads its options, calls the library and emits a record; jobs/ run the same commands.

A command returns its exit code: 0 for success, 1 for success with failures, which it lists. Exit code 2 means that it
could not run. Only modules that ``--help`` needs are imported before a command runs.
"""

from __future__ import annotations

import typer

from finray.cli import (
    answer,
    ask,
    check,
    compare,
    datasets,
    demo,
    doctor,
    evaluate,
    extend,
    index,
    judge,
    keys,
    maintain,
    sample,
    serve,
    sync,
    train,
)
from finray.cli.output import fail
from finray.core.errors import FinrayError, UsageError


def _exit(code: int | None) -> None:
    raise typer.Exit(code or 0)


app = typer.Typer(
    name="finray",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Open-domain question answering over SEC filings, in bulk and with evidence.",
    result_callback=_exit,
)
for _command in (
    demo.demo,
    sample.sample,
    index.index,
    sync.sync,
    check.check,
    maintain.maintain,
    ask.ask,
    answer.answer,
    evaluate.evaluate,
    datasets.questions,
    datasets.probes,
    evaluate.report,
    datasets.convert,
    compare.compare,
    extend.extend,
    doctor.presets,
    doctor.doctor,
    serve.serve,
    judge.judge,
    judge.judge_labels,
    judge.judge_agreement,
):
    app.command()(_command)
app.add_typer(train.app, name="train")
app.add_typer(keys.app, name="keys")


def main() -> None:
    """Entry point: prints expected errors as one line and exits with code 2."""
    try:
        app()
    except UsageError as error:
        fail(str(error))
    except FinrayError as error:
        fail(f"{type(error).__name__}: {error}")
    except OSError as error:  # a failing disk or S3
        from finray.storage.lance_commit import reason

        fail(f"{reason(error)}. Fix this, then run the same command again")
