"""What an index job has to do: which files are new or changed, told by content.

* A file whose content is unchanged since it was indexed, or since it failed, needs nothing. * One content
under several names is one filing, named after the first name in URI order; later names are kept
  as ``duplicate`` sources.
* Several contents that carry one filing id (the same filing as HTML and as full submission, say) are one
filing:
  the newest file wins, and of two of the same age the one whose URI sorts last. The others are ``superseded``
  sources. A changed file always replaces what it held before.
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
    """A file to index. ``fingerprint`` identifies its content; empty where it could not be read to tell.
    ``copies`` are files with the same content."""

    file: SourceFile
    fingerprint: str
    copies: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A row of ``sources``: what became of a file. ``filing_id`` is None where it failed."""

    fingerprint: str
    content_sha256: str
    filing_id: str | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CommittedFiling:
    """What decides whether a filing stays or is replaced."""

    revision: str
    content_sha256: str
    source_uri: str
    rank: tuple[float, str]
    """(modification time, source URI): of two contents for one filing id the larger wins."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``skipped`` counts files without work by cause; ``copies`` are new names of indexed content; ``listed``
    are the URIs of all files, ``displaced`` the ids of filings whose file has changed."""

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
    """Compare ``files`` with what the index holds. Local files are read to tell their content, S3 objects are
    told by their ETag."""
    fingerprints = dict(zip((file.uri for file in files), _fingerprints(files), strict=True))
    alive = _not_displaced(fingerprints, sources, filings, retry_failed=retry_failed)
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
    return Plan(
        todo=todo,
        listed=frozenset(fingerprints),
        displaced=frozenset(filings.keys() - alive),
        skipped=skipped,
        copies=tuple(copies),
    )


def content_fingerprint(content_sha256: str) -> str:
    return f"sha256:{content_sha256}"


def _not_displaced(
    fingerprints: Mapping[str, str],
    sources: Mapping[str, KnownSource],
    filings: Mapping[str, CommittedFiling],
    *,
    retry_failed: bool,
) -> set[str]:
    """Filing ids that will stay. The filing of a file that has changed gives way; copies of it take its
    place."""
    displaced = set()
    for filing_id, filing in filings.items():
        fingerprint = fingerprints.get(filing.source_uri, "")
        known = sources.get(filing.source_uri)
        same = known is not None and known.fingerprint == fingerprint
        unchanged = same and known is not None and known.content_sha256 == filing.content_sha256
        failed = same and known is not None and known.outcome == "failed" and not retry_failed
        if fingerprint not in ("", content_fingerprint(filing.content_sha256)) and not unchanged and not failed:
            displaced.add(filing_id)
    return filings.keys() - displaced


def _indexed_content(
    sources: Mapping[str, KnownSource], filings: Mapping[str, CommittedFiling], alive: set[str]
) -> dict[str, tuple[str, str]]:
    """Fingerprint -> (filing id, SHA-256) of content that is in the index or was superseded there."""
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


def _fingerprints(files: Sequence[SourceFile]) -> list[str]:
    with ThreadPoolExecutor(_HASHING_THREADS) as pool:
        return list(pool.map(_fingerprint, files))


def _fingerprint(file: SourceFile) -> str:
    if file.etag is not None:
        return f"etag:{file.etag}:{file.size}"
    try:
        with Path(file.uri).open("rb") as content:
            return content_fingerprint(hashlib.file_digest(content, "sha256").hexdigest())
    except OSError:
        return ""  # the read stage meets the same error and turns it into a failure
