"""Fetches pending filings into the raw store, several at a time under one limiter."""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Literal

from finray.core.errors import EdgarMissingError, EdgarUnavailableError, FilingError, SourceError
from finray.edgar.download import download, scratch_failed
from finray.edgar.http import EdgarHttp
from finray.edgar.ledger import Entry
from finray.edgar.run import Run
from finray.edgar.store import RawFiling
from finray.edgar.submissions import check_submission, named, read_header

_DISK_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


@dataclass(frozen=True, slots=True)
class Fetched:
    """The outcome of one entry. "adopted": a run that was killed had stored it. ``size`` counts the bytes fetched."""

    entry: Entry
    how: Literal["fetched", "adopted", "skipped", "failed"]
    size: int = 0


def fetch_all(run: Run, http: EdgarHttp, entries: Sequence[Entry]) -> Iterator[Fetched]:
    """Fetch and store each entry once; yields them in the order of completion.

    Raises SourceError if the disk is full or read-only, EdgarBlockedError if EDGAR keeps refusing everything.
    """
    left = iter(entries)
    running: set[Future[Fetched]] = set()
    with ThreadPoolExecutor(run.settings.connections, thread_name_prefix="edgar") as pool:
        try:
            while True:
                while len(running) < 2 * run.settings.connections and (entry := next(left, None)):
                    running.add(pool.submit(_fetch, run, http, entry))
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        except BaseException:
            http.stop()  # other threads may be waiting minutes for the end of a pause
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _fetch(run: Run, http: EdgarHttp, entry: Entry) -> Fetched:
    url = entry.listed.url
    try:
        kept = run.store.get(entry.listed.accession)
        if kept is not None and kept.sha256 != entry.sha256:
            return Fetched(done(entry, kept), "adopted")
        content = download(http, url, run.scratch(), run.settings.max_bytes, check_submission)
        filing = raw_filing(entry, content, source=url)
        run.store.put(filing, content)
    except FilingError as error:
        return Fetched(replace(entry, state="skipped", reason=f"{error.reason}: {error.detail}"), "skipped")
    except (EdgarMissingError, EdgarUnavailableError) as error:
        return Fetched(replace(entry, state="failed", reason=str(error), tries=entry.tries + 1), "failed")
    except SourceError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _DISK_ERRNOS:
            raise
        # A failing store is not the filing's fault: no try is counted.
        return Fetched(replace(entry, state="failed", reason=str(error)), "failed")
    except OSError as error:
        raise scratch_failed(run.scratch(), error) from error
    return Fetched(done(entry, filing), "fetched", len(content))


def done(entry: Entry, filing: RawFiling) -> Entry:
    """The entry once ``filing`` is stored."""
    return replace(entry, state="done", reason="", tries=0, sha256=filing.sha256, size=filing.size)


def raw_filing(entry: Entry, content: bytes, source: str) -> RawFiling:
    """The record of a filing for the raw store. Facts of its header take precedence over those of the index.

    Raises EdgarUnavailableError if the content has another accession number than the entry.
    """
    listed, header = entry.listed, named(read_header(content), entry.listed.accession)
    if header.accession != listed.accession:
        raise EdgarUnavailableError(f"{source}: contains the filing {header.accession} instead of {listed.accession}")
    return RawFiling(
        accession=listed.accession,
        ciks=tuple(sorted({*listed.ciks, *header.ciks})),
        form=header.form or listed.form,
        company=header.company or listed.company,
        filed_at=header.filed_at or listed.filed_at,
        period=header.period,
        url=listed.url,
        source=source,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        fetched_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )
