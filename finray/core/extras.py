"""Extras: packages that only one part of finray needs, and that ``pip install finray`` alone does not bring."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from finray.core.errors import MissingExtraError

Extra = Literal["serve", "edgar", "train", "trees", "llm", "sheets", "mcp", "openvino", "langchain", "llamaindex"]


@contextmanager
def extra(name: Extra, what: str) -> Iterator[None]:
    """Import packages of the extra ``name`` inside this block.

    Raises MissingExtraError, which says that ``what`` needs it, if one is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "finray"):
            raise
        raise MissingExtraError(f"{what} needs {package}: pip install 'finray[{name}]'") from error
