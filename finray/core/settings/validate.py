"""Checks loaded values."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from finray.core.errors import SettingsError
from finray.core.settings.whole import Settings


def validated(tree: dict[str, Any], preset: str) -> Settings:
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
