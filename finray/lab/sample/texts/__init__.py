"""The texts of sample filings as data: industries, people, boilerplate, question wordings."""

from __future__ import annotations

from functools import cache
from typing import Any

from finray.core.data_files import shipped_data


@cache
def load_text(name: str) -> dict[str, Any]:
    """Parse ``<name>.toml`` of this folder."""
    content: dict[str, Any] = shipped_data(__name__, f"{name}.toml")
    return content
