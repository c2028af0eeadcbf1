"""Compares what syncs of dumps leave behind, for tests."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from finray.edgar.feed import Dump
from finray.edgar.ledger import Ledger
from finray.edgar.run import SyncSummary
from finray.edgar.unpack import UnpackedDump, UnpackJob, unpack_dump


@dataclass
class ShuffledUnpacker:
    """Unpacks all dumps in a random order before the first is taken: whatever may happen at once, in one process."""

    seed: int
    unpacked: int = 0

    def unpack(self, job: UnpackJob, dumps: Iterable[Dump]) -> Iterator[UnpackedDump]:
        numbered = list(enumerate(dumps))
        random.Random(self.seed).shuffle(numbered)
        owners: dict[str, int] = {}

        def unpacked(number: int, dump: Dump) -> UnpackedDump:
            return unpack_dump(number, dump, job, lambda accession: owners.setdefault(accession, number))

        done = {number: unpacked(number, dump) for number, dump in numbered}
        self.unpacked += len(done)
        return iter([done[number] for number in sorted(done)])

    def wait(self, number: int) -> None:
        """All are done."""


def left_by_a_sync(raw: str) -> dict[str, Any]:
    """Files of the store with their content, and rows of the ledger, without the times of the run."""
    files: dict[str, Any] = {}
    for part in ("filings", "deleted"):
        for path in sorted((Path(raw) / part).rglob("*.*")):
            name = str(path.relative_to(raw))
            files[name] = path.read_bytes()
            if path.suffix == ".json":
                files[name] = {key: value for key, value in json.loads(files[name]).items() if key != "fetched_at"}
    ledger = Ledger(str(Path(raw) / "ledger"), read_only=True)
    entries = {entry.listed.accession: entry for entry in ledger.entries()}
    reads = {key: {**asdict(read), "at": None} for key, read in ledger._indexes.items()}
    return {"files": files, "entries": entries, "reads": reads}


def counts(summary: SyncSummary) -> dict[str, Any]:
    return {name: value for name, value in asdict(summary).items() if name not in ("seconds", "requests", "pauses")}
