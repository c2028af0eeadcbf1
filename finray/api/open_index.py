"""Opens an index for a running service and replaces it when a new version appears."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from finray.api.catalog import Catalog
from finray.core.errors import FinrayError
from finray.core.filing import Filing
from finray.core.settings import Settings
from finray.engines.source import Tables
from finray.index.layout import open_table
from finray.index.reading.reader import IndexReader
from finray.index.schema import CHILDREN, FILINGS
from finray.question.companies.catalog import CompanyCatalog
from finray.storage.locations import STORAGE_ERRORS

_log = logging.getLogger(__name__)
_LOOK_ERRORS: tuple[type[Exception], ...] = (FinrayError, *STORAGE_ERRORS, ValueError, RuntimeError)
"""Lance raises the last two."""


@dataclass(frozen=True)
class OpenIndex:
    """One version of the index. A request uses the same one from start to end."""

    version: str
    tables: Tables
    reader: IndexReader
    filings: Mapping[str, Filing] = field(repr=False)
    catalog: Catalog = field(repr=False)

    @classmethod
    def open(cls, uri: str, settings: Settings) -> OpenIndex:
        """Raises IndexMissingError, IndexMismatchError."""
        reader = IndexReader.open(uri, settings)
        filings = reader.filings().by_id
        catalog = Catalog(filings, reader.row_counts("pages"))
        return cls(version_name(reader.versions), reader.versions, reader, filings, catalog)

    @cached_property
    def companies(self) -> CompanyCatalog:
        """Built on first use, which takes seconds for 100,000 filings."""
        return CompanyCatalog(self.reader.filings())


def version_name(tables: Tables) -> str:
    """The versions of filings, pages, chunks and facts, such as ``12.40.40.40``."""
    return ".".join(str(tables[name]) for name in (FILINGS, *CHILDREN))


def latest_version(uri: str) -> str:
    """The newest version of the index at ``uri``. Raises IndexMissingError."""
    return version_name({name: int(open_table(uri, name).version) for name in (FILINGS, *CHILDREN)})


class IndexWatcher:
    """Keeps the newest version of an index open.

    It opens a new version beside the old one, awaits ``prepare``, and then swaps them in one step. Requests that began
    on the old version finish on it; ``retire`` is called after the last one. A version is used only if it is unchanged
    since the previous look, because an index job commits every few seconds.
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
        """Look for new versions until cancelled. On an error, log it and keep the current version."""
        while True:
            await asyncio.sleep(self._settings.serving.watch_seconds)
            try:
                await self.look()
            except _LOOK_ERRORS:
                _log.exception("cannot look for a new version of the index at %r", self._uri)

    async def look(self) -> bool:
        """Look once. Returns whether it has switched to a new version."""
        latest = await asyncio.to_thread(latest_version, self._uri)
        unchanged, self._seen = latest == self._seen, latest
        if latest == self.current.version or not unchanged:
            return False
        new = await asyncio.to_thread(OpenIndex.open, self._uri, self._settings)
        await self._prepare(new.tables)
        weakref.finalize(self.current, self._retire, self.current.tables).atexit = False
        self.current = new
        _log.info("index version %s is in use, %d filings", new.version, len(new.filings))
        return True
