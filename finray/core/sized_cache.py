"""A least-recently-used cache, limited by the size of its values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SizedCache(Generic[K, V]):
    """Keeps values while their sizes add up to at most ``max_bytes``; drops the least recently used ones first.

    The last value put in stays, however large, because it is in use. Not thread-safe.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """Bytes of all values, as given to ``put``."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def get(self, key: K) -> V | None:
        """The value of ``key``, which becomes the most recently used; None if there is none."""
        kept = self._values.get(key)
        if kept is None:
            return None
        self._values.move_to_end(key)
        return kept[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep ``value``, of ``size`` bytes (or 1, to limit their number), instead of any earlier one of ``key``."""
        _, before = self._values.pop(key, (None, 0))
        self._values[key] = value, size
        self._bytes += size - before
        while self._bytes > self._max_bytes and len(self._values) > 1:
            _, (_, dropped) = self._values.popitem(last=False)
            self._bytes -= dropped
