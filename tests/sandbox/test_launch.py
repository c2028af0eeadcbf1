"""Which isolation is chosen, and that it holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from finray.core.errors import SettingsError
from finray.core.settings import SandboxSettings
from finray.sandbox import launch
from finray.sandbox.launch import launcher
from finray.sandbox.runner import Sandbox, inspect_sandbox


@pytest.fixture
def no_bwrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def broken_bwrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "bwrap"
    command.write_text("#!/bin/sh\necho 'bwrap: no permission to create a namespace' >&2\nexit 1\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    launch._bwrap_problem.cache_clear()


def test_without_bubblewrap_a_process_is_chosen_with_the_reason(no_bwrap: None) -> None:
    chosen = launcher(SandboxSettings())
    assert (chosen.isolation, chosen.reason) == ("process", "bwrap is not installed")


def test_bubblewrap_that_does_not_run_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Containers often forbid what it needs."""
    broken_bwrap(monkeypatch, tmp_path)
    chosen = launcher(SandboxSettings())
    assert chosen.isolation == "process"
    assert "no permission to create a namespace" in chosen.reason
    with pytest.raises(SettingsError, match="no permission"):
        launcher(SandboxSettings(isolation="bubblewrap"))


def test_a_missing_isolation_that_the_settings_name_is_an_error(no_bwrap: None, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"sandbox\.isolation = 'bubblewrap', but bwrap is not installed"):
        Sandbox(SandboxSettings(isolation="bubblewrap"))
    with pytest.raises(SettingsError, match=r"sandbox\.wasi_runtime = 'wasmtime'"):
        Sandbox(SandboxSettings(isolation="wasi"))


def test_a_wasi_runtime_needs_a_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wasmtime").write_text("#!/bin/sh\n")
    (tmp_path / "wasmtime").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match=r"sandbox\.wasi_python"):
        launcher(SandboxSettings(isolation="wasi"))
    python = tmp_path / "python.wasm"
    python.write_bytes(b"")
    chosen = launcher(SandboxSettings(isolation="wasi", wasi_python=str(python)))
    assert chosen.command[:2] == (str(tmp_path / "wasmtime"), "run")
    assert "--dir" not in chosen.command, "it is given no folder"


def test_the_command_for_wasi_carries_all_modules_of_the_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run by this Python in place of a WASI one, from a folder without finray."""
    for name in ("wasmtime", "python.wasm"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    python = str(tmp_path / "python.wasm")
    command = launcher(SandboxSettings(isolation="wasi", wasi_python=python)).command
    assert max(map(len, command)) < 128 * 1024, "the longest argument that Linux passes on"
    request = json.dumps({"source": "answer = 2 * 21", "variables": {}, "figures": [2, 21]}).encode()
    arguments = command[command.index(python) + 1 :]
    done = subprocess.run([sys.executable, *arguments], input=request, capture_output=True, cwd=tmp_path, check=True)
    answer = json.loads(done.stdout.removeprefix(b"R"))
    assert (answer["result"]["value"], answer["layers"]) == (42, ["language"])


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_bubblewrap_runs_programs_and_lets_none_escape() -> None:
    launch._bwrap_problem.cache_clear()
    chosen = launcher(SandboxSettings())
    if chosen.isolation != "bubblewrap":
        pytest.skip(chosen.reason)
    found = inspect_sandbox(SandboxSettings(isolation="bubblewrap"))
    assert found.layers[-1] == "bubblewrap"
    assert found.escapes == ()
    assert Sandbox(SandboxSettings(isolation="bubblewrap")).run("1 + 1").value == 2
