"""Which device computes, and which kinds of numbers it multiplies fast."""

from __future__ import annotations

import importlib.util
import platform
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from finray.core.errors import ModelUnavailableError

if TYPE_CHECKING:
    import torch

_CPU_INFO = Path("/proc/cpuinfo")
_AMX, _AVX512 = "amx_bf16", "avx512_bf16"
_AMD = "AuthenticAMD"
_VNNI = frozenset(("avx512_vnni", "avx_vnni"))


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
    return device.type == "cpu" and multiplies_bf16()


@cache
def multiplies_bf16() -> bool:
    """Whether the processor multiplies bf16 faster than float32, according to /proc/cpuinfo: False except on Linux.

    It does with AMX, or with AVX512-BF16 on AMD. With AVX512-BF16 alone, Intel's processors take nearly twice as long
    as in float32.
    """
    flags, vendors = _cpu_info("flags"), _cpu_info("vendor_id")
    return _AMX in flags or (_AVX512 in flags and _AMD in vendors)


@cache
def multiplies_int8() -> bool:
    """Whether the processor adds up products of bytes in 32 bits (VNNI), according to /proc/cpuinfo: False except on
    Linux. x86 processors without it are slower, and their sums of two products overflow 16 bits."""
    return not _cpu_info("flags").isdisjoint(_VNNI)


def emulates_bf16() -> bool:
    """Whether this is an x86 processor without AMX and AVX512-BF16; False for other processors, which may differ."""
    return platform.machine() in ("x86_64", "AMD64") and _cpu_info("flags").isdisjoint((_AMX, _AVX512))


def _cpu_info(field: str) -> frozenset[str]:
    """The words of all lines of ``field`` in /proc/cpuinfo; none if it cannot be read."""
    try:
        lines = _CPU_INFO.read_text().splitlines()
    except OSError:
        return frozenset()
    named = (line.partition(":") for line in lines)
    return frozenset(word for name, _, words in named if name.strip() == field for word in words.split())


def has_openvino() -> bool:
    """Whether OpenVINO is installed."""
    return importlib.util.find_spec("openvino") is not None
