"""What a command prints."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass
from typing import Any, NoReturn

from rich.console import Console, RenderableType

out = Console()
err = Console(stderr=True)


def emit(record: Any, *texts: RenderableType, as_json: bool) -> None:
    """``record`` (a dataclass, or what JSON has) as one line of JSON, or ``texts`` one below another."""
    if as_json:
        values = asdict(record) if is_dataclass(record) and not isinstance(record, type) else record
        sys.stdout.write(json.dumps(values, default=str) + "\n")
        return
    for text in texts:
        out.print(text, highlight=False, markup=False, emoji=False, soft_wrap=isinstance(text, str))


def fail(message: str) -> NoReturn:
    """Exit with 2 and one line that says why the command cannot run."""
    err.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
