"""Groups filings with the same cover facts except the company: a question without a company scores each group once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.core.filing import Filing
from finray.index.reading.filing_table import FilingTable

_FACTS: Final = ("form", "is_amendment", "period_end", "filed_at", "fiscal_year", "fiscal_period")


def alike(filings: FilingTable) -> list[tuple[Filing, npt.NDArray[np.int32]]]:
    """Returns for each group a filing with these facts and no others, and the positions of the group's filings."""
    columns = [filings.column(name) for name in _FACTS]
    codes = np.zeros(len(filings), dtype=np.int64)
    for column in columns:
        values = _codes(column)
        # Renumbered at each step: the products stay far below 2**63.
        _, codes = np.unique(codes * (values.max(initial=0) + 1) + values, return_inverse=True)
    order = np.argsort(codes, kind="stable").astype(np.int32)
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    first = pa.array(order[starts])
    facts = zip(*(column.take(first).to_pylist() for column in columns), strict=True)
    return [
        (Filing("", "", "", "", "", **dict(zip(_FACTS, values, strict=True))), positions)
        for values, positions in zip(facts, np.split(order, starts[1:]) if len(order) else (), strict=True)
    ]


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A number for each value, the same for equal values; null is a value."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    encoded = plain.combine_chunks().dictionary_encode(null_encoding="encode")
    codes: npt.NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes
