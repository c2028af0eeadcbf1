"""The stages of indexing one file, as plain functions: read, parse (with chunking), embed.

``finray/index/in_process.py`` runs them in sequence, ``finray/cluster/index_job.py`` on a cluster.
"""

from __future__ import annotations

import hashlib
import resource
import time
from dataclasses import dataclass, field, replace

from finray.core.errors import FilingError, SourceError
from finray.core.settings import FilingSettings
from finray.index import bundle as bundles
from finray.index.parser_process import ParserProcess
from finray.models.encoder import Encoder
from finray.storage.locations import read_bytes


@dataclass(frozen=True, slots=True)
class StagedFiling:
    """A file on its way to the committer: the bytes of its bundle, or the error that set it aside.

    ``content_sha256`` is None if the file could not be read. ``seconds`` is by stage, ``peak_rss_bytes`` the peak
    resident memory of each process that worked on it, by "host:pid:role".
    """

    source_uri: str
    content_sha256: str | None
    bundle: bytes | None
    error: FilingError | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    peak_rss_bytes: dict[str, int] = field(default_factory=dict)


def read_and_parse(uri: str, size: int, parser: ParserProcess, settings: FilingSettings, who: str) -> StagedFiling:
    """Read a file of ``size`` bytes and parse it. Problems of the file are returned, not raised."""
    started = time.monotonic()
    try:
        if size > settings.max_bytes:
            raise FilingError(
                "read", "too_large", f"{size:,} bytes are over filings.max_bytes = {settings.max_bytes:,}"
            )
        content = read_bytes(uri)
    except SourceError as error:
        return StagedFiling(uri, None, None, FilingError("read", "unreadable", str(error)))
    except FilingError as error:
        return StagedFiling(uri, None, None, error)
    sha256 = hashlib.sha256(content).hexdigest()
    seconds = {"read": time.monotonic() - started}
    try:
        parsed = parser.parse(content, uri)
    except FilingError as error:
        seconds["parse"] = time.monotonic() - started - seconds["read"]
        return StagedFiling(uri, sha256, None, error, seconds, {f"{who}:read": own_peak_rss()})
    seconds["parse"] = parsed.seconds
    memory = {f"{who}:read": own_peak_rss(), f"{who}:parse": parsed.peak_rss_bytes}
    return StagedFiling(uri, sha256, parsed.bundle, None, seconds, memory)


def embed(staged: StagedFiling, encoder: Encoder, who: str) -> StagedFiling:
    """Add vectors to the bundle of a parsed filing; a filing that was set aside passes through."""
    if staged.bundle is None:
        return staged
    started = time.monotonic()
    content = bundles.to_bytes(bundles.encode_bundle(bundles.from_bytes(staged.bundle), encoder))
    return replace(
        staged,
        bundle=content,
        seconds={**staged.seconds, "embed": time.monotonic() - started},
        peak_rss_bytes={**staged.peak_rss_bytes, f"{who}:embed": own_peak_rss()},
    )


def own_peak_rss() -> int:
    """Peak resident memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
