"""Settings of the sandbox."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from finray.core.method_settings import Section


class SandboxSettings(Section):
    """Sandbox for programs that a language model wrote (``finray.sandbox``)."""

    isolation: Literal["auto", "process", "seccomp", "bubblewrap", "wasi"] = "auto"
    """Isolation of a program: "auto" is bubblewrap if it works here, else a limited process, both with a system call
    filter if the machine supports it. If any other is not available, that is an error. "seccomp" is a limited process
    with the filter; "seccomp" and "bubblewrap" require the filter for parsers and page images too."""
    seconds: float = Field(2.0, gt=0, le=60)
    """Limit of processor time, and of wall time after the process has started."""
    memory_mb: int = Field(256, ge=64)
    """Memory limit of the process."""
    wasi_runtime: str = "wasmtime"
    """The wasmtime command, for "wasi"."""
    wasi_python: str = ""
    """Path of a CPython compiled for WASI, for "wasi"."""
