"""The raw store: filings as EDGAR sent them, each beside its record.

    RAW/filings/<year>/<filer>/<accession>.txt     the full submission
    RAW/filings/<year>/<filer>/<accession>.json    accession number, CIKs, form, dates, URL, SHA-256 ...
    RAW/deleted/<year>/<filer>/<accession>.*       filings that EDGAR has deleted since
    RAW/ledger/*.lance                             what was listed and what became of it

Year and filer are those of the accession number (0000320193-24-000123: 2024, 0000320193), which never changes, while
forms, dates and names may be corrected. Each object is written in one step, the ``.json`` last, so a filing with a
``.json`` is complete.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from finray.core.errors import SourceError
from finray.storage.locations import delete, exists, is_s3, join, normalize, read_bytes, write_bytes

_FIRST_YEAR = 93
"""Accession numbers have two digits of the year; EDGAR starts in 1993."""


@dataclass(frozen=True, slots=True)
class RawFiling:
    """The content of a ``.json``. ``source`` is the URL, archive or file that the filing came from, ``previous`` the
    SHA-256 of the versions before corrections."""

    accession: str
    ciks: tuple[str, ...]
    form: str
    company: str
    filed_at: dt.date | None
    period: dt.date | None
    url: str
    source: str
    sha256: str
    size: int
    fetched_at: str
    previous: tuple[str, ...] = ()
    deleted: str = ""
    """Why EDGAR no longer has it; empty if it does."""


_RECORD = TypeAdapter(RawFiling)


class RawStore:
    def __init__(self, uri: str) -> None:
        self.uri = normalize(uri)

    @property
    def filings_uri(self) -> str:
        return join(self.uri, "filings")

    @property
    def ledger_uri(self) -> str:
        return join(self.uri, "ledger")

    @property
    def unfinished(self) -> Path | None:
        """The folder of files being written, where a killed run leaves them; None on S3."""
        return None if is_s3(self.uri) else Path(self.uri) / ".partial"

    def filing_uri(self, accession: str) -> str:
        return self._path("filings", accession) + ".txt"

    def put(self, filing: RawFiling, content: bytes) -> None:
        """Store a filing. It replaces the one with its accession number, which goes into ``previous``."""
        before = self.get(filing.accession)
        if before is not None and before.sha256 != filing.sha256:
            kept = (*before.previous, before.sha256)
            filing = dataclasses.replace(filing, previous=tuple(sha for sha in kept if sha != filing.sha256))
            # Between the two writes below, the old record must not stand beside the new content.
            delete(self._path("filings", filing.accession) + ".json")
        self._write_bytes(self.filing_uri(filing.accession), content)
        self._write(self._path("filings", filing.accession), filing)

    def get(self, accession: str) -> RawFiling | None:
        """The record of a complete filing in the store, or None. Raises SourceError if it cannot be parsed."""
        where = self._path("filings", accession) + ".json"
        if not exists(where):
            return None
        try:
            return _RECORD.validate_json(read_bytes(where))
        except ValueError as error:
            raise SourceError(
                f"{where!r} does not describe a filing: {error}; delete it to fetch the filing again"
            ) from error

    def retire(self, accession: str, reason: str) -> None:
        """Set a filing aside that EDGAR has deleted, with the reason. Safe to repeat after a kill."""
        filing, kept = self.get(accession), self._path("deleted", accession)
        if filing is not None:
            self._write_bytes(kept + ".txt", read_bytes(self.filing_uri(accession)))
            self._write(kept, dataclasses.replace(filing, deleted=reason))
        self.forget(accession)

    def forget(self, accession: str) -> None:
        """Delete a filing and its record."""
        for extension in (".json", ".txt"):
            delete(self._path("filings", accession) + extension)

    def _path(self, part: str, accession: str) -> str:
        filer, year, _ = accession.split("-")
        century = 1900 if int(year) >= _FIRST_YEAR else 2000
        return join(self.uri, part, str(century + int(year)), filer, accession)

    def _write(self, where: str, filing: RawFiling) -> None:
        values = dataclasses.asdict(filing)
        self._write_bytes(where + ".json", (json.dumps(values, default=str, indent=1) + "\n").encode())

    def _write_bytes(self, uri: str, content: bytes) -> None:
        write_bytes(uri, content, scratch=self.unfinished)
