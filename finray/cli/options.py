"""What several commands share: their options, settings from the command line, and where they print."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from finray.core.errors import SettingsError
from finray.core.settings import Settings, load_settings

out = Console()
err = Console(stderr=True)

IndexOption = Annotated[str, typer.Option("--index", help="Index location: a folder or s3:// URI.")]
PresetOption = Annotated[str, typer.Option("--preset", help="local, paper, vllm, or a settings file ending in .toml.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, as in --set loop.i_max=2. May be repeated.")
]
JudgementsOption = Annotated[
    str | None, typer.Option("--judgements", help="What `finray judge` wrote about these predictions, .jsonl.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a machine instead of text for a person.")]


def settings_of(preset: str, assignments: list[str] | None) -> Settings:
    """Raises SettingsError."""
    return load_settings(preset, overrides_of(assignments))


def overrides_of(assignments: list[str] | None) -> dict[str, Any]:
    """What ``--set`` assigns, by dotted name. Raises SettingsError for one that assigns nothing."""
    overrides: dict[str, Any] = {}
    for assignment in assignments or ():
        name, separator, value = assignment.partition("=")
        if not separator:
            raise SettingsError(f"--set {assignment!r}: write it as section.name=value")
        overrides[name.strip()] = value.strip()
    return overrides
