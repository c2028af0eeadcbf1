from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from finray.cli.progress import progress_bar


def shown(*, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=60)
    with progress_bar(console, "answering") as report:
        for done in range(1, 301):
            report(done, 300)
    return stream.getvalue()


def test_a_log_gets_a_line_now_and_then_and_at_the_end() -> None:
    assert shown(terminal=False).splitlines()[-1] == "answering: 300 of 300, 0 s"
    assert len(shown(terminal=False).splitlines()) < 10


def test_a_log_gets_the_end_of_each_phase_once() -> None:
    stream = io.StringIO()
    with progress_bar(Console(file=stream, force_terminal=False), "EDGAR") as report:
        for done, total in ((1, 2), (2, 2), (2, 2), (1, 3), (3, 3)):
            report(done, total)
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == ["EDGAR: 2 of 2", "EDGAR: 3 of 3"]


def test_a_terminal_gets_a_bar() -> None:
    assert "answering" in shown(terminal=True)


def test_a_note_is_printed_verbatim() -> None:
    for terminal in (True, False):
        stream = io.StringIO()
        with progress_bar(Console(file=stream, force_terminal=terminal, width=100), "indexing") as report:
            report(0, 2, "nothing yet")
            report(2, 2, "12 chunks, [1] failed")
        assert "12 chunks, [1] failed" in stream.getvalue()


def test_nothing_is_printed_without_work() -> None:
    stream = io.StringIO()
    with progress_bar(Console(file=stream), "answering") as report:
        report(0, 0)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_output_of_libraries_does_not_mix_with_results(terminal: bool, capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    with progress_bar(Console(file=stream, force_terminal=terminal, width=100), "indexing"):
        sys.stdout.write("(raylet) a node is gone\n")
    assert "(raylet) a node is gone" in stream.getvalue()
    assert capsys.readouterr().out == ""
