"""The filings of an index as columns, from which ``Filing`` objects are made on demand.

A worker keeps an index open for as long as it answers. With an object for each of 145,897 filings, and dictionaries of
their ids, routing took most of its memory; as columns they take a fifth.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, overload

import pyarrow as pa
import pyarrow.compute as pc

from finray.core.filing import Filing
from finray.core.sized_cache import SizedCache
from finray.core.sorted_keys import ArrowColumn, KeyedValues, SortedKeys
from finray.index import schema

_AT_ONCE: Final = 10_000
_CACHED: Final = 4_096
_DISTINCT: Final = ("filing_id", "doc_name", "source_uri", "content_sha256")
"""Text columns whose values rarely repeat; the others are stored as dictionaries."""


class FilingTable(Sequence[Filing]):
    """Filings in the order of their ids. Objects are made on demand; those that were looked up last are kept."""

    def __init__(self, read: Callable[[str], pa.ChunkedArray]) -> None:
        """``read`` returns one column of cover facts of all filings, always in the same order. Whole rows would take
        several times the memory of what is kept.

        Raises ValueError if two filings have the same id.
        """
        ids = read("filing_id")
        order = pc.sort_indices(ids)
        self.ids = SortedKeys(ids.take(order))
        del ids
        self._table = pa.table({name: _packed(name, read(name).take(order)) for name in schema.FILING_COLUMNS})
        self._made: SizedCache[int, Filing] = SizedCache(_CACHED)
        self._lock = threading.Lock()

    @property
    def by_id(self) -> Mapping[str, Filing]:
        return KeyedValues(self.ids, self)

    def column(self, name: str) -> pa.ChunkedArray:
        """One column of cover facts, in the order of ids; strings with few different values are a dictionary."""
        return self._table[name]

    def named(self, filing_ids: Collection[str]) -> list[Filing]:
        """The filings with these ids, in their order. Raises KeyError."""
        positions = []
        for filing_id in filing_ids:
            position = self.ids.position(filing_id)
            if position is None:
                raise KeyError(filing_id)
            positions.append(position)
        return self.at(positions)

    def at(self, positions: Sequence[int]) -> list[Filing]:
        """The filings at these positions, in their order."""
        with self._lock:
            found = {position: made for position in positions if (made := self._made.get(position)) is not None}
        if absent := [position for position in dict.fromkeys(positions) if position not in found]:
            found |= zip(absent, self._filings(self._table.take(pa.array(absent, pa.int64()))), strict=True)
        with self._lock:
            for position in positions[-_CACHED:]:
                self._made.put(position, found[position], 1)
        return [found[position] for position in positions]

    def _filings(self, rows: pa.Table) -> list[Filing]:
        plain = {name: _plain(rows[name]) for name in rows.column_names}
        return schema.filings_from_table(pa.table(plain))

    @overload
    def __getitem__(self, position: int) -> Filing: ...
    @overload
    def __getitem__(self, position: slice) -> list[Filing]: ...
    def __getitem__(self, position: int | slice) -> Filing | list[Filing]:
        if isinstance(position, slice):
            return self.at(range(len(self))[position])
        return self.at([range(len(self))[position]])[0]

    def __iter__(self) -> Iterator[Filing]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self._filings(self._table.slice(start, _AT_ONCE))

    def __len__(self) -> int:
        return len(self.ids)


def column_by_id(ids: SortedKeys, column: pa.ChunkedArray) -> Mapping[str, Any]:
    """The value of each filing id; ``column`` is in the order of ``ids``."""
    return KeyedValues(ids, ArrowColumn(column))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """``column`` decoded, because a few rows need only a part of its dictionary."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)


def _packed(name: str, column: pa.ChunkedArray) -> pa.Array:
    """``column`` as one array; text that repeats as a dictionary."""
    values = column.combine_chunks()
    if name in _DISTINCT or not pa.types.is_string(values.type):
        return pa.concat_arrays([values])
    return values.dictionary_encode()
