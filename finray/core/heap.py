"""Keeps what long-lived processes have freed from staying in their memory."""

from __future__ import annotations

import ctypes
import sys

_M_MMAP_THRESHOLD = -3
_LARGE = 1024 * 1024


def map_large_blocks() -> None:
    """Make glibc map each block of a megabyte or more by itself, so that freeing it returns it to the system.

    By default glibc raises this limit, to 32 MB at most, whenever a larger block is freed. Arrays and texts of filings
    then lie between small blocks that live on, and a bulk worker keeps 100 MB that nothing uses. Does nothing without
    glibc.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE)
