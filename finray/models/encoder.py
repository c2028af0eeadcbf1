"""The role of an encoder: text to a vector of unit length, so that the dot product is the cosine."""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from finray.core.settings import EncoderSettings, is_hub_name

Vectors = npt.NDArray[np.float32]
_QUERIES = 1024
_WORD = re.compile(r"\w+")


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


@runtime_checkable
class AwaitableEncoder(Protocol):
    """An encoder whose caller can do other work meanwhile, because it runs elsewhere."""

    async def query_vector(self, text: str) -> Vectors:
        """As :meth:`Encoder.encode_query`."""
        ...

    async def passage_vectors(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`Encoder.encode_passages`."""
        ...


async def query_vector(encoder: Encoder, text: str) -> Vectors:
    """``encoder.encode_query(text)``; while an encoder elsewhere computes it, other questions go on, so that it gets
    their texts together. Await it before code that calls ``encode_query`` itself: a QueryCache keeps the vector."""
    if isinstance(encoder, AwaitableEncoder):
        return await encoder.query_vector(text)
    return encoder.encode_query(text)


async def passage_vectors(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """``encoder.encode_passages(texts)``; an encoder elsewhere leaves this process free meanwhile."""
    if isinstance(encoder, AwaitableEncoder):
        return await encoder.passage_vectors(texts)
    return encoder.encode_passages(texts)


class QueryCache:
    """``encoder`` with a cache of its last queries: several stages of one question need the same vector."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode_query(self, text: str) -> Vectors:
        vector = self._known(text)
        return self._keep(text, self._encoder.encode_query(text)) if vector is None else vector

    async def query_vector(self, text: str) -> Vectors:
        vector = self._known(text)
        return self._keep(text, await query_vector(self._encoder, text)) if vector is None else vector

    def _known(self, text: str) -> Vectors | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
        return vector

    def _keep(self, text: str, vector: Vectors) -> Vectors:
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > _QUERIES:
                self._vectors.popitem(last=False)
        return vector

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)

    async def passage_vectors(self, texts: Sequence[str]) -> Vectors:
        return await passage_vectors(self._encoder, texts)


class HashEncoder:
    """For tests and machines without a model: each word adds ±1 to one of ``dimension`` components, so texts with
    common words are close. Deterministic."""

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(text.lower()) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                row[int.from_bytes(digest[:4], "big") % self._dimension] += 1.0 if digest[4] & 1 else -1.0
            if not row.any():  # the words cancelled each other out
                row[0] = 1.0
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self.encode_passages([text])[0]
        return vector


def is_static(model: str) -> bool:
    """Whether ``encoder.model`` names a file of token vectors."""
    return model.endswith(".npz")


def is_light(settings: EncoderSettings) -> bool:
    """Whether encoding takes less time than parsing: a sum of token vectors, or none at all."""
    return settings.model in ("hash", "static") or is_static(settings.model)


def encoder_dimension(settings: EncoderSettings) -> int:
    """The length of the vectors of ``load_encoder(settings)``, without loading the model: of a model on a hub, only its
    configuration is downloaded.

    Checks the weights that ship as a package, so that a damaged installation fails before a job starts.
    Raises ModelUnavailableError.
    """
    if is_light(settings):
        return load_encoder(settings).dimension
    # Imported here: it changes the environment, and parsers, which import this module, get as little as they need.
    from finray.models import hub

    if settings.model == "minilm":
        from finray.models.minilm import minilm_folder

        folder = minilm_folder()
    else:
        folder = Path(settings.model)
    config = folder / "config.json"
    if is_hub_name(settings.model):
        config = hub.configuration("encoder", settings.model, settings.revision)
    if config.is_file():
        with hub.loading("encoder", settings.model):
            size = json.loads(config.read_text(encoding="utf-8")).get("hidden_size")
        if size is not None:
            return int(size)
    return load_encoder(settings).dimension  # a model that names it in another way


def load_encoder(settings: EncoderSettings, *, threads: int | None = None, fixed_shapes: bool = False) -> Encoder:
    """The encoder of ``settings.model``: "minilm", "static", "hash", a file of token vectors (``.npz``), a
    sentence-transformers folder or hub name.

    ``threads`` limits the CPU threads of a forward pass in this process (default: torch's). Use 1 if other work shares
    the processors; waiting for delayed threads made passes three times slower. ``fixed_shapes`` makes the vector of a
    passage independent of those that are encoded with it (see ``TransformerEncoder``).
    Raises ModelUnavailableError if the weights are missing, damaged or of an unsupported kind.
    """
    if settings.model == "hash":
        return HashEncoder()
    if settings.model == "static" or is_static(settings.model):
        from finray.models.static_encoder import load_static_encoder, shipped_static_encoder

        return shipped_static_encoder() if settings.model == "static" else load_static_encoder(settings.model)
    # torch and transformers take seconds to import, so they are imported only for encoding.
    from finray.models.minilm import minilm_folder
    from finray.models.transformer_encoder import TransformerEncoder

    folder = str(minilm_folder()) if settings.model == "minilm" else settings.model
    return TransformerEncoder(folder, settings, threads=threads, fixed_shapes=fixed_shapes)
