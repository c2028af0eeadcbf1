"""Loads the encoder that the settings name, and tells its kind and dimension without loading it."""

from __future__ import annotations

import json
from pathlib import Path

from finray.core.settings import EncoderSettings, is_hub_name
from finray.models.encoder import Encoder
from finray.models.hash_encoder import HashEncoder


def is_static(model: str) -> bool:
    """Whether ``encoder.model`` names token vectors, which do not depend on a word's context."""
    return model == "static" or model.endswith(".npz")


def is_light(settings: EncoderSettings) -> bool:
    """Whether encoding takes less time than parsing: a sum of token vectors, or none at all."""
    return settings.model == "hash" or is_static(settings.model)


def encoder_dimension(settings: EncoderSettings) -> int:
    """The length of the vectors of ``load_encoder(settings)``, without loading the model: of a model on a hub, only its
    configuration is downloaded.

    Checks the weights that ship as a package, so that a damaged installation fails before a job starts.
    Raises ModelUnavailableError.
    """
    if is_light(settings):
        return load_encoder(settings).dimension
    # Imported here: hub changes the environment, and parsers, which import this module, get as little as they need.
    from finray.models import hub
    from finray.models.minilm import minilm_folder

    if is_hub_name(settings.model):
        config = hub.configuration("encoder", settings.model, settings.revision)
    else:
        folder = minilm_folder() if settings.model == "minilm" else Path(settings.model)
        config = folder / "config.json"
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
    if is_static(settings.model):
        from finray.models.static_encoder import load_static_encoder, shipped_static_encoder

        return shipped_static_encoder() if settings.model == "static" else load_static_encoder(settings.model)
    from finray.models.minilm_encoder import MiniLmEncoder, computes_in_onnx

    if computes_in_onnx(settings):
        return MiniLmEncoder(settings, threads, fixed_shapes=fixed_shapes)
    # torch and transformers take seconds to import, so they are imported only for encoding.
    from finray.models.minilm import minilm_folder
    from finray.models.transformer_encoder import TransformerEncoder

    folder = str(minilm_folder()) if settings.model == "minilm" else settings.model
    return TransformerEncoder(folder, settings, threads=threads, fixed_shapes=fixed_shapes)
