"""Sorted strings, stored as bytes without an object for each: every worker holds 100,000 filing ids and more."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from typing import Generic, TypeVar, overload

import pyarrow as pa

V = TypeVar("V")

_AT_ONCE = 10_000
"""Rows of a column converted to Python objects at a time."""


def key_bytes(key: str) -> bytes:
    """``key`` in UTF-8, with the lone surrogates that JSON allows and Arrow's strings do not."""
    return key.encode("utf-8", "surrogatepass")


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


class SortedKeys(Sequence[str]):
    """Distinct strings in the order of their code points, found by binary search. Takes their bytes and 8 for each."""

    def __init__(self, keys: pa.Array | pa.ChunkedArray) -> None:
        """``keys`` are strings in order, or their bytes (:func:`key_bytes`).

        Raises ValueError if they are not in order, if one is null or if two are equal.
        """
        values = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
        if values.null_count:
            raise ValueError("a key is null")
        kind = pa.large_binary() if pa.types.is_binary(values.type) else pa.large_string()
        values = pa.concat_arrays([values.cast(kind)])  # without an offset into larger buffers
        _, offsets, data = values.buffers()
        # Items of array and bytes are read several times as fast as those of numpy and memoryview.
        self._offsets = array("q", offsets.to_pybytes()[: 8 * (len(values) + 1)] if len(values) else bytes(8))
        self._data = data.to_pybytes() if data is not None else b""
        previous: bytes | None = None
        for position in range(len(self)):
            key = self._bytes(position)
            if previous is not None and key <= previous:
                raise ValueError(f"keys are not in order: {_text(key)!r} comes after {_text(previous)!r}")
            previous = key

    def position(self, key: object) -> int | None:
        """Where ``key`` is; None if it is not among the keys."""
        if not isinstance(key, str):
            return None
        wanted = key_bytes(key)
        found = bisect_left(range(len(self)), wanted, key=self._bytes)
        return found if found < len(self) and self._bytes(found) == wanted else None

    def _bytes(self, position: int) -> bytes:
        # UTF-8 sorts by code point, as Python's str does.
        return self._data[self._offsets[position] : self._offsets[position + 1]]

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> list[str]: ...
    def __getitem__(self, position: int | slice) -> str | list[str]:
        if isinstance(position, slice):
            return [_text(self._bytes(each)) for each in range(len(self))[position]]
        return _text(self._bytes(range(len(self))[position]))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return (_text(self._bytes(position)) for position in range(len(self)))

    def __contains__(self, key: object) -> bool:
        return self.position(key) is not None


class KeyedValues(Mapping[str, V], Generic[V]):
    """A mapping from ``keys`` to the ``values`` at the same positions."""

    def __init__(self, keys: SortedKeys, values: Sequence[V]) -> None:
        self._keys = keys
        self._values = values

    def __getitem__(self, key: str) -> V:
        position = self._keys.position(key)
        if position is None:
            raise KeyError(key)
        return self._values[position]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def values(self) -> ValuesView[V]:
        return _Values(self, self._values)

    def items(self) -> ItemsView[str, V]:
        return _Items(self, self._values)


class _Values(ValuesView[V], Generic[V]):
    """Iterates without looking up each key."""

    def __init__(self, mapping: Mapping[str, V], values: Sequence[V]) -> None:
        super().__init__(mapping)
        self._values = values

    def __iter__(self) -> Iterator[V]:
        return iter(self._values)


class _Items(ItemsView[str, V], Generic[V]):
    """Iterates without looking up each key."""

    def __init__(self, mapping: Mapping[str, V], values: Sequence[V]) -> None:
        super().__init__(mapping)
        self._keys = mapping.keys()
        self._values = values

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return zip(self._keys, self._values, strict=True)


class ArrowColumn(Sequence[V], Generic[V]):
    """The values of an Arrow column as Python objects, created on access."""

    def __init__(self, column: pa.Array | pa.ChunkedArray) -> None:
        self._column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    @overload
    def __getitem__(self, position: int) -> V: ...
    @overload
    def __getitem__(self, position: slice) -> list[V]: ...
    def __getitem__(self, position: int | slice) -> V | list[V]:
        if isinstance(position, slice):
            values: list[V] = [self._column[each].as_py() for each in range(len(self))[position]]
            return values
        value: V = self._column[position].as_py()
        return value

    def __len__(self) -> int:
        return len(self._column)

    def __iter__(self) -> Iterator[V]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self._column.slice(start, _AT_ONCE).to_pylist()
