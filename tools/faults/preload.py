"""Imports all modules of finray's commands, for the fork server of tools.faults.commands."""

import warnings

import edgar  # noqa: F401
import s3fs  # noqa: F401

import finray.cli.answer
import finray.cli.check
import finray.cli.index
import finray.cli.maintain
import finray.cli.sync
import finray.edgar.check
import finray.edgar.sync
import finray.index.upkeep.maintain
import finray.library
import finray.models.encoder
import finray.question.plans.operations
import finray.retrieval.methods.finray  # noqa: F401
from finray.cli import main as finray_main

# Lance warns about any fork, but none of its threads run when the fork server forks.
warnings.filterwarnings("ignore", message="lance is not fork-safe")

__all__ = ["finray_main"]
