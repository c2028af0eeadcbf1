"""The command line. A command reads its options here and does its work in finray/cli/commands; jobs/ call the same.

Exit codes: 0 done; 1 done with failures, which are listed; 2 the command could not run.
"""

from __future__ import annotations

import sys

import typer

from finray.cli import answers, evaluation, filings, judge, keys, train, train_matches
from finray.cli.options import err
from finray.core.errors import FinrayError, UsageError

app = typer.Typer(
    name="finray",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Open-domain question answering over SEC filings, in bulk and with evidence.",
)
for _command in (
    answers.demo,
    filings.sample,
    filings.index,
    filings.sync,
    filings.check,
    filings.maintain,
    answers.ask,
    answers.answer,
    evaluation.evaluate,
    evaluation.questions,
    evaluation.probes,
    evaluation.report,
    evaluation.convert,
    evaluation.compare,
    filings.extend,
    answers.presets,
    answers.doctor,
    answers.serve,
    judge.judge,
    judge.judge_labels,
    judge.judge_agreement,
):
    app.command()(_command)
train_matches.register(train.app)
app.add_typer(train.app, name="train")
app.add_typer(keys.app, name="keys")


def main() -> None:
    """Entry point: errors that finray raises on purpose are one line and exit code 2."""
    try:
        app()
    except UsageError as error:
        err.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except FinrayError as error:
        err.print(f"error: {type(error).__name__}: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except OSError as error:  # a disk or S3 that fails where no command could say more about it
        from finray.storage.lance_commit import reason

        said = f"{reason(error)}. Once that is mended, run the same command again"
        err.print(f"error: {said}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
