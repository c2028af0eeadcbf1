"""Linear layers in int8, for processors that multiply bytes fast.

Inputs are rounded by ranges that were observed beforehand, so that the states of a sequence do not depend on the
sequences beside it. A factor for each component moves part of its range into the weights, as in SmoothQuant
(arXiv 2211.10438).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from finray.models.bert.weights import Floats

_MOVED: Final = 0.8
"""Share of a component's range that moves into the weights (SmoothQuant's alpha), by the least error of the row
reader's logits."""
_LEAST: Final = 1e-5
_STEPS: Final = 255
"""Steps of a rounded input."""
_WEIGHT_STEPS: Final = 127


@dataclass(frozen=True, slots=True)
class InputRange:
    """The lowest and the highest observed value of each input, float32 [inputs]."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Int8Linear:
    """Computes ((round(x * factor / step) + zero) - zero) @ weight * step * weight_steps.

    ``factor`` float32 [inputs], ``weight`` int8 [inputs, outputs], ``weight_steps`` float32 [outputs]; ``zero`` in
    0..255 is the rounded input that stands for 0.
    """

    factor: Floats
    step: float
    zero: int
    weight: npt.NDArray[np.int8]
    weight_steps: Floats

    @classmethod
    def of(cls, weight: Floats, inputs: InputRange) -> Self:
        """Round ``weight``, float32 [outputs, inputs]."""
        low, high = np.minimum(inputs.low, 0.0), np.maximum(inputs.high, 0.0)
        reach = np.maximum(np.maximum(-low, high), _LEAST)
        weight_reach = np.maximum(np.abs(weight).max(axis=0), _LEAST)
        factor = weight_reach ** (1 - _MOVED) / reach**_MOVED
        lowest, highest = float((low * factor).min()), float((high * factor).max())
        step = max(highest - lowest, _LEAST) / _STEPS
        scaled = weight / factor
        weight_steps = np.maximum(np.abs(scaled).max(axis=1), _LEAST) / _WEIGHT_STEPS
        return cls(
            factor.astype(np.float32),
            step,
            round(-lowest / step),
            np.ascontiguousarray(np.round(scaled / weight_steps[:, None]).astype(np.int8).T),
            weight_steps.astype(np.float32),
        )
