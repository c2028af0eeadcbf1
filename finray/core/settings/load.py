"""The one loader: preset (TOML) < environment < arguments.

Environment: ``FINRAY_<SECTION>__<NAME>`` (for example ``FINRAY_LOOP__I_MAX=2``). Arguments: ``{"loop.i_max": 2}``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from finray.core.errors import SettingsError
from finray.core.settings.validate import validated
from finray.core.settings.whole import Settings

ENVIRONMENT_PREFIX = "FINRAY_"
_RENAMED = {"paper": "hirec"}
"""Presets of earlier versions, and their names now."""


def preset_names() -> list[str]:
    return sorted(
        p.name.removesuffix(".toml") for p in resources.files("finray.presets").iterdir() if p.name.endswith(".toml")
    )


def load_settings(
    preset: str = "local",
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Settings of ``preset`` (a shipped name or a path ending in .toml), then environment, then ``overrides``.

    ``overrides`` maps dotted names to values: ``{"loop.i_max": 2}``. Raises SettingsError for an unknown preset,
    an unknown name or a value out of range.
    """
    tree = _read_preset(preset)
    for dotted, value in _from_environment(os.environ if environment is None else environment).items():
        _assign(tree, dotted, value)
    for dotted, value in (overrides or {}).items():
        _assign(tree, dotted, value)
    return validated(tree, preset)


def _read_preset(preset: str) -> dict[str, Any]:
    if preset.endswith(".toml"):
        path = Path(preset)
        if not path.is_file():
            raise SettingsError(f"no settings file at {preset!r}")
        text = path.read_text(encoding="utf-8")
    elif preset in _RENAMED:
        name = _RENAMED[preset]
        raise SettingsError(f"the preset {preset!r} is now called {name!r}; docs/systems/{name}.md describes it")
    elif preset in preset_names():
        text = (resources.files("finray.presets") / f"{preset}.toml").read_text(encoding="utf-8")
    else:
        raise SettingsError(
            f"unknown preset {preset!r}; shipped are {', '.join(preset_names())}, or give a path that ends in .toml"
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{preset}: not valid TOML: {error}") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX) and "__" in name
    }


def _assign(tree: dict[str, Any], dotted: str, value: Any) -> None:
    *sections, leaf = dotted.split(".")
    node = tree
    for section in sections:
        node = node.setdefault(section, {})
        if not isinstance(node, dict):
            raise SettingsError(f"setting {dotted!r}: {section!r} is a value, not a section")
    node[leaf] = value
