"""Hashes over settings. A setting that was added later does not change a hash unless it differs from its default."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from finray.core.method_settings import Section


def without_defaults(section: Section, left_out: set[str], newer: set[str]) -> dict[str, Any]:
    """The section's values without ``left_out``, and without those of ``newer`` that are empty, zero or False, which is
    their default."""
    unset = {name for name in newer & type(section).model_fields.keys() if not getattr(section, name)}
    return section.model_dump(exclude=left_out | unset)


def digest(payload: dict[str, Any]) -> str:
    """SHA-256 of ``payload`` in hex digits."""
    return hashlib.sha256(json.dumps(without_default_revisions(payload), sort_keys=True).encode()).hexdigest()


def without_default_revisions(payload: dict[str, Any]) -> dict[str, Any]:
    """Omit the revisions "" and ``main``, so that hashes from before there were revisions stay valid."""
    return {
        name: without_default_revisions(value) if isinstance(value, dict) else value
        for name, value in payload.items()
        if not (name == "revision" and value in ("", "main"))
    }
