"""Write docs/cli.md from the command line itself.

    python tools/generate_docs.py            write it
    python tools/generate_docs.py --check    exit 1 when it differs from what `finray --help` says
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from finray.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
HEAD = "<!-- Written by `make docs` from `finray --help`; do not edit. -->\n\n"


def page() -> str:
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="finray")
    text = get_docs_for_click(obj=command, ctx=context, name="finray", title="The command line")
    return HEAD + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write("docs/cli.md differs from `finray --help`; run `make docs` and commit it\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
