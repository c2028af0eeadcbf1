"""A real engine that can be held in the middle of a question, while it embeds the question."""

from __future__ import annotations

import os
import time
from pathlib import Path

from finray.engines import opening
from finray.engines.outside import Outside
from finray.engines.source import EngineSource
from finray.models.encoder import Vectors
from finray.models.hash_encoder import HashEncoder

OPENING = f"{__name__}:opener"
FOLDER = "TEST_HOLD_FOLDER"
"""The environment variable with the folder of ``Hold``'s files."""


class Hold:
    """Holds an engine in another process, through files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._hold, self._waiting = folder / "hold", folder / "waiting"

    def begin(self) -> None:
        self._waiting.unlink(missing_ok=True)
        self._hold.touch()

    def end(self) -> None:
        self._hold.unlink()

    def wait_until_held(self) -> None:
        deadline = time.monotonic() + 60
        while not self._waiting.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def pass_through(self) -> None:
        """Called in the engine."""
        while self._hold.exists():
            self._waiting.touch()
            time.sleep(0.01)


class HeldEncoder(HashEncoder):
    def __init__(self) -> None:
        super().__init__()
        self._hold = Hold(Path(os.environ[FOLDER]))

    def encode_query(self, text: str) -> Vectors:
        self._hold.pass_through()
        return super().encode_query(text)


def opener(source: EngineSource, outside: Outside) -> opening.Opener:
    vars(opening)["load_encoder"] = lambda *_, **__: HeldEncoder()
    return opening.opener(source, outside)
