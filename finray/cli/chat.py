"""The conversation of ``finray ask --chat``: one question a line, each after the earlier ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from finray.cli.output import err
from finray.core.errors import FinrayError
from finray.core.predictions import Prediction

Ask = Callable[[str, Sequence[str]], Prediction]
"""The answer to a question after the earlier ones."""
Show = Callable[[Prediction], None]
_PROMPT = "ask> "
_HELP = (
    "/new begins a new conversation, /history lists its questions, /exit ends. A follow-up may be short: and in 2021?"
)


def converse(first: str | None, ask: Ask, show: Show) -> int:
    """Answer ``first``, then the lines of standard input until it ends. Returns the number of errors."""
    asked: list[str] = []
    errors = 0
    for line in _lines(first):
        match line:
            case "/exit" | "/quit":
                break
            case "/new":
                asked.clear()
            case "/history":
                for question in asked:
                    err.print(Text(question))
            case "/help":
                err.print(Text(_HELP))
            case _:
                try:
                    prediction = ask(line, tuple(asked))
                except KeyboardInterrupt:
                    err.print(Text("cancelled"))
                    continue
                except FinrayError as error:
                    err.print(Text(f"error: {error}", style="red"))
                    errors += 1
                    continue
                asked.append(line)
                errors += prediction.status == "error"
                show(prediction)
    return errors


def _lines(first: str | None) -> Iterator[str]:
    """``first``, then the lines that are typed or piped in, without blank ones."""
    if first is not None:
        yield first
    if sys.stdin.isatty():
        import readline  # noqa: F401 - gives input() a history and editing

        err.print(Text(_HELP, style="dim"))
    while True:
        try:
            line = input(_PROMPT if sys.stdin.isatty() else "").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if line:
            yield line
