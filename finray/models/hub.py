"""Loads models from a hub safely: pinned to a revision, as safetensors, without code from the model's folder.

The ``main`` branch of a hub may change, and pickled weights or code in a model's folder can run anything. transformers
would also ask a third-party server to convert pickles and load the result; that is disabled here.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
_log = logging.getLogger(__name__)

WEIGHTS = {"use_safetensors": True}
"""Arguments for transformers, in addition to ``source``."""
SAFETENSORS_HINT = "only weights in safetensors are loaded; docs/language-models.md shows how to convert others"


def source(model: str, revision: str) -> dict[str, Any]:
    """Arguments for transformers and sentence-transformers to load ``model``, a folder or a hub name."""
    local = Path(model).is_dir()
    if not local and not revision:
        _warn(model)
    return {
        "revision": None if local else revision or None,
        "local_files_only": local,
        "trust_remote_code": False,
    }


@cache
def _warn(model: str) -> None:
    _log.warning(
        "the hub model %r has no revision, so the current main branch is loaded; set `revision` next to `model` to a "
        "commit, or to 'main' to accept this",
        model,
    )
