"""``finray demo`` before its work begins; tests/serve/test_wheel.py runs all of it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finray.cli.demo import _example, _free_port, _serves
from finray.cli.serve import _welcome, shown_host
from finray.core.errors import MissingExtraError
from finray.core.predictions import Prediction
from finray.core.questions import Question

Run = Callable[..., Any]


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def terminal(monkeypatch: pytest.MonkeyPatch, *, stdin: bool = True, stdout: bool = True) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: stdin)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: stdout)


def test_only_a_person_at_a_terminal_gets_the_page_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    assert _serves(None)
    assert not _serves(False)
    for piped in ({"stdin": False}, {"stdout": False}):
        terminal(monkeypatch, **piped)
        assert not _serves(None)
        assert _serves(True)


def test_without_the_extra_the_demo_runs_and_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    terminal(monkeypatch)
    assert not _serves(None)
    assert "pip install 'finray[serve]'; this run ends without it" in capsys.readouterr().out
    with pytest.raises(MissingExtraError):
        _serves(True)


def test_a_port_in_use_is_reported_before_the_work(finray: Run, taken: int, tmp_path: Path) -> None:
    result = finray("demo", "--folder", tmp_path / "demo", "--serve", "--port", taken)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: cannot listen on 127.0.0.1:{taken}: ")
    assert not (tmp_path / "demo").exists()


def test_another_port_is_found_if_the_usual_one_is_taken(monkeypatch: pytest.MonkeyPatch, taken: int) -> None:
    monkeypatch.setattr("finray.cli.demo._PORT", taken)
    port = _free_port("127.0.0.1")
    assert port != taken
    socket.create_server(("127.0.0.1", port)).close()


def test_the_link_opens_on_this_machine_with_key_and_question() -> None:
    text = _welcome(f"http://{shown_host('0.0.0.0')}:8000", "frk_1", "Acme's revenue & profit?", auth=True)
    assert "page:             http://127.0.0.1:8000/#key=frk_1&q=Acme%27s%20revenue%20%26%20profit%3F\n" in text
    assert shown_host("::1") == "[::1]"


def test_the_example_is_a_short_question_with_a_figure() -> None:
    gold = {name: Question(name, name) for name in ("who?", "revenue in fiscal 2022?", "revenue?")}
    values = {"revenue in fiscal 2022?": 1.0, "revenue?": 2.0}
    answers = [Prediction(name, name, "an answer", "answered", values.get(name)) for name in gold]
    assert _example(answers, gold) == "revenue?"
    assert _example([], gold) == "who?"
