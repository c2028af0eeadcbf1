from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from finray.cli import main
from finray.core.settings import Settings
from finray.engine import Engine
from finray.engines.source import EngineSource
from tests.engines.here import HerePool, open_here


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def finray(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["finray", *map(str, arguments)])
        try:
            main()
            code: object = 0
        except SystemExit as done:
            code = done.code
        captured = capsys.readouterr()
        assert isinstance(code, int)
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def one_engine(engine: Engine, sample_index: str, local_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands ask the engine that all tests share instead of starting a process, which takes seconds.

    For tests of what a command prints and stores. Those of processes, limits and failures at start do without it.
    """

    class Shared(HerePool):
        @staticmethod
        def open(source: EngineSource) -> Engine:
            shared = (source.index_uri, source.settings) == (sample_index, local_settings)
            return engine if shared else open_here(source)

    monkeypatch.setattr("finray.engines.questions.EnginePool", Shared)


@pytest.fixture
def few(sample_folder: Path, tmp_path: Path) -> Path:
    """The sample's first twelve questions."""
    path = tmp_path / "questions.jsonl"
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:12]), encoding="utf-8")
    return path
