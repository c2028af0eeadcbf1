"""Completion by the shell: commands, options, presets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "index.md"
TYPED = {
    "bash": lambda line: {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
    "zsh": lambda line: {"_TYPER_COMPLETE_ARGS": line},
    "fish": lambda line: {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.mark.parametrize("shell", TYPED)
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("finray pa", {"panel", "paraphrases"}),
        ("finray serve --no", {"--no-auth"}),
        ("finray ask q --preset hi", {"hirec"}),
        ("finray train row", {"row-match", "row-reader", "row-words"}),
        ("finray index filin", set()),
    ],
)
def test_what_is_offered(
    finray: Run, monkeypatch: pytest.MonkeyPatch, shell: str, line: str, offered: set[str]
) -> None:
    for name, value in ({"_FINRAY_COMPLETE": f"complete_{shell}"} | TYPED[shell](line)).items():
        monkeypatch.setenv(name, value)
    out = finray().out
    found = set(re.findall(r'^(?:_arguments \'\*: :\(\()?"?([\w-]+)', out, re.MULTILINE)) - {"_files"}
    assert found == offered, out


@pytest.mark.parametrize("shell", re.findall(r"_FINRAY_COMPLETE=source_(\w+) finray >", PAGE.read_text("utf-8")))
def test_the_documented_lines_print_a_script(finray: Run, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_FINRAY_COMPLETE", f"source_{shell}")
    result = finray()
    assert result.code == 0
    assert f"_FINRAY_COMPLETE=complete_{shell}" in result.out
    assert "finray" in result.out


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_completes_a_command() -> None:
    script = (
        "source <(_FINRAY_COMPLETE=source_bash finray); COMP_WORDS=(finray dem); COMP_CWORD=1; "
        '_finray_completion finray; echo "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "demo\n"
