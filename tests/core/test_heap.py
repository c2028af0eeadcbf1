"""What a process keeps of the memory that it has freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

_FREES = """
import os
from finray.core.heap import map_large_blocks

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

map_large_blocks()
del (large := [bytes(8_000_000)])[0]  # by default, blocks of this size are not mapped from now on
before = held()
blocks, kept = [], []
for number in range(50):
    blocks.append(b"x" * 2_000_000)
    kept.append(b"y" * 600)  # lives on behind each block
most = held()
blocks.clear()
print(most - before, held() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc")
def test_freed_blocks_between_others_leave_the_process() -> None:
    run = subprocess.run([sys.executable, "-c", _FREES], capture_output=True, text=True, check=True)
    most, left = map(int, run.stdout.split())
    assert most > 90_000_000
    assert left < 10_000_000
