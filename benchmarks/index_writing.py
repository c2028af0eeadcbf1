"""What the driver of an index job does for a million chunks, and how that grows with the number of fragments.

    python benchmarks/index_writing.py [--filings 200] [--fragments 500,1000,2000,4000]

Writes generated filings (100 pages, 300 chunks of random words, random vectors of 384 dimensions) as workers do, and
commits them as the driver does, all in this process, which times each part by who would run it on a cluster.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from finray.core.filing import Filing, LineItem, Page, ParsedFiling
from finray.core.settings import Settings, load_settings
from finray.index import schema
from finray.index.writing.bundle import FilingBundle, make_bundle, page_vectors
from finray.index.writing.fragments import write_filings
from finray.index.writing.plan import PlannedFile, content_fingerprint
from finray.index.writing.writer import IndexWriter
from finray.storage.locations import SourceFile

T = TypeVar("T")
DIMENSION = 384
FILINGS_PER_WRITE = 32
_PAGES = 100
_FACTS = 500
_WORDS_PER_PAGE = 400
_NOW = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
_RANDOM = np.random.default_rng(0)
_WORDS = np.array([f"w{number}" for number in range(3000)])


class Clock:
    """Seconds by part. Those of an inner part do not count for the outer one."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner = [0.0]

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        started = time.perf_counter()
        self._inner.append(0.0)
        yield
        spent = time.perf_counter() - started
        self.seconds[part] += spent - self._inner.pop()
        self._inner[-1] += spent

    def run(self, upkeep: Callable[[], object]) -> None:
        with self.of("upkeep"):
            upkeep()


def settings(write_rows: int) -> Settings:
    return load_settings(overrides={"encoder.model": "hash", "index.write_rows": write_rows}, environment={})


def filing(number: int, pages: int) -> tuple[PlannedFile, FilingBundle]:
    sha256 = hashlib.sha256(str(number).encode()).hexdigest()
    filing_id, uri = f"{number:020}", f"/filings/{number}.htm"
    cover = Filing(filing_id, filing_id, uri, sha256, company="Quillfern Corp", form="10-K", fiscal_year=2023)
    texts = (" ".join(_RANDOM.choice(_WORDS, _WORDS_PER_PAGE if pages > 1 else 5)) for _ in range(pages))
    end = dt.date(2023, 12, 31)
    items = tuple(
        LineItem(row % pages, "income", f"Revenue {row}", 5e6, "5", "USD", 10**6, end, 12)
        for row in range(_FACTS if pages > 1 else 1)
    )
    parsed = ParsedFiling(cover, tuple(Page(page, text) for page, text in enumerate(texts)), items)
    bundle = make_bundle(parsed, settings(1).chunks)
    vectors = _RANDOM.standard_normal((bundle.chunks.num_rows, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    by_page = page_vectors(bundle.pages["page"].to_numpy(), bundle.chunks["page"].to_numpy(), vectors, DIMENSION)
    encoded = replace(
        bundle,
        vector=vectors[0],
        pages=bundle.pages.append_column("vector", schema.vectors_array(by_page, DIMENSION)),
        chunks=bundle.chunks.append_column("vector", schema.vectors_array(vectors, DIMENSION)),
    )
    return PlannedFile(SourceFile(uri, 1, _NOW), content_fingerprint(sha256)), encoded


def index(uri: str, write_rows: int, filings: int, pages: int, per_write: int) -> tuple[Clock, int]:
    """Seconds by part, and the number of chunks."""
    clock, chunks = Clock(), 0
    writer = IndexWriter(uri, settings(write_rows), DIMENSION)
    for start in range(0, filings, per_write):
        some = [filing(number, pages) for number in range(start, min(filings, start + per_write))]
        chunks += sum(bundle.chunks.num_rows for _, bundle in some)
        with clock.of("write"):
            written = write_filings(writer.target, [(bundle, planned.file.modified) for planned, bundle in some])
        with clock.of("commit"):
            writer.add({planned.file.uri: planned for planned, _ in some}, written)
    with clock.of("commit"):
        writer.flush()
    with clock.of("finish"):
        writer.finish(clock.run)
    return clock, chunks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filings", type=int, default=200)
    parser.add_argument("--fragments", default="500,1000,2000,4000")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        uri = str(Path(folder, "whole"))
        clock, chunks = index(uri, 20_000, arguments.filings, _PAGES, FILINGS_PER_WRITE)
        print(f"{arguments.filings} filings, {chunks:,} chunks; seconds for a million chunks\n")
        print("| part | runs on | seconds |\n|---|---|---:|")
        places = {
            "write": ("data files and digests", "workers"),
            "upkeep": ("compaction, search indexes, checksums", "workers"),
            "commit": ("commits", "driver"),
            "finish": ("what is left of the writer it overtook", "driver"),
        }
        for part, (name, place) in places.items():
            print(f"| {name} | {place} | {clock.seconds[part] / chunks * 1e6:.1f} |")
        driver = (clock.seconds["commit"] + clock.seconds["finish"]) / chunks * 1e6
        print(f"\ndriver: {driver:.1f} s for a million chunks")
        print("\n| fragments of a table | seconds of all commits | ms a fragment |\n|---:|---:|---:|")
        for fragments in map(int, arguments.fragments.split(",")):
            clock, _ = index(str(Path(folder, str(fragments))), 1, fragments, 1, 1)
            seconds = clock.seconds["commit"]
            print(f"| {fragments:,} | {seconds:.1f} | {1000 * seconds / fragments:.1f} |", flush=True)


if __name__ == "__main__":
    main()
