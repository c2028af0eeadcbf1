"""Every command that the documents show exists, with its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from finray.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {"cli.md"}
COMMAND = re.compile(r"^(?: {4}|\$ )(?:[A-Z_]+=\S+ )*(?:\S*bin/)?finray (?!COMMAND|>)(.*)$")
ROOT_COMMAND = get_command(app)
JOB = re.compile(r"python \S*jobs/(\w+)\.py (.*)$")
JOBS = {
    "answer": "answer",
    "evaluate": "evaluate",
    "index": "index",
    "sync_edgar": "sync",
    "train_page_scorer": "train page-scorer",
    "train_reranker": "train reranker",
}


def shown() -> Iterator[tuple[str, str]]:
    """(page, words after ``finray``) of each command, with continued lines joined and remarks beside it cut off."""
    for page in PAGES:
        if page.name in GENERATED:
            continue
        for line in re.sub(r" *\\\n\s*", " ", page.read_text(encoding="utf-8")).splitlines():
            if found := COMMAND.match(line):
                words = found[1]
            elif line.startswith("    ") and (found := JOB.search(line)):
                words = f"{JOBS[found[1]]} {found[2]}"
            else:
                continue
            words = re.split(r"\s{2,}|\s+# |\s+\|", words)[0].replace("$method", "bm25")
            if not re.search(r"\s(?:\.\.\.|…)(?:\s|$)", f"{words} ") and "OPTIONS" not in words:
                yield page.name, words.removesuffix("; done")


@pytest.mark.parametrize(("page", "words"), [*dict.fromkeys(shown())])
def test_the_command_exists_with_its_options(page: str, words: str) -> None:
    command, left = ROOT_COMMAND, shlex.split(words)
    while commands := getattr(command, "commands", None):
        assert left and left[0] in commands, f"{page}: no command finray {words}"
        command, left = commands[left[0]], left[1:]
    command.make_context("finray", left)
