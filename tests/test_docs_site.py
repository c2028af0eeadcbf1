"""The documentation: every page is in the menu and short, links lead somewhere, no other host is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOT_PROSE = re.compile(r"<!-- \w+: written by .*?<!-- end -->|```diff\n.*?```", re.DOTALL)
MOST_WORDS = {
    "README.md": 1300,
    "CHANGELOG.md": 3500,
    "docs/results.md": 3000,
    "docs/formats.md": 1750,
    "docs/methods.md": 600,
}
"""Words that people wrote, by page; those of how-to guides and published systems are below."""
HOW_TO, SYSTEM = 800, 900


def nav_pages(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values() if isinstance(entry, dict) else [entry]:
            yield from nav_pages(target) if isinstance(target, list) else [target]


def test_the_menu_names_every_page_once() -> None:
    configuration = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert sorted(nav_pages(configuration["nav"])) == pages


def limits() -> Iterator[tuple[str, int]]:
    yield from MOST_WORDS.items()
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    (guides,) = (entry["How-to guides"] for entry in menu if "How-to guides" in entry)
    yield from ((f"docs/{page}", HOW_TO) for page in nav_pages(guides))
    yield from ((f"docs/systems/{page.name}", SYSTEM) for page in sorted((DOCS / "systems").glob("*.md")))


@pytest.mark.parametrize(("name", "most"), [*limits()])
def test_a_page_is_short_enough_to_be_read(name: str, most: int) -> None:
    text = NOT_PROSE.sub("", (ROOT / name).read_text(encoding="utf-8")).partition("<!-- From here on written by")[0]
    assert len(text.split()) <= most


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_beside_the_site_lead_to_files(name: str) -> None:
    """Those inside docs/ are checked by the strict build."""
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target


@pytest.mark.slow
def test_the_site_builds_and_takes_nothing_from_other_hosts(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    loaded = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?([^\"' >]+)|<link\b[^>]*\bhref=[\"']?([^\"' >]+)"
    )
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for source, style in loaded.findall(page.read_text(encoding="utf-8")):
            assert not re.match(r"(?:[a-z]+:)?//", source or style), f"{page.name}: {source or style}"
