"""The encoder role: text to a vector of unit length, so that a dot product is the cosine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from finray.core.settings import EncoderSettings

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """``dimension`` is the length of a vector. Both methods may be called from several threads."""

    @property
    def dimension(self) -> int: ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), dimension], rows of unit length, in the order of ``texts``."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """float32 [dimension], unit length."""
        ...


def encoder_dimension(settings: EncoderSettings) -> int:
    """The length of the vectors of ``load_encoder(settings)``, without loading weights of the local models.

    Checks the embedded weights, so that a damaged installation is found out before a job starts.
    Raises ModelUnavailableError.
    """
    if settings.model == "hash":
        return load_encoder(settings).dimension
    if settings.model == "minilm":
        from finray.models.minilm import minilm_folder

        folder = minilm_folder()
    else:
        folder = Path(settings.model)
    config = folder / "config.json"
    if config.is_file():
        return int(json.loads(config.read_text(encoding="utf-8"))["hidden_size"])
    return load_encoder(settings).dimension


def load_encoder(settings: EncoderSettings, *, threads: int | None = None) -> Encoder:
    """The encoder ``settings.model`` names: "minilm", "hash", a sentence-transformers folder or hub name.

    ``threads`` limits the CPU threads of a forward pass in this process (else torch's own default). Take 1
    where other work shares the processors: waiting for a delayed thread made passes three times slower.
    Raises ModelUnavailableError when the weights are missing, damaged or of a kind that is not supported.
    """
    if settings.model == "hash":
        from finray.models.hash_encoder import HashEncoder

        return HashEncoder()
    # torch and transformers take seconds to import: only who encodes pays for them.
    from finray.models.minilm import minilm_folder
    from finray.models.transformer_encoder import TransformerEncoder

    folder = str(minilm_folder()) if settings.model == "minilm" else settings.model
    return TransformerEncoder(folder, settings, threads=threads)
