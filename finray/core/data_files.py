"""Data that ships with finray: text, TOML and JSON files beside the modules that use them."""

from __future__ import annotations

import json
import tomllib
from importlib import resources
from typing import Any


def shipped(package: str, file: str) -> str:
    """The text of ``file`` in ``package``."""
    return (resources.files(package) / file).read_text("utf-8")


def shipped_data(package: str, file: str) -> Any:
    """The content of a TOML or JSON file of ``package``."""
    text = shipped(package, file)
    return tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
