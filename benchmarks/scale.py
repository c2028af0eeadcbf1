"""Document routing over an index of LOFin's size: cost of opening, speed and accuracy of finding the filing.

    python benchmarks/scale.py --index FOLDER [--filings 145897] [--companies 516] [--questions 600] [--routes FILE]
    python benchmarks/scale.py --job FOLDER [--sizes 1000,10000,100000] [--questions 1000]

The second command measures the whole index job from files on, and bulk answering, instead (rehearsal.py). The first:
if FOLDER has no index yet, writes fictional filings (cover facts, a vector, one short page each) as a real index. Then
opens it in a separate process, to measure the memory of only the reader. It does not measure text search over the pages
of as many real filings, which have about 170 each (docs/benchmarks.md extrapolates from measured stages).
``--routes`` writes filings, scores and reasons for each question as JSON lines, to compare two versions of finray.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import json
import multiprocessing
import os
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
from rehearsal import rehearse
from scale_corpus import NO_COMPANY, Corpus, ScaleQuestion, cover_page, make_corpus, make_questions

from finray.core.journal import Journal
from finray.core.settings import Settings, load_settings
from finray.filings.cover.summary import cover_summary
from finray.index import layout, schema
from finray.index.reading.reader import IndexReader
from finray.index.tables import maintenance
from finray.index.writing.writer import IndexWriter
from finray.models.hash_encoder import HashEncoder
from finray.question.companies.catalog import CompanyCatalog
from finray.question.rule_reader import RuleReader
from finray.retrieval.documents import StructuredDocuments

DIMENSION = 384
_ROWS_AT_ONCE = 20_000
_NOW = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)


def settings() -> Settings:
    return load_settings(overrides={"encoder.model": "hash"}, environment={})


def build(uri: str, filings: int, companies: int) -> None:
    """Build the index of the corpus at ``uri``. Writes filings last, so that a killed run leaves an incomplete
    index."""
    started = time.perf_counter()
    corpus = make_corpus(filings, companies)
    IndexWriter(uri, settings(), DIMENSION)
    encoder = HashEncoder(DIMENSION)
    for name, rows in ((schema.PAGES, _pages), (schema.FILINGS, _filings)):
        lance.write_dataset(
            pa.RecordBatchReader.from_batches(schema.table_schemas(DIMENSION)[name], rows(corpus, encoder)),
            layout.table_uri(uri, name),
            mode="overwrite",
        )
    maintenance.tidy(uri, settings().index)
    print(f"{len(corpus.filings):,} filings of {companies} companies written in {time.perf_counter() - started:.0f} s")


def _filings(corpus: Corpus, encoder: HashEncoder) -> Iterator[pa.RecordBatch]:
    for some in _batches(corpus.filings):
        summaries = [cover_summary(filing) for filing in some]
        rows = [
            {
                **schema.filing_row(filing),
                "revision": filing.content_sha256,
                "source_modified": _NOW,
                "n_pages": 1,
                "n_chunks": 0,
                "n_tables": 0,
                "n_facts": 0,
                "status": "indexed",
                "indexed_at": _NOW,
                "summary": summary,
                "vector": vector,
            }
            for filing, summary, vector in zip(some, summaries, encoder.encode_passages(summaries), strict=True)
        ]
        yield from pa.Table.from_pylist(rows, schema.table_schemas(DIMENSION)[schema.FILINGS]).to_batches()


def _pages(corpus: Corpus, encoder: HashEncoder) -> Iterator[pa.RecordBatch]:
    for some in _batches(corpus.filings):
        texts = [cover_page(filing) for filing in some]
        rows = [
            {
                "filing_id": filing.filing_id,
                "revision": filing.content_sha256,
                "page": 0,
                "text": text,
                "place": "cover",
                "headings": "",
                "vector": vector,
            }
            for filing, text, vector in zip(some, texts, encoder.encode_passages(texts), strict=True)
        ]
        yield from pa.Table.from_pylist(rows, schema.table_schemas(DIMENSION)[schema.PAGES]).to_batches()


def _batches(filings: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (filings[start : start + _ROWS_AT_ONCE] for start in range(0, len(filings), _ROWS_AT_ONCE))


def measure(uri: str, filings: int, companies: int, questions: int, routes: str) -> None:
    """Print the cost of opening and routing. A child process regenerates the corpus for its questions."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        asked, years = pool.apply(_questions, (filings, companies, questions))
    empty = _rss_mb()
    print("\n| step | seconds | RSS MB above an empty process |\n|---|---:|---:|")
    reader = _step("open the tables", empty, lambda: IndexReader.open(uri))
    found = _step("read the filings table", empty, reader.filings)
    catalog = _step(f"company catalog ({companies} companies)", empty, lambda: CompanyCatalog(found))
    encoder = HashEncoder(DIMENSION)
    documents = _step("document router", empty, lambda: StructuredDocuments(reader, encoder, catalog))
    reader = RuleReader(catalog)
    print(
        f"\n{len(found):,} filings, {len(catalog.companies):,} companies in the catalog; peak RSS {_peak_mb():,.0f} MB"
    )

    written = []

    async def route(question: str) -> tuple[list[str], float, float]:
        journal = Journal(None)
        started = time.perf_counter()
        query = await reader.read(question, journal)
        understood = time.perf_counter()
        chosen = await documents.documents(query, 5, journal)
        written.append([question, [[d.filing.filing_id, d.score, d.reasons] for d in chosen]])
        return [d.filing.filing_id for d in chosen], understood - started, time.perf_counter() - understood

    print("\n| questions | n | right filing at 1 | among 5 | understand p50 ms | p95 | route p50 ms | p95 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    by_kind: dict[str, list[ScaleQuestion]] = defaultdict(list)
    for question in asked:
        by_kind[question.kind].append(question)
    by_kind["no company"] = [ScaleQuestion("no company", q.format(year=y), None) for y in years for q in NO_COMPANY]
    missed = []
    for kind, some in by_kind.items():
        asyncio.run(route(some[0].text))  # warm-up
        results = [asyncio.run(route(question.text)) for question in some]
        first = sum(found[:1] == [q.gold] for q, (found, _, _) in zip(some, results, strict=True))
        five = sum(q.gold in found for q, (found, _, _) in zip(some, results, strict=True))
        missed += [q for q, (found, _, _) in zip(some, results, strict=True) if q.gold and found[:1] != [q.gold]]
        share = [f"{n / len(some):.3f}" if some[0].gold else "" for n in (first, five)]
        times = [
            f"{1000 * float(np.quantile([r[column] for r in results], q)):.1f}"
            for column in (1, 2)
            for q in (0.5, 0.95)
        ]
        print(f"| {kind} | {len(some)} | " + " | ".join((*share, *times)) + " |")
    for question in missed[:10]:
        print(f"missed: {question.text} (gold {question.gold})")
    print(f"\nafter the questions: RSS {_rss_mb() - empty:,.0f} MB above an empty process, peak {_peak_mb():,.0f} MB")
    if routes:
        Path(routes).write_text("".join(json.dumps(one) + "\n" for one in written), encoding="utf-8")
    print("\n| table | MB on disk | bytes a filing |\n|---|---:|---:|")
    for name in (schema.FILINGS, schema.PAGES):
        size = sum(p.stat().st_size for p in Path(layout.table_uri(uri, name)).rglob("*") if p.is_file())
        print(f"| {name} | {size / 2**20:,.0f} | {size / len(found):,.0f} |")


def _questions(filings: int, companies: int, count: int) -> tuple[tuple[ScaleQuestion, ...], list[int]]:
    corpus = make_corpus(filings, companies)
    return make_questions(corpus, count), sorted({f.fiscal_year for f in corpus.filings if f.fiscal_year})[-10:]


def _step(name: str, empty: float, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    result = work()
    print(f"| {name} | {time.perf_counter() - started:.2f} | {_rss_mb() - empty:,.0f} |", flush=True)
    return result


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--index", help="folder of the index; created if missing")
    where.add_argument("--job", type=Path, metavar="FOLDER", help="folder of files and indexes of the whole job")
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of filings, with --job")
    parser.add_argument("--filings", type=int, default=145_897)
    parser.add_argument("--companies", type=int, default=516)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--routes", default="", help="write the filings found for each question to this file")
    arguments = parser.parse_args()
    if arguments.job:
        rehearse(arguments.job, [int(size) for size in arguments.sizes.split(",")], arguments.questions)
        return
    size = (arguments.filings, arguments.companies)
    made = Path(arguments.index, "scale.json")
    if not made.exists():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pool.apply(build, (arguments.index, *size))
        made.write_text(json.dumps(size), encoding="utf-8")
    if tuple(json.loads(made.read_text(encoding="utf-8"))) != size:
        parser.error(f"{arguments.index} holds {made.read_text(encoding='utf-8')} filings and companies, not {size}")
    measure(arguments.index, *size, arguments.questions, arguments.routes)


if __name__ == "__main__":
    main()
