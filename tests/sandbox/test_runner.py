"""The process around a program: what comes back, what is refused, and what happens when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from finray.core.errors import SandboxError, SettingsError
from finray.core.settings import SandboxSettings
from finray.sandbox import runner
from finray.sandbox.launch import Launcher
from finray.sandbox.lockdown import NO_FILTER
from finray.sandbox.runner import Sandbox, inspect_sandbox

PROCESS = SandboxSettings(isolation="process")


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return Sandbox(PROCESS)


def misbehaving(script: str, **changed: Any) -> Sandbox:
    """A sandbox whose child runs ``script`` instead of ours, as one that was taken over might."""
    sandbox = Sandbox(PROCESS.model_copy(update=changed))
    sandbox.launcher = Launcher("process", (sys.executable, "-I", "-S", "-c", "import os, sys, time\n" + script))
    return sandbox


def test_a_result_has_value_variables_and_ungrounded_numbers(sandbox: Sandbox) -> None:
    result = sandbox.run(
        "rate = cost / price\nrows = [(1, 2), {'a': 3}]\nanswer = round(rate * 100, 1)", {"cost": 1, "price": 8}
    )
    assert result.value == 12.5
    assert result.variables == {"rate": 0.125, "rows": [[1, 2], {"a": 3}], "answer": 12.5}
    assert result.ungrounded == ()
    assert sandbox.run("answer = 1577 + 1400 + 23", figures=[1577, 1400.0]).ungrounded == (23,)
    assert result.layers[:2] == ("language", "process")
    assert result.seconds > 0


async def test_programs_run_concurrently_in_threads(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(sandbox.run_async(f"answer = {n} * 2") for n in range(6)))
    assert [result.value for result in results] == [0, 2, 4, 6, 8, 10]


def test_an_error_has_a_reason_and_a_line(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match=r"^line 2: division by zero$") as caught:
        sandbox.run("x = 0\ny = 1 / x")
    assert (caught.value.reason, caught.value.line) == ("failed", 2)


@pytest.mark.parametrize(
    "variables",
    [{"__x": 1}, {"a b": 1}, {"é": 1}, {"x": float("nan")}, {"x": [1]}, {"x": pytest}],
    ids=repr,
)
def test_invalid_variables_are_a_value_error(sandbox: Sandbox, variables: Any) -> None:
    with pytest.raises(ValueError, match="variable"):
        sandbox.run("1", variables)


def test_too_many_variables_are_refused(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="bytes"):
        sandbox.run("1", {f"x{n}": 1.5 for n in range(10_000)})


def test_a_child_that_hangs_is_killed() -> None:
    sandbox = misbehaving("os.write(1, b'R'); time.sleep(600)", seconds=0.2)
    with pytest.raises(SandboxError, match=r"more than 0\.2 s") as caught:
        sandbox.run("1")
    assert caught.value.reason == "timeout"


def test_processes_that_a_child_starts_are_killed_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    sandbox = misbehaving(
        f"""
os.write(1, b'R')
if os.fork() == 0:
    open({str(note)!r}, 'w').write(str(os.getpid()))
    time.sleep(600)
time.sleep(600)""",
        seconds=1.0,
    )
    with pytest.raises(SandboxError):
        sandbox.run("1")
    grandchild = int(note.read_text())
    for _ in range(100):
        try:
            os.kill(grandchild, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{grandchild}/stat").read_text().split()[2] == "Z":
            return  # dead; nobody here collects what init does not
        time.sleep(0.05)
    os.kill(grandchild, signal.SIGKILL)
    pytest.fail("it still runs")


@pytest.mark.parametrize(
    "script",
    [
        "sys.exit(3)",
        "os.kill(os.getpid(), 11)",
        "os.write(1, b'R'); os.kill(os.getpid(), 11)",
        "os.write(1, b'R'); os.kill(os.getpid(), 9)",
        "os.write(1, b'R')",
        "os.write(1, b'Rnot JSON')",
        "os.write(1, b'R' + b'[' * 50000)",
        "os.write(1, b'R[1]')",
        "os.write(1, b'R{}')",
        """os.write(1, b'R{"fault": 1}')""",
        """os.write(1, b'R{"result": {"value": 1}, "layers": []}')""",
        """os.write(1, b'R{"result": [], "layers": []}')""",
        "os.close(0); os.write(1, b'R'); os.close(1)",
        "os.write(1, b'Q{}')",
    ],
)
def test_a_child_that_dies_or_answers_nonsense_is_an_error(script: str) -> None:
    with pytest.raises(SandboxError) as caught:
        misbehaving(script).run("1")
    assert caught.value.reason == "crashed"


def test_an_inspection_with_a_nonsensical_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    nonsense = (sys.executable, "-I", "-S", "-c", "import os; os.write(1, b'R{}')")
    monkeypatch.setattr(runner, "launcher", lambda settings, probe: Launcher("process", nonsense))
    with pytest.raises(SandboxError, match="no usable answer"):
        inspect_sandbox(PROCESS)


def test_a_child_that_floods_is_cut_off() -> None:
    with pytest.raises(SandboxError):
        misbehaving("os.write(1, b'R')\nwhile True: os.write(1, b'x' * 65536)", seconds=5.0).run("1")


def test_the_child_has_no_environment_and_no_open_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FINRAY_LLM_API_KEY", "secret")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        sandbox = misbehaving(
            "import json\n"
            "files = [n for n in range(3, 50) if os.path.exists(f'/proc/self/fd/{n}')]\n"
            "os.write(1, b'R' + json.dumps({'layers': [], 'result': {'value': [sorted(os.environ), files],"
            " 'variables': {}, 'ungrounded': []}}).encode())"
        )
        names, files = sandbox.run("1").value
    assert "FINRAY_LLM_API_KEY" not in names
    assert "HOME" not in names
    assert files == []


def test_a_demanded_filter_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    without = (sys.executable, "-I", "-S", "-c", f"raise SystemExit({NO_FILTER})")
    monkeypatch.setattr(runner, "launcher", lambda settings: Launcher("process", without))
    with pytest.raises(SettingsError, match=r"sandbox\.isolation demands"):
        Sandbox(PROCESS.model_copy(update={"isolation": "seccomp"}))


def test_a_demanded_filter_is_active_or_an_error() -> None:
    try:
        demanding = Sandbox(PROCESS.model_copy(update={"isolation": "seccomp"}))
    except SettingsError:
        return
    assert "seccomp" in demanding.run("1").layers


def test_a_small_memory_limit_is_enough_for_a_program() -> None:
    limited = Sandbox(PROCESS.model_copy(update={"memory_mb": 64}))
    assert limited.run("answer = sum([1] * 1000)").value == 1000


def test_code_outside_the_language_could_not_escape_either() -> None:
    found = inspect_sandbox(PROCESS)
    assert found.layers[:2] == ("language", "process")
    if "seccomp" in found.layers:
        assert found.escapes == ()
    else:
        assert set(found.escapes) <= {"start a process"}  # root is not bound by RLIMIT_NPROC


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=st.text(max_size=200))
def test_any_text_gives_a_result_or_an_error(sandbox: Sandbox, source: str) -> None:
    try:
        sandbox.run(source)
    except SandboxError as error:
        assert error.reason != "crashed"
