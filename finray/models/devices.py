"""Which device computes, and whether it multiplies bf16 fast."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from finray.core.errors import ModelUnavailableError

if TYPE_CHECKING:
    import torch


def device_of(wanted: str, what: str) -> torch.device:
    """The device that a setting names, "auto" for a GPU if there is one. ``what`` has the setting, for the error.

    Raises ModelUnavailableError if a GPU is requested and there is none.
    """
    import torch

    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted.startswith("cuda") and not torch.cuda.is_available():
        raise ModelUnavailableError(f"{what}.device is {wanted!r}, but there is no GPU; set 'auto' or 'cpu'")
    return torch.device(wanted)


def fast_bf16(device: torch.device) -> bool:
    """Whether the hardware multiplies bf16 faster than float32."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    amx, avx512 = torch.cpu._is_amx_tile_supported, torch.cpu._is_avx512_bf16_supported
    return device.type == "cpu" and bool(amx() or avx512())


def has_openvino() -> bool:
    """Whether OpenVINO is installed."""
    return importlib.util.find_spec("openvino") is not None
