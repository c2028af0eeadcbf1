"""Tables beside the index for single methods: other vectors or words of its chunks or pages, or trees over
filings, or summaries of their covers.

``URI/extensions/<name>.lance`` has one row for each chunk, page or filing, keyed by (filing_id, revision) like the
index's own; ``URI/extensions/<name>.json`` records the model. A commit appends all rows of whole filings, so a killed
run leaves no partial filing; the next run adds missing filings and drops those that the index no longer has.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final, Literal

import pyarrow as pa

from finray.core.errors import IndexMismatchError
from finray.core.types import Filing
from finray.index import schema
from finray.index.attempts import AttemptsHere
from finray.index.extension_attempts import Attempted, FailedFiling, note_failed, noted_failed
from finray.index.maintenance import rows_by_revision
from finray.index.reader import IndexReader, committed_rows, text_hits, vector_hits
from finray.models.encoder import Vectors
from finray.storage.lance_commit import commit, open_if_any, write_rows
from finray.storage.locations import exists, join, normalize, read_bytes, write_bytes

Encode = Callable[[Sequence[str]], Mapping[str, pa.Array]]
"""Texts to columns, a value for each text."""
Key = tuple[str, str]
"""(filing_id, revision)"""
Work = Callable[[Key], "FilingRows"]
"""Makes the rows of one filing."""
FILINGS: Final = "filings"

FORMAT_VERSION = 1
_COMMIT_ROWS = 20_000
_COMMIT_SECONDS = 60.0
_MAX_FRAGMENTS = 4
_WORDS = "text_idx"
_KEY = "filing_id_idx"
_PLACES: Mapping[str, tuple[str, ...]] = {
    schema.PAGES: ("page",),
    schema.CHUNKS: ("page", "start", "end"),
    FILINGS: (),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What the row of one filing took. ``cost`` of the tokens is at the prices of ``llm``."""

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
"""A filing id to the columns of its one row."""


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
    def record(self) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, "rows": self.rows, "model": dict(self.model)}

    @property
    def made_for(self) -> str:
        return self.method or self.name

    def worker(self, reader: IndexReader) -> Work:
        """Loads the encoder."""
        encode, counts = self.load(), reader.row_counts(self.rows)
        filings = reader.filings().by_id
        read = reader.pages if self.rows == schema.PAGES else reader.chunks

        def work(key: Key) -> FilingRows:
            rows = read([key[0]], ["filing_id", *_PLACES[self.rows], "text"])
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

    @property
    def record(self) -> dict[str, Any]:
        return {"format_version": FORMAT_VERSION, "rows": self.rows, "model": dict(self.model)}

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
Tables = Callable[[IndexReader, AnyExtension, Sequence[Key]], Iterator["FilingRows | FailedFiling"]]
"""Makes the rows of each filing once, in any order, or sets it aside."""


def in_sequence(
    reader: IndexReader, extension: AnyExtension, todo: Sequence[Key]
) -> Iterator[FilingRows | FailedFiling]:
    """One filing after the other, in this process."""
    return map(Attempted(extension.worker(reader), AttemptsHere()), todo)


@dataclass(frozen=True, slots=True)
class ExtensionSummary:
    name: str
    filings: int
    added: int
    removed: int
    """Filings whose rows were dropped: gone from the index, changed, or written by two runs at once."""
    rows: int
    seconds: float
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """By filing id, of the filings that were added; empty for vectors of pages and chunks."""
    failures: tuple[FailedFiling, ...] = ()
    """Filings that were set aside; the next run tries them again."""


