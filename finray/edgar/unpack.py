"""Unpacks one dump, possibly in another process, while others are unpacked too.

A worker reads a dump and stores what is plainly new. Its results go to the one process that holds the ledger, which
takes the dumps in their order, as if it had read them itself (``finray.edgar.dumps``). Whatever depends on that order
is left to it: corrections, deletions, and filings that several dumps deliver. To tell these, workers claim each
accession number before they store it; only the first to claim one stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pyarrow as pa

from finray.core.errors import EdgarUnavailableError, SourceError
from finray.core.sorted_keys import SortedKeys
from finray.edgar import feed
from finray.edgar.fetch import raw_filing
from finray.edgar.ledger import SETTLED, Entry, relisted
from finray.edgar.run import Run
from finray.edgar.selection import Selection
from finray.edgar.store import RawFiling, RawStore
from finray.edgar.submissions import Header, check_submission

Claim = Callable[[str], int]
"""Claims an accession number; returns the number of the dump that was first."""
_SENT_BYTES = 32 * 1024**2
"""Limit for content that travels with the results of one dump; beyond it, the dump is read again."""


@dataclass(frozen=True, slots=True)
class UnpackJob:
    """What a worker must know. ``settled`` are the accession numbers that the ledger has as done or deleted,
    ``unsettled`` its other entries by accession number."""

    store_uri: str
    selection: Selection
    max_bytes: int
    dry_run: bool
    settled: SortedKeys
    unsettled: Mapping[str, Entry]

    @classmethod
    def of(cls, run: Run) -> UnpackJob:
        known = {entry.listed.accession: entry for entry in run.ledger.entries()}
        settled = sorted(accession for accession, entry in known.items() if entry.state in SETTLED)
        unsettled = {accession: entry for accession, entry in known.items() if entry.state not in SETTLED}
        keys = SortedKeys(pa.array(settled, pa.string()))
        return cls(run.store.uri, run.selection, run.settings.max_bytes, run.dry_run, keys, unsettled)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """One submission that is wanted, or a notice. ``position`` counts the submissions of its dump; ``owner`` is the
    number of the dump that claimed it first. ``stored`` is its record if this worker has stored it, or found it
    stored (``adopted``). ``content`` is there for some of the others."""

    position: int
    source: str
    header: Header
    size: int
    owner: int
    stored: RawFiling | None = None
    adopted: bool = False
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class UnpackedDump:
    """``unwanted`` counts submissions that are not in ``submissions``. ``problem`` is why the rest of the dump could
    not be read, or empty."""

    number: int
    dump: feed.Dump
    submissions: tuple[Unpacked, ...] = ()
    unwanted: int = 0
    problem: str = ""


class Unpacker(Protocol):
    """Unpacks several dumps at a time."""

    def unpack(self, job: UnpackJob, dumps: Iterable[feed.Dump]) -> Iterator[UnpackedDump]:
        """The result of each dump, in the order of ``dumps``; their numbers count from 0. A dump that kills its worker
        is a result with a problem."""
        ...

    def wait(self, number: int) -> None:
        """Return once nobody works on the dump with this number."""
        ...


def unpack_dump(number: int, dump: feed.Dump, job: UnpackJob, claim: Claim) -> UnpackedDump:
    """Store the new filings of one dump, and note all that is wanted."""
    worker = _Worker(number, job, claim, RawStore(job.store_uri))
    found: list[Unpacked] = []
    position, problem = -1, ""
    try:
        for position, delivered in enumerate(feed.read_dump(dump, job.max_bytes)):
            if (one := worker.unpacked(position, delivered)) is not None:
                found.append(one)
    except (EdgarUnavailableError, SourceError) as error:
        problem = str(error)
    return UnpackedDump(number, dump, tuple(found), position + 1 - len(found), problem)


class _Worker:
    """Unpacks the submissions of one dump, in their order."""

    def __init__(self, number: int, job: UnpackJob, claim: Claim, store: RawStore) -> None:
        self._number = number
        self._job = job
        self._claim = claim
        self._store = store
        self._seen: set[str] = set()
        self._left_to_send = _SENT_BYTES

    def unpacked(self, position: int, delivered: feed.Delivered) -> Unpacked | None:
        """Stores the submission if it is plainly new; None if it is not wanted."""
        header, job = delivered.header, self._job
        outcome = partial(Unpacked, position, delivered.source, header, delivered.size)
        filing = feed.listed(header)
        if header.kind == "deletion":
            owner = self._claim(header.accession) if header.accession else self._number
            self._seen.add(header.accession or "")
            return outcome(owner)
        if filing is None:
            return outcome(self._number)
        if not (job.selection.wants(filing) and job.selection.covers(filing.filed_at)):
            return None
        accession, content = filing.accession, delivered.content
        owner = self._claim(accession)
        first = accession not in self._seen
        self._seen.add(accession)
        if job.dry_run or content is None or (header.kind != "correction" and accession in job.settled):
            return outcome(owner)
        if owner != self._number or not first or header.kind == "correction":
            return outcome(owner, content=self._sent(content))
        try:
            check_submission(content)
            raw = raw_filing(relisted(job.unsettled.get(accession), filing), content, delivered.source)
        except EdgarUnavailableError:
            return outcome(owner, content=self._sent(content))
        kept = self._store.get(accession)
        adopted = kept is not None and kept.sha256 == raw.sha256
        if not adopted:
            self._store.put(raw, content)
        return outcome(owner, stored=raw, adopted=adopted)

    def _sent(self, content: bytes) -> bytes | None:
        if len(content) > self._left_to_send:
            return None
        self._left_to_send -= len(content)
        return content


class Contents:
    """The submissions of an unpacked dump with their contents, asked for in order."""

    def __init__(self, found: UnpackedDump, max_bytes: int) -> None:
        self._again = enumerate(feed.read_dump(found.dump, max_bytes))
        self._max_bytes = max_bytes

    def of(self, one: Unpacked) -> feed.Delivered:
        """Reads the dump again if the content was not sent. Raises EdgarUnavailableError, SourceError."""
        if one.content is not None or one.size > self._max_bytes:
            return feed.Delivered(one.source, one.header, one.content, one.size)
        for position, delivered in self._again:
            if position == one.position:
                return delivered
        raise EdgarUnavailableError(f"{one.source}: is no longer there; the dump was changed meanwhile")
