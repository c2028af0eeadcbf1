"""Damages stored files as disks and people do: flips bytes, truncates, empties or deletes files.

    random = Random(7)
    hit = damage(pick(stored_files(index), random, part="data", table="chunks"), "flip", random)

Recognizes the files of an index (``index.json`` and Lance tables) and of a raw store with its ledger; any other file is
"other". Local folders only. The same seed on the same files does the same damage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal, get_args

import lance

How = Literal["flip", "truncate", "empty", "delete"]
Part = Literal[
    "record",  # index.json
    "data",  # rows of a table
    "deletion",  # which rows of a data file are deleted
    "search_index",
    "manifest",  # the files of one version of a table
    "hint",  # the newest version, as a shortcut
    "transaction",
    "raw",  # a filing as fetched from EDGAR
    "raw_mark",  # the .json beside it
    "other",  # a predictions file, an answer cache ...
]
HOWS: Final[tuple[How, ...]] = get_args(How)
PARTS: Final[tuple[Part, ...]] = get_args(Part)
_OF_A_TABLE: Final[dict[str, Part]] = {
    "data": "data",
    "_deletions": "deletion",
    "_indices": "search_index",
    "_versions": "manifest",
    "_transactions": "transaction",
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """``table`` is its Lance table ("chunks"), or "". ``live`` is False if only old versions of the table need it, so
    that nothing reads it."""

    path: Path
    part: Part
    table: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True)
class Damage:
    file: StoredFile
    how: How
    detail: str

    def __str__(self) -> str:
        old = "" if self.file.live else " (of an old version)"
        return f"{self.file.table} {self.file.part}{old} {self.file.path.name}: {self.detail}".strip()


def stored_files(folder: Path) -> list[StoredFile]:
    """Every file under ``folder``, by path. Call it before the first damage: it opens tables to find live files."""
    live = {table: _live(table) for table in sorted(folder.rglob("*.lance")) if table.is_dir()}
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [_stored(path, live) for path in paths]


def pick(
    files: Sequence[StoredFile], random: Random, *, part: Part | None = None, table: str | None = None
) -> StoredFile:
    """One of the live ``files``, optionally of a part and a table. Raises LookupError if there is none."""
    some = [f for f in files if f.live and part in (None, f.part) and table in (None, f.table)]
    if not some:
        raise LookupError(f"no live file of part {part!r} and table {table!r}")
    return random.choice(some)


def damage(file: StoredFile, how: How, random: Random, *, count: int = 1) -> Damage:
    """Damage ``file``. ``flip`` changes ``count`` random bytes, ``truncate`` keeps a random prefix. Raises ValueError
    for an empty file."""
    size = file.path.stat().st_size
    if not size:
        raise ValueError(f"{file.path}: already empty")
    if how == "delete":
        file.path.unlink()
        return Damage(file, how, "deleted")
    if how == "empty":
        file.path.write_bytes(b"")
        return Damage(file, how, "emptied")
    if how == "truncate":
        kept = random.randrange(1, size) if size > 1 else 0
        with file.path.open("r+b") as stream:
            stream.truncate(kept)
        return Damage(file, how, f"cut to {kept} of {size} bytes")
    content = bytearray(file.path.read_bytes())
    places = sorted(random.sample(range(size), min(count, size)))
    for place in places:
        content[place] ^= random.randrange(1, 256)
    file.path.write_bytes(content)
    return Damage(file, how, f"other bytes at {', '.join(map(str, places))} of {size}")


def _stored(path: Path, tables: dict[Path, set[str]]) -> StoredFile:
    for table, live in tables.items():
        if path.is_relative_to(table):
            part = _OF_A_TABLE.get(path.relative_to(table).parts[0], "other")
            if path.name == "latest_version_hint.json":
                part = "hint"
            name = path.relative_to(table).parts[1] if part == "search_index" else path.name
            return StoredFile(path, part, table.stem, part == "hint" or name in live)
    if path.name == "index.json":
        return StoredFile(path, "record")
    # accession numbers: 0000320193-24-000123
    if path.stem.count("-") == 2 and "filings" in path.parts and path.suffix in (".txt", ".json"):
        return StoredFile(path, "raw" if path.suffix == ".txt" else "raw_mark")
    return StoredFile(path, "other")


def _live(table: Path) -> set[str]:
    """The names of the files in the newest version of a table; for search indexes, the names of their folders."""
    dataset = lance.dataset(str(table))
    names = {max((table / "_versions").glob("*.manifest"), key=_version).name}
    for fragment in dataset.get_fragments():
        names |= {Path(file.path).name for file in fragment.data_files()}
        if (deletions := fragment.deletion_file()) is not None:
            names.add(Path(deletions).name)
    return names | {str(segment.uuid) for index in dataset.describe_indices() for segment in index.segments}


def _version(manifest: Path) -> int:
    """Lance numbers manifests down from 2**64 - 1, to list the newest first, or up in another scheme."""
    number = int(manifest.stem.rpartition("-")[2])
    return 2**64 - 1 - number if number > 2**63 else number