class ExtensionTable:
    """The rows of a complete extension that belong to an open index."""

    def __init__(self, table: Any, place: Sequence[str], revisions: Mapping[str, str], *, stale: bool) -> None:
        self._table = table
        self._place = ("filing_id", *place)
        self._revisions = revisions
        self._stale = stale

    def rows(self, columns: Sequence[str], filing_ids: Collection[str] | None = None) -> pa.Table:
        """Place and ``columns`` of every row, or of those of some filings, ordered by place."""
        if self._table is None or (filing_ids is not None and not filing_ids):
            return pa.table({name: [] for name in (*self._place, *columns)})
        table = self._table.to_table(columns=[*self._place, *columns], filter=self._where(filing_ids))
        return table.sort_by([(name, "ascending") for name in self._place])

    def search_vector(self, vector: Vectors, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """Exact cosine search over the column ``vector``: place and score, best first."""
        if self._table is None or limit < 1 or (filing_ids is not None and not filing_ids):
            return pa.table({name: [] for name in (*self._place, "score")})
        return vector_hits(self._table, self._place, vector, self._where(filing_ids), limit)

    def search_text(self, query: str, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """BM25 over the column ``text``: place and score, best first."""
        if self._table is None or limit < 1 or (filing_ids is not None and not filing_ids):
            return pa.table({name: [] for name in (*self._place, "score")})
        return text_hits(self._table, self._place, query, self._where(filing_ids), limit)

    def rows_of_pages(self, pages: Collection[tuple[str, int]], columns: Sequence[str]) -> pa.Table:
        """Place and ``columns`` of the rows of the given (filing_id, page), ordered by place."""
        where = schema.on_pages(pages)
        if self._table is None or where is None:
            return pa.table({name: [] for name in (*self._place, *columns)})
        committed = self._where({filing_id for filing_id, _ in pages}) if self._stale else None
        both = f"{where} AND {committed}" if committed else where
        table = self._table.to_table(columns=[*self._place, *columns], filter=both)
        return table.sort_by([(name, "ascending") for name in self._place])

    def _where(self, filing_ids: Collection[str] | None) -> str | None:
        return committed_rows(self._revisions, filing_ids, stale=self._stale)


def extension_file(reader: IndexReader, extension: FilingExtension, name: str) -> bytes:
    """One of the ``files`` of an extension that ``open_extension`` accepts."""
    return read_bytes(_file_location(reader.uri, extension, name))


def open_extension(reader: IndexReader, extension: AnyExtension) -> ExtensionTable:
    """The extension of the index that ``reader`` has open.

    Raises IndexMismatchError with the command to run if there is none, it was made with another model, or it lacks
    filings.
    """
    command = f"finray extend --index {reader.uri} --with {extension.made_for}"
    if not _is_recorded(reader.uri, extension):
        raise IndexMismatchError(
            f"the index at {reader.uri!r} has no {extension.name!r} {extension.things}, which retrieval.method = "
            f"{extension.made_for!r} needs; make them with: {command}"
        )
    table, stored, expected = _rows(reader, extension)
    failed = noted_failed(_failed_location(reader.uri, extension))
    expected = {key: rows for key, rows in expected.items() if key not in failed}
    absent = [key for key, rows in expected.items() if stored[key] != rows]
    if extension.words and table is not None and _WORDS not in _search_indexes(table):  # killed before the last step
        absent = list(expected)
    if absent:
        raise IndexMismatchError(
            f"the {extension.name!r} {extension.things} of the index at {reader.uri!r} lack {len(absent)} of "
            f"{len(expected)} filings; add them with: {command}"
        )
    stale = stored.total() != sum(expected.values())
    return ExtensionTable(table, _PLACES[extension.rows], reader.revisions, stale=stale)


def extend_index(
    reader: IndexReader,
    extension: AnyExtension,
    *,
    rebuild: bool = False,
    progress: Callable[[int, int], None] | None = None,
    tables: Tables = in_sequence,
) -> ExtensionSummary:
    """Bring the extension up to date: make the rows of missing filings, drop those that the index no longer has.

    ``progress`` is called with (filings done, filings to do). Raises IndexMismatchError if the extension was made with
    another model, unless ``rebuild``, which starts over.
    """
    started = time.monotonic()
    name = extension.name
    location = _location(reader.uri, f"{name}.lance")
    if not rebuild:
        _is_recorded(reader.uri, extension)
    _, stored, expected = _rows(reader, extension)
    unwanted = [key for key, rows in stored.items() if rebuild or expected.get(key) != rows]
    if unwanted:
        commit(location, partial(_delete, location, unwanted))
    if isinstance(extension, FilingExtension):
        for file, make in extension.files.items():
            if rebuild or not exists(_file_location(reader.uri, extension, file)):
                write_bytes(_file_location(reader.uri, extension, file), make())
    write_bytes(_location(reader.uri, f"{name}.json"), json.dumps(extension.record, indent=1).encode())
    kept = stored.keys() - set(unwanted)
    todo = [key for key, rows in expected.items() if rows and key not in kept]
    done = 0
    costs: dict[str, Cost] = {}
    failed: dict[Key, FailedFiling] = {}
    for batch, filings in _batches(tables(reader, extension, todo) if todo else iter(()), costs, failed):
        keys = sorted(set(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True)))
        commit(location, partial(_add, location, batch), undo=partial(_delete, location, keys))
        done += filings
        if progress is not None:
            progress(done, len(todo))
    commit(location, partial(_finish, location, extension.words))
    note_failed(_failed_location(reader.uri, extension), failed)
    rows = sum(number for key, number in expected.items() if key not in failed)
    return ExtensionSummary(
        name=name,
        filings=len(expected),
        added=len(todo) - len(failed),
        removed=len(unwanted),
        rows=rows,
        seconds=time.monotonic() - started,
        costs=costs,
        failures=tuple(sorted(failed.values(), key=lambda one: one.key)),
    )


def _batches(
    made: Iterator[FilingRows | FailedFiling], costs: dict[str, Cost], failed: dict[Key, FailedFiling]
) -> Iterator[tuple[pa.Table, int]]:
    """Rows to commit together, and the number of their filings. Notes the cost of each filing in ``costs``, and those
    that were set aside in ``failed``."""
    ready: list[pa.Table] = []
    since = time.monotonic()
    for filing in made:
        if isinstance(filing, FailedFiling):
            failed[filing.key] = filing
            continue
        ready.append(filing.rows)
        if filing.cost is not None:
            costs[filing.rows["filing_id"][0].as_py()] = filing.cost
        if sum(t.num_rows for t in ready) >= _COMMIT_ROWS or time.monotonic() - since > _COMMIT_SECONDS:
            yield pa.concat_tables(ready), len(ready)
            ready, since = [], time.monotonic()
    if ready:
        yield pa.concat_tables(ready), len(ready)


def _keyed(rows: pa.Table, key: Key, columns: Mapping[str, pa.Array]) -> pa.Table:
    rows = rows.append_column("revision", pa.array([key[1]] * rows.num_rows, pa.string()))
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows


def _rows(reader: IndexReader, extension: AnyExtension) -> tuple[Any, Counter[Key], dict[Key, int]]:
    """The table, None if there is none yet, and the numbers of rows that it has and should have."""
    table = open_if_any(_location(reader.uri, f"{extension.name}.lance"))
    counts = dict.fromkeys(reader.revisions, 1) if extension.rows == FILINGS else reader.row_counts(extension.rows)
    expected = {(filing_id, revision): counts[filing_id] for filing_id, revision in reader.revisions.items()}
    return table, Counter() if table is None else rows_by_revision(table), expected


def _add(location: str, batch: pa.Table) -> None:
    table = open_if_any(location)
    # An empty table, as a rebuild leaves it, may have the columns of other settings.
    write_rows(location, batch, "create" if table is None else "append" if table.count_rows() else "overwrite")


def _delete(location: str, keys: Sequence[Key]) -> None:
    for some in schema.any_of([schema.is_revision(*key) for key in keys]):
        if (table := open_if_any(location)) is not None:
            table.delete(some)


def _finish(location: str, words: bool) -> None:
    """Compact the table and bring its search indexes up to date."""
    table = open_if_any(location)
    if table is None:
        return
    if len(table.get_fragments()) > _MAX_FRAGMENTS:
        table.optimize.compact_files()
    found = _search_indexes(table)
    if _KEY not in found and table.count_rows():
        table.create_scalar_index("filing_id", "BTREE", name=_KEY)
    if words and _WORDS not in found:
        table.create_scalar_index("text", "INVERTED", name=_WORDS, with_position=False)
    if any(table.stats.index_stats(index)["num_unindexed_rows"] for index in found):
        table.optimize.optimize_indices()


def _search_indexes(table: Any) -> set[str]:
    return {index.name for index in table.describe_indices()}


def _is_recorded(uri: str, extension: AnyExtension) -> bool:
    """Whether the index has the extension. Raises IndexMismatchError if it was made with another model."""
    location = _location(uri, f"{extension.name}.json")
    if not exists(location):
        return False
    try:
        found: dict[str, Any] = json.loads(read_bytes(location))
    except ValueError as error:
        raise IndexMismatchError(f"{location!r} is not the record of an extension: {error}; remove it") from error
    if found != extension.record:
        raise IndexMismatchError(
            f"the {extension.name!r} {extension.things} of the index at {uri!r} were made with "
            f"{found.get('model')}, the present settings are {dict(extension.model)}; use the settings they "
            "were made with, or rebuild them with: "
            f"finray extend --index {uri} --with {extension.made_for} --rebuild"
        )
    return True


def _location(uri: str, file: str) -> str:
    return join(normalize(uri), "extensions", file)


def _failed_location(uri: str, extension: AnyExtension) -> str:
    return _location(uri, f"{extension.name}.failures.json")


def _file_location(uri: str, extension: FilingExtension, file: str) -> str:
    return _location(uri, f"{extension.name}.{file}")
