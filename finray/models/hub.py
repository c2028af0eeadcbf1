"""Models from a hub: by revision, as safetensors, without code of their own.

A hub's ``main`` may be another model tomorrow, and weights that are pickles, or code in a model's folder, run whatever
their author likes. transformers would also have a server of others convert pickles and load what that server made.
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
"""For transformers, beside ``source``."""
SAFETENSORS_HINT = "only weights in safetensors are loaded; docs/language-models.md says how to convert others"


def source(model: str, revision: str) -> dict[str, Any]:
    """Where ``model``, a folder or a hub name, is from: arguments for transformers and sentence-transformers."""
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
        "the hub model %r has no revision: whatever its main branch holds today is loaded; set `revision` beside "
        "`model` to a commit, or to 'main' if that is what you want",
        model,
    )
