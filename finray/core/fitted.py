"""Fitted weights by name, in a JSON file: the weights, the hand-chosen values behind them, and the data used."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from finray.core.data_files import shipped
from finray.core.errors import ModelUnavailableError


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """``weights`` are in use; ``prior`` are values chosen by hand, from which a fit starts and to which it is
    regularized."""

    weights: Mapping[str, float]
    prior: Mapping[str, float]


def shipped_weights(package: str, file: str, names: Collection[str]) -> FittedWeights:
    """The weights in ``file`` of ``package``. Raises ModelUnavailableError if they are not those of ``names``."""
    return read_weights(shipped(package, file), file, names)


def read_weights(text: str, where: str, names: Collection[str]) -> FittedWeights:
    """The weights in ``text``, the content of ``where``. Raises ModelUnavailableError if they are not those of
    ``names``."""
    try:
        content = json.loads(text)
        weights, prior = ({str(k): float(v) for k, v in content[part].items()} for part in ("weights", "prior"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailableError(f"{where} holds no fitted weights: {error!r}") from error
    odd = sorted((set(weights) ^ set(names)) | (set(prior) ^ set(names)))
    if odd:
        raise ModelUnavailableError(f"{where} has other weights than this version ({', '.join(odd)}); fit it again")
    return FittedWeights(weights, prior)


def weights_json(fitted: FittedWeights, trained: Mapping[str, Any]) -> str:
    """The content of a file of weights; ``trained`` describes the data of the fit."""
    parts = {
        part: {name: round(value, 4) for name, value in values.items()}
        for part, values in (("weights", fitted.weights), ("prior", fitted.prior))
    }
    return json.dumps({"trained": dict(trained), **parts}, indent=1) + "\n"
