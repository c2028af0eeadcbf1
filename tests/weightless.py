"""Settings that need no model weights: an engine with them starts in a second and never imports torch.

Tests of the trained reader, of the Python API, of the demo, of the diagrams and of a deployment, the tutorials and the
notebooks run the local preset as it is.
"""

from __future__ import annotations

from finray.core.settings import Settings, load_settings

WEIGHTLESS = {"encoder.model": "hash", "loop.transform": "rules"}
ASSIGNMENTS = tuple(f"{name}={value}" for name, value in WEIGHTLESS.items())
OPTIONS = tuple(word for assignment in ASSIGNMENTS for word in ("--set", assignment))
"""``WEIGHTLESS`` for a command line."""
VARIABLES = {"FINRAY_ENCODER__MODEL": "hash", "FINRAY_LOOP__TRANSFORM": "rules"}
"""``WEIGHTLESS`` for a process that is given no options."""


def weightless(**changed: object) -> Settings:
    """The local preset with ``WEIGHTLESS`` and ``changed``, whose names have ``__`` in place of the dot."""
    return load_settings(
        overrides={**WEIGHTLESS, **{name.replace("__", "."): value for name, value in changed.items()}}, environment={}
    )
