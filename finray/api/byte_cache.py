"""An LRU cache bounded by bytes, not entries: the sizes of images and PDFs differ a thousandfold."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable


class ByteCache:
    """Keeps the most recently used values within ``limit`` bytes. Does not store a larger value. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes = 0

    @property
    def bytes_held(self) -> int:
        return self._bytes

    def get(self, key: Hashable) -> bytes | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: bytes) -> None:
        with self._lock:
            self._bytes -= len(self._values.pop(key, b""))
            if len(value) > self._limit:
                return
            self._values[key] = value
            self._bytes += len(value)
            while self._bytes > self._limit:
                self._bytes -= len(self._values.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._bytes = 0
