"""Runs the command line: ``python -m finray.cli``."""

from finray.cli import main

main()
