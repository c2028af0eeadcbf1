"""Loads settings: a preset (TOML), overridden by the environment, overridden by arguments.

Environment: ``FINRAY_<SECTION>__<NAME>`` (for example ``FINRAY_LOOP__I_MAX=2``). Arguments: ``{"loop.i_max": 2}``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from finray.core.data_files import shipped
from finray.core.errors import SettingsError
from finray.core.settings.whole import Settings

ENVIRONMENT_PREFIX = "FINRAY_"
_RENAMED = {"paper": "hirec"}
"""Presets of earlier versions and their present names."""


def preset_names() -> list[str]:
    """The shipped presets, sorted."""
    names = (file.name for file in resources.files("finray.presets").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


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
    return _validated(tree, preset)


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
        text = shipped("finray.presets", f"{preset}.toml")
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


def _validated(tree: dict[str, Any], preset: str) -> Settings:
    """``tree`` as settings. Raises SettingsError for an unknown name, a value out of range, and a model without the
    revision that ``hub.unpinned`` demands; ``preset`` names the source of ``tree`` in the message."""
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        given = first.get("input")
        raise SettingsError(f"setting {where!r} = {given!r}: {first['msg']} (preset {preset!r})") from error
    if settings.hub.unpinned == "error" and (unpinned := settings.unpinned()):
        named = ", ".join(f"{name}.model = {model!r}" for name, model in unpinned.items())
        raise SettingsError(
            f"hub.unpinned = 'error', but {named}: set the `revision` of each model to a commit (40 hex digits), or "
            "use a folder"
        )
    return settings
