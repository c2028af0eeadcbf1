"""The words of the sample filings, as data: industries, people, boilerplate, question phrasings."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def load_text(name: str) -> dict[str, Any]:
    """The parsed ``<name>.toml`` of this folder."""
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
