"""docs/operations.md and docs/ec2.md: their commands exist and parse."""

from __future__ import annotations

import re
import shlex

import pytest
from typer.main import get_command

from finray.cli import app
from tests.infra.files import INFRA, JOBS, REPOSITORY

TEXT = "\n".join((REPOSITORY / "docs" / name).read_text(encoding="utf-8") for name in ("operations.md", "ec2.md"))
COMMANDS = {"sync_edgar.py": "sync", "index.py": "index", "answer.py": "answer"}


def typed() -> list[str]:
    """The indented lines, with continued lines joined."""
    lines = re.sub(r"\\\n\s*", "", TEXT).splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


def parses(words: list[str]) -> None:
    command = get_command(app)
    while commands := getattr(command, "commands", None):
        command, words = commands[words[0]], words[1:]
    command.make_context("finray", list(words))


@pytest.mark.parametrize("line", [line for line in typed() if "finray keys" in line or JOBS in line])
def test_commands_of_finray_parse(line: str) -> None:
    words = shlex.split(line)
    if JOBS in line:
        (place,) = [number for number, word in enumerate(words) if word.startswith(JOBS)]
        script = words[place].removeprefix(JOBS)
        assert (REPOSITORY / "jobs" / script).is_file()
        parses([COMMANDS[script], *words[place + 1 :]])
    else:
        parses(words[1:])


def test_the_pages_list_exactly_the_existing_files() -> None:
    named = set(re.findall(r"infra/[\w./-]+\.(?:yaml|Dockerfile|json)\b", TEXT))
    for name in named:
        assert (REPOSITORY / name).is_file(), name
    for path in INFRA.rglob("*"):
        if path.suffix in (".yaml", ".Dockerfile", ".json") and "grafana" not in path.parts:
            assert path.name in TEXT or path.stem in TEXT, path.name
    for target in re.findall(r"\]\((\w+\.md)[#\w-]*\)", TEXT):
        assert (REPOSITORY / "docs" / target).is_file(), target


def test_the_placeholders_are_the_ones_in_the_files() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in INFRA.rglob("*") if path.is_file())
    for placeholder in re.findall(r"grep -rl (\S+) infra", TEXT):
        assert placeholder in text
