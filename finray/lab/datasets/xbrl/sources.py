"""Reads tagged filings from folders, globs, files and ``s3://``, and reports the other files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.lab.datasets.xbrl.tagged import TaggedFiling, read_tagged_filing
from finray.storage.locations import list_sources, read_bytes


@dataclass(frozen=True, slots=True)
class ReadFilings:
    """``tagged`` are filings with visible facts, ``untagged`` the URIs of filings without any, ``failures`` (URI,
    reason)."""

    tagged: tuple[TaggedFiling, ...]
    untagged: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]


def read_filings(
    sources: Sequence[str], settings: FilingSettings, progress: Callable[[int, int], None] | None = None
) -> ReadFilings:
    """Read every file of ``sources`` once. If two have the same filing id, the first by URI counts.

    Keeps the text of all tagged filings in memory, about 1 MB each. Raises SourceError if a source cannot be listed or
    read.
    """
    files = list_sources(sources).files
    tagged: dict[str, TaggedFiling] = {}
    untagged, failures = [], []
    for number, file in enumerate(files, start=1):
        try:
            filing = read_tagged_filing(read_bytes(file.uri), file.uri, settings)
        except FilingError as error:
            failures.append((file.uri, str(error)))
        else:
            if filing.facts:
                tagged.setdefault(filing.filing.filing_id, filing)
            else:
                untagged.append(file.uri)
        if progress is not None:
            progress(number, len(files))
    return ReadFilings(tuple(tagged.values()), tuple(untagged), tuple(failures))
