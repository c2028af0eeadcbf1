"""All that finray's commands import, imported: what the fork server of tools.faults.commands holds."""

import warnings

import edgar  # noqa: F401
import s3fs  # noqa: F401

import finray.cli.commands.answer
import finray.cli.commands.check
import finray.cli.commands.index
import finray.cli.commands.maintain
import finray.cli.commands.sync
import finray.engine
import finray.index.in_process
import finray.index.writer
import finray.models.hash_encoder
import finray.question.plans
import finray.retrieval.methods.finray  # noqa: F401
from finray.cli import main as finray_main

# Lance warns of any fork; nothing of it has started when the fork server forks.
warnings.filterwarnings("ignore", message="lance is not fork-safe")

__all__ = ["finray_main"]
