"""Chooses the isolation around the child, and builds the command that starts it."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from finray.core.errors import SettingsError
from finray.core.settings import SandboxSettings
from finray.sandbox import confined

Isolation = Literal["process", "bubblewrap", "wasi"]

_PACKAGE = Path(__file__).resolve().parent
_CHILD = "finray.sandbox.child"
_FLAGS = ("-I", "-S", "-B", "-W", "ignore")
_BOOT_WITHOUT_FILES = """
import json, sys, types
for name, source in json.loads(sys.argv[1]):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    exec(compile(source, name, "exec"), module.__dict__)
from finray.sandbox.child import main
main(sys.argv[2:])
"""
_MODULES = (
    *("limits", "language", "provenance", "values", "functions", "interpreter"),
    *("file_access", "system_calls", "lockdown", "probe", "child"),
)
"""The modules of the child, each after those that it imports."""
_SYSTEM_LIBRARIES = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache")
_ISOLATED = "--unshare-all --die-with-parent --clearenv --cap-drop ALL"
_PROBE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Launcher:
    """The ``command`` that starts the child, its ``isolation``, and the ``reason`` why there is no stronger one."""

    isolation: Isolation
    command: tuple[str, ...]
    reason: str = ""


def launcher(settings: SandboxSettings, *, probe: bool = False) -> Launcher:
    """The strongest launcher that this machine offers, or the one that ``sandbox.isolation`` names.

    With ``probe`` the child tries to break out instead of running a program. Raises SettingsError if the named one is
    not available.
    """
    wanted = settings.isolation
    modes = [mode for mode, chosen in (("probe", probe), ("demanded", confined.filter_demanded(settings))) if chosen]
    arguments = (str(settings.seconds), str(settings.memory_mb * 1024 * 1024), *modes)
    if wanted == "wasi":
        return Launcher("wasi", _wasi(settings, arguments))
    plain = confined.command(_CHILD, *arguments, packages=False)
    if wanted in ("process", "seccomp"):
        return Launcher("process", plain, "sandbox.isolation requires no more")
    bwrap = shutil.which("bwrap")
    problem = "bwrap is not installed" if bwrap is None else _bwrap_problem(bwrap)
    if bwrap is not None and not problem:
        # It does not mount the virtual environment's link to Python.
        inside = confined.command(_CHILD, *arguments, packages=False, python=str(Path(sys.executable).resolve()))
        return Launcher("bubblewrap", (*_bubblewrap(bwrap), *inside))
    if wanted == "bubblewrap":
        raise SettingsError(f"sandbox.isolation = 'bubblewrap', but {problem}; install it, or set 'auto'")
    return Launcher("process", plain, problem)


def _bubblewrap(bwrap: str) -> tuple[str, ...]:
    """All namespaces new, no privileges, and only the files of Python and this package, read-only."""
    mounts: list[str] = []
    for path in _SYSTEM_LIBRARIES:
        mounts += ["--ro-bind-try", path, path]
    for found in dict.fromkeys((sys.base_prefix, sys.base_exec_prefix)):
        if not found.startswith("/usr"):
            mounts += ["--ro-bind", found, found]
    for file in (_PACKAGE, _PACKAGE.parent / "__init__.py"):
        mounts += ["--ro-bind", str(file), str(file)]
    return (bwrap, *_ISOLATED.split(), *mounts, "--chdir", "/", "--")


@functools.cache
def _bwrap_problem(bwrap: str) -> str:
    """Why ``bwrap`` does not work here (containers often forbid user namespaces), or ""."""
    python = str(Path(sys.executable).resolve())
    try:
        done = subprocess.run(
            (*_bubblewrap(bwrap), python, *_FLAGS, "-c", "pass"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap does not run: {error}"
    stderr = " ".join(done.stderr.decode(errors="replace").split())
    return "" if done.returncode == 0 else f"bwrap does not run: {stderr[:200] or f'exit status {done.returncode}'}"


def _wasi(settings: SandboxSettings, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """CPython for WASI on the wasmtime command. It sees no folder, so our modules are passed as an argument."""
    runtime = shutil.which(settings.wasi_runtime)
    if runtime is None:
        raise SettingsError(f"sandbox.wasi_runtime = {settings.wasi_runtime!r} is not a command on the PATH")
    if not Path(settings.wasi_python).is_file():
        raise SettingsError(
            f"sandbox.wasi_python = {settings.wasi_python!r} is not a file; give the python.wasm of a CPython for WASI"
        )
    sources = [["finray", ""], ["finray.sandbox", ""]]
    sources += [[f"finray.sandbox.{name}", (_PACKAGE / f"{name}.py").read_text(encoding="utf-8")] for name in _MODULES]
    memory = f"max-memory-size={settings.memory_mb * 1024 * 1024}"
    boot = (*_FLAGS, "-c", _BOOT_WITHOUT_FILES, json.dumps(sources))
    return (runtime, "run", "-W", memory, settings.wasi_python, *boot, *arguments, "wasi")
