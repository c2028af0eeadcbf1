"""The texts of sample filings as data: industries, people, boilerplate, question wordings."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def load_text(name: str) -> dict[str, Any]:
    """Parse ``<name>.toml`` of this folder."""
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
