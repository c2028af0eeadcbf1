"""Plans the work of an index job: which files are new or changed, by content.

* A file needs no work if its content is unchanged since it was indexed or failed.
* The same content under several names is one filing, with the first name in URI order; the others are ``duplicate``
  sources.
* Several contents with one filing id (say, a filing as HTML and as full submission) are one filing. The newest file
  wins, or the last in URI order if they are of the same age; the others are ``superseded`` sources. A changed file
  always replaces its former content.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from finray.storage.locations import SourceFile

Outcome = Literal["indexed", "duplicate", "superseded", "failed"]
_HASHING_THREADS = 4


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file to index. ``fingerprint`` identifies its content, "" if it could not be read; ``copies`` have the same
    content."""

    file: SourceFile
    fingerprint: str
    copies: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A row of ``sources``: the outcome of a file. ``filing_id`` is None if it failed."""

    fingerprint: str
    content_sha256: str
    filing_id: str | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CommittedFiling:
    """What decides whether another content replaces a filing of the index."""

    revision: str
    content_sha256: str
    source_uri: str
    rank: tuple[float, str]
    """(modification time, source URI): the larger of two contents with one filing id wins."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``skipped`` counts files without work by cause; ``copies`` are new names of indexed content; ``listed`` are the
    URIs of all files, ``displaced`` the ids of filings whose file has changed."""

    todo: tuple[PlannedFile, ...]
    listed: frozenset[str] = frozenset()
    displaced: frozenset[str] = frozenset()
    skipped: Mapping[str, int] = field(default_factory=dict)
    copies: tuple[tuple[SourceFile, KnownSource], ...] = ()


def make_plan(
    files: Sequence[SourceFile],
    sources: Mapping[str, KnownSource],
    filings: Mapping[str, CommittedFiling],
    *,
    retry_failed: bool = False,
) -> Plan:
    """Compare ``files`` with the index, by SHA-256 of local files and ETag of S3 objects."""
    with ThreadPoolExecutor(_HASHING_THREADS) as pool:
        fingerprints = dict(zip((file.uri for file in files), pool.map(_fingerprint, files), strict=True))
    displaced = {
        filing_id
        for filing_id, filing in filings.items()
        if _is_displaced(
            filing, fingerprints.get(filing.source_uri, ""), sources.get(filing.source_uri), retry_failed=retry_failed
        )
    }
    alive = filings.keys() - displaced
    indexed = _indexed_content(sources, filings, alive)
    skipped: Counter[str] = Counter()
    copies = []
    groups: dict[str, list[SourceFile]] = {}
    for file in files:
        fingerprint = fingerprints[file.uri]
        known = sources.get(file.uri)
        if known is not None and known.fingerprint == fingerprint and known.filing_id in alive:
            skipped["unchanged"] += 1
        elif fingerprint in indexed:
            skipped["duplicate"] += 1
            filing_id, sha256 = indexed[fingerprint]
            own = filings[filing_id].source_uri == file.uri
            outcome: Outcome = "indexed" if own else "duplicate"
            copies.append((file, KnownSource(fingerprint, sha256, filing_id, outcome)))
        elif known is not None and known.outcome == "failed" and known.fingerprint == fingerprint and not retry_failed:
            skipped["failed before"] += 1
        else:
            groups.setdefault(fingerprint or file.uri, []).append(file)
    todo = tuple(PlannedFile(group[0], fingerprints[group[0].uri], tuple(group[1:])) for group in groups.values())
    return Plan(todo, frozenset(fingerprints), frozenset(displaced), skipped, tuple(copies))


def content_fingerprint(content_sha256: str) -> str:
    return f"sha256:{content_sha256}"


def _is_displaced(filing: CommittedFiling, fingerprint: str, known: KnownSource | None, *, retry_failed: bool) -> bool:
    """Whether the file of a filing has changed since, so that a copy of the indexed content takes its place."""
    if fingerprint in ("", content_fingerprint(filing.content_sha256)):
        return False
    if known is None or known.fingerprint != fingerprint:
        return True
    return known.content_sha256 != filing.content_sha256 and (retry_failed or known.outcome != "failed")


def _indexed_content(
    sources: Mapping[str, KnownSource], filings: Mapping[str, CommittedFiling], alive: set[str]
) -> dict[str, tuple[str, str]]:
    """(filing id, SHA-256) by fingerprint of content that is in the index or was superseded there."""
    found = {
        known.fingerprint: (known.filing_id, known.content_sha256)
        for known in sources.values()
        if known.filing_id is not None and known.filing_id in alive
    }
    for filing_id, filing in filings.items():
        if filing_id in alive:
            found[content_fingerprint(filing.content_sha256)] = (filing_id, filing.content_sha256)
    found.pop("", None)
    return found


def _fingerprint(file: SourceFile) -> str:
    if file.etag is not None:
        return f"etag:{file.etag}:{file.size}"
    try:
        with Path(file.uri).open("rb") as content:
            return content_fingerprint(hashlib.file_digest(content, "sha256").hexdigest())
    except OSError:
        return ""  # the read stage reports the error
