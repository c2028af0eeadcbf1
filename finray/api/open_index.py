"""The newest version of an index, open for reading, under a service that goes on meanwhile."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from finray.api.catalog import Catalog
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.core.types import Filing
from finray.engines.source import Tables
from finray.index.layout import open_table
from finray.index.reader import IndexReader
from finray.index.schema import CHILDREN, FILINGS
from finray.storage.locations import STORAGE_ERRORS

_log = logging.getLogger(__name__)
_LOOK_ERRORS: tuple[type[Exception], ...] = (FinrayError, *STORAGE_ERRORS, ValueError, RuntimeError)
"""The last two are Lance's."""


@dataclass(frozen=True)
class OpenIndex:
    """One version of the index. A request holds on to one of these."""

    version: str
    tables: Tables
    reader: IndexReader
    filings: dict[str, Filing] = field(repr=False)
    catalog: Catalog = field(repr=False)

    @classmethod
    def open(cls, uri: str, settings: Settings) -> OpenIndex:
        """Raises IndexMissingError, IndexMismatchError."""
        reader = IndexReader.open(uri, settings)
        filings = {filing.filing_id: filing for filing in reader.filings()}
        catalog = Catalog(filings, reader.row_counts("pages"))
        return cls(version_name(reader.versions), reader.versions, reader, filings, catalog)


def version_name(tables: Tables) -> str:
    """Such as ``12.40.40.40``: the versions of filings, pages, chunks and facts."""
    return ".".join(str(tables[name]) for name in (FILINGS, *CHILDREN))


def latest_version(uri: str) -> str:
    """The version that opening ``uri`` now would show. Raises IndexMissingError."""
    return version_name({name: int(open_table(uri, name).version) for name in (FILINGS, *CHILDREN)})


class IndexWatcher:
    """Keeps the newest version of an index open.

    A new version is opened beside the old one, ``prepare`` is awaited with it, and then it takes the old one's place in
    one step; requests that began on the old one end on it, and ``retire`` is called when the last has. A version is
    taken once it has stood still for one look: an index job commits every few seconds.
    """

    def __init__(
        self,
        uri: str,
        settings: Settings,
        current: OpenIndex,
        prepare: Callable[[Tables], Awaitable[None]],
        retire: Callable[[Tables], None],
    ) -> None:
        self._uri, self._settings, self._prepare, self._retire = uri, settings, prepare, retire
        self._seen = ""
        self.current = current

    async def watch(self) -> None:
        """Runs until cancelled. What goes wrong is logged, and the version in hand is kept."""
        while True:
            await asyncio.sleep(self._settings.serving.watch_seconds)
            try:
                await self.look()
            except _LOOK_ERRORS:
                _log.exception("cannot look for a new version of the index at %r", self._uri)

    async def look(self) -> bool:
        """Look once; whether another version was taken."""
        latest = await asyncio.to_thread(latest_version, self._uri)
        still, self._seen = latest == self._seen, latest
        if latest == self.current.version or not still:
            return False
        new = await asyncio.to_thread(OpenIndex.open, self._uri, self._settings)
        await self._prepare(new.tables)
        weakref.finalize(self.current, self._retire, self.current.tables).atexit = False
        self.current = new
        _log.info("index version %s is in use, %d filings", new.version, len(new.filings))
        return True
