"""What the rows of a table beside the index are, and how those of one filing are made.

Such a table serves one retrieval method: other vectors or words of chunks or pages, trees over filings, or summaries of
their covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

import pyarrow as pa

from finray.core.errors import IndexMismatchError
from finray.core.filing import Filing
from finray.index import schema
from finray.index.extensions.set_aside import Key
from finray.index.reading.reader import IndexReader

Encode = Callable[[Sequence[str]], Mapping[str, pa.Array]]
"""Maps texts to columns with a value for each text."""
Work = Callable[[Key], "FilingRows"]
"""Makes the rows of one filing."""
PLACES: Mapping[str, tuple[str, ...]] = {
    schema.PAGES: ("page",),
    schema.CHUNKS: ("page", "start", "end"),
    schema.FILINGS: (),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took to make the row of one filing. ``cost`` of the tokens is at the prices of ``llm``."""

    seconds: float
    processor_seconds: float
    nodes: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    unusable: int = 0
    """Replies of the language model that could not be used."""


@dataclass(frozen=True, slots=True)
class FilingRows:
    """The rows of one filing with their key."""

    rows: pa.Table
    cost: Cost | None = None


OfFiling = Callable[[str], tuple[Mapping[str, pa.Array], Cost]]
"""Maps a filing id to the columns of its one row, and what they cost."""


@dataclass(frozen=True, slots=True)
class Extension:
    """``model`` holds every setting that changes a row; ``load`` returns the encoder, which gets each text after
    ``prefix``; ``words`` builds a full-text index of the column ``text``."""

    name: str
    rows: Literal["pages", "chunks"]
    model: Mapping[str, str | int]
    load: Callable[[], Encode]
    method: str = ""
    """The retrieval method that ``finray extend`` names to make it, if that is not ``name``."""
    prefix: Callable[[Filing], str] = lambda _: ""
    words: bool = False
    things: str = "vectors"
    """What messages call the rows."""

    @property
    def made_for(self) -> str:
        return self.method or self.name

    def worker(self, reader: IndexReader) -> Work:
        """Loads the encoder."""
        encode, counts = self.load(), reader.row_counts(self.rows)
        filings = reader.filings().by_id
        read = reader.pages if self.rows == schema.PAGES else reader.chunks

        def work(key: Key) -> FilingRows:
            rows = read([key[0]], ["filing_id", *PLACES[self.rows], "text"])
            if rows.num_rows != counts[key[0]]:
                raise IndexMismatchError(
                    f"the index at {reader.uri!r} is damaged: filing {key[0]} has {rows.num_rows} {self.rows}, not "
                    f"{counts[key[0]]}; repair it with `finray index` and its sources"
                )
            prefix = self.prefix(filings[key[0]])
            encoded = encode([prefix + text for text in rows["text"].to_pylist()])
            return FilingRows(_keyed(rows.drop_columns(["text"]), key, encoded))

        return work


@dataclass(frozen=True, slots=True)
class FilingExtension:
    """One row for each filing, with its ``Cost``. ``load`` prepares the work on an open index. ``files`` are made once,
    before the rows: they depend on ``model`` alone."""

    name: str
    model: Mapping[str, str | int]
    load: Callable[[IndexReader], OfFiling]
    files: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    rows: Literal["filings"] = "filings"
    words: Literal[False] = False
    things: str = "trees"
    """What messages call the rows."""

    @property
    def made_for(self) -> str:
        return self.name

    def worker(self, reader: IndexReader) -> Work:
        """Loads the models."""
        build = self.load(reader)

        def work(key: Key) -> FilingRows:
            columns, cost = build(key[0])
            spent = {name: pa.array([value]) for name, value in asdict(cost).items()}
            place = pa.table({"filing_id": pa.array([key[0]], pa.string())})
            return FilingRows(_keyed(place, key, {**columns, **spent}), cost)

        return work


AnyExtension = Extension | FilingExtension


def _keyed(rows: pa.Table, key: Key, columns: Mapping[str, pa.Array]) -> pa.Table:
    rows = rows.append_column("revision", pa.array([key[1]] * rows.num_rows, pa.string()))
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows
