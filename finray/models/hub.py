"""Loads models from a hub safely: pinned to a revision, as safetensors, without code from the model's folder.

The ``main`` branch of a hub may change, and pickled weights or code in a model's folder can run anything. transformers
would also ask a third-party server to convert pickles and load the result; that is disabled here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from finray.core.errors import ModelUnavailableError
from finray.core.settings import RerankerSettings
from finray.models.devices import device_of, fast_bf16

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


def configuration(what: str, model: str, revision: str) -> Path:
    """The configuration of a hub model, from the cache or downloaded without weights. Raises ModelUnavailableError."""
    from huggingface_hub import hf_hub_download

    where = source(model, revision)
    with loading(what, model):
        return Path(hf_hub_download(model, "config.json", revision=where["revision"]))


@contextmanager
def loading(what: str, model: str) -> Iterator[None]:
    """Turn an error in the block, which loads ``model``, into ModelUnavailableError."""
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        raise ModelUnavailableError(
            f"cannot load the {what} {model!r}: {error}; give a local folder, or the name and revision of a model on "
            f"a hub that can be reached ({SAFETENSORS_HINT})"
        ) from error


def sentence_transformers_model(kind: Any, what: str, settings: RerankerSettings) -> Any:
    """The model of ``settings`` as a ``kind``, a class of sentence-transformers. Raises ModelUnavailableError."""
    device = None if settings.device == "auto" else settings.device
    where = source(settings.model, settings.revision)
    with loading(what, settings.model):
        return kind(settings.model, device=device, model_kwargs={**WEIGHTS, **_precision(what, settings)}, **where)


def _precision(what: str, settings: RerankerSettings) -> dict[str, Any]:
    """The argument ``dtype``, if it differs from that of the weights on disk. In bfloat16 a GPU computes several times
    as fast as in float32, a processor without bf16 a tenth as fast. Raises ModelUnavailableError if a GPU is requested
    and there is none."""
    import torch

    device = device_of(settings.device, what)
    if settings.dtype != "auto":
        return {"dtype": getattr(torch, settings.dtype)}
    if device.type == "cpu":
        return {} if fast_bf16(device) else {"dtype": torch.float32}
    return {"dtype": torch.bfloat16} if fast_bf16(device) else {}


@cache
def _warn(model: str) -> None:
    _log.warning(
        "the hub model %r has no revision, so the current main branch is loaded; set `revision` next to `model` to a "
        "commit, or to 'main' to accept this",
        model,
    )
