"""An engine that misbehaves as its questions demand."""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from finray.core.errors import IndexMissingError
from finray.core.journal import Observer, StageReport
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engines.outside import Outside, OutsideChat
from finray.engines.source import EngineSource, Tables
from finray.models.chat import Message

OPENING = f"{__name__}:opener"


def hold_the_interpreter() -> None:
    """Practically endless; no other thread of this process runs meanwhile."""
    re.match(r"(a|a)*b", "a" * 40)


class Wild:
    """Answers with the id of its process, or what was asked for, after it did what the question names: "regex", "loop",
    "sleep SECONDS" (as a C library that keeps the interpreter lock), "wait SECONDS" (as for a language model), "chat
    WORDS", "env NAME", "die", "die parent", "bug". The unit is the version of the table ``filings``."""

    def __init__(self, settings: Settings, tables: Tables | None, outside: Outside) -> None:
        self._settings_hash = settings.answer_hash()
        self._version = (tables or {}).get("filings")
        self._chat = OutsideChat(outside, "chat")

    async def answer(self, question: Question, observer: Observer | None = None, narrowed: object = None) -> Prediction:
        if observer is not None:
            observer(StageReport("answer", 0, time.time()))
        what, _, rest = question.question.partition(" ")
        text = str(os.getpid())
        if what == "regex":
            hold_the_interpreter()
        elif what == "loop":
            while True:
                pass
        elif what == "sleep":
            ctypes.PyDLL(None).usleep(int(float(rest) * 1e6))
        elif what == "wait":
            await asyncio.sleep(float(rest))
        elif what == "chat":
            text = (await self._chat.chat([Message("user", rest)])).text
        elif what == "env":
            text = os.environ[rest]
        elif what == "die":
            if rest == "parent":
                os.kill(os.getppid(), signal.SIGKILL)
            os._exit(3)
        elif what == "bug":
            raise KeyError("fiscal_year")
        if observer is not None:
            observer(StageReport("answer", 0, time.time(), 0.0))
        return Prediction(
            question.qid,
            question.question,
            text,
            "answered",
            unit=str(self._version),
            settings_hash=self._settings_hash,
        )


def opener(source: EngineSource, outside: Outside) -> Callable[[Tables | None], Any]:
    def open_version(tables: Tables | None) -> Wild:
        if not Path(source.index_uri).exists():
            raise IndexMissingError(f"there is no index at {source.index_uri!r}")
        return Wild(source.settings, tables, outside)

    return open_version
