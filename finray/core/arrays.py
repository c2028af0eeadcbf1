"""Types of arrays, and functions of them that several rooms need."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def log_softmax(logits: Floats) -> Floats:
    """Log probabilities over the last axis, which may be empty."""
    if not logits.size:
        return logits
    above = logits - logits.max(axis=-1, keepdims=True)
    logs: Floats = above - np.log(np.exp(above).sum(axis=-1, keepdims=True))
    return logs
