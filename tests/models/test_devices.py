"""What the processor is fast at, according to its flags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from finray.models import devices
from finray.models.devices import fast_bf16, multiplies_bf16, multiplies_int8


@pytest.fixture
def processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str | None], None]]:
    """Sets the contents of /proc/cpuinfo; None for a system without it."""

    def describe(text: str | None) -> None:
        info = tmp_path / "cpuinfo"
        if text is not None:
            info.write_text(text)
        monkeypatch.setattr(devices, "_CPU_INFO", info)
        multiplies_bf16.cache_clear()
        multiplies_int8.cache_clear()

    yield describe
    multiplies_bf16.cache_clear()
    multiplies_int8.cache_clear()


@pytest.mark.parametrize(
    ("text", "fast"),
    [
        ("vendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\nflags\t\t: fpu avx2 avx512_bf16\n", True),
        ("vendor_id : GenuineIntel\nflags : fpu avx2 avx512_bf16\n", False),
        ("vendor_id : GenuineIntel\nflags : avx512_bf16 amx_bf16\n", True),
        ("flags : amx_bf16 amx_tile\n", True),
        ("flags : fpu avx avx2 avx512f\nmodel name : avx512_bf16\n", False),
        (None, False),
    ],
)
def test_bf16(text: str | None, fast: bool, processor: Callable[[str | None], None]) -> None:
    processor(text)
    assert multiplies_bf16() is fast_bf16(torch.device("cpu")) is fast


@pytest.mark.parametrize(
    ("text", "fast"),
    [
        ("flags : fpu avx2 avx512_vnni\n", True),
        ("flags : fpu avx2 avx_vnni\n", True),
        ("flags : fpu avx2 avx512f\nmodel name : avx512_vnni\n", False),
        (None, False),
    ],
)
def test_int8(text: str | None, fast: bool, processor: Callable[[str | None], None]) -> None:
    processor(text)
    assert multiplies_int8() is fast
