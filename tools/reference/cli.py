"""Generates docs/cli.md from the commands of `finray`, as `--help` prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import typer
from typer.core import TyperGroup
from typer.main import get_command

from finray.cli import app
from tools.reference.tables import code, prose, table

HEAD = """<!-- Written by `make docs` from `finray --help`; do not edit. -->

# The command line

`finray COMMAND --help` prints the same on a terminal.

{overview}

## Options of many commands

{shared}

## Commands
"""
MIN_COMMANDS = 4
"""An option that at least so many commands have in the same words is listed once."""

Option = tuple[str, str]
"""Its names with the kind of its value, and its description with the default."""


def cli_page(_present: str) -> str:
    root = get_command(app)
    commands = list(_commands(typer.Context(root, info_name="finray")))
    counts = Counter(option for each in commands for option in _records(each, "option"))
    common = (option for option, count in counts.most_common() if count >= MIN_COMMANDS)
    shared = list({names: (names, text) for names, text in reversed(list(common))}.values())[::-1]
    head = HEAD.format(overview=_overview(commands), shared=_listed(shared)).rstrip()
    return "\n\n".join([head, *(_section(each, shared) for each in commands)]) + "\n"


def _commands(context: typer.Context) -> Iterator[typer.Context]:
    """The context of each command that is no group."""
    command = context.command
    if not isinstance(command, TyperGroup):
        yield context
        return
    for name in command.list_commands(context):
        if (found := command.get_command(context, name)) is not None and not found.hidden:
            yield from _commands(typer.Context(found, info_name=name, parent=context))


def _records(context: typer.Context, kind: str) -> list[Option]:
    """What `--help` shows of its parameters of a ``kind``: "option" or "argument"."""
    records = [
        each.get_help_record(context)
        for each in context.command.get_params(context)
        if each.param_type_name == kind and each.name != "help"
    ]
    return [(names, prose(text)) for names, text in filter(None, records)]


def _overview(commands: Sequence[typer.Context]) -> str:
    rows = (
        [f"[{code(each.command_path)}](#{each.command_path.replace(' ', '-')})", _purpose(each)] for each in commands
    )
    return table(["command", ""], rows)


def _purpose(context: typer.Context) -> str:
    return prose(context.command.help).partition(". ")[0].rstrip(".")


def _section(context: typer.Context, shared: Sequence[Option]) -> str:
    """The command with what its table above does not say."""
    options = _records(context, "option")
    own = [*_records(context, "argument"), *(option for option in options if option not in shared)]
    also = ", ".join(code(names.split(" ")[0]) for names, _ in options if (names, _) in shared)
    more = prose(context.command.help).removeprefix(_purpose(context)).lstrip(". ")
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    parts = [f"### {context.command_path}", f"    {usage}", more, _listed(own), f"Also {also}." if also else ""]
    return "\n\n".join(filter(None, parts))


def _listed(options: Sequence[Option]) -> str:
    return "\n".join(f"* {code(names)}: {text}" if text else f"* {code(names)}" for names, text in options)
