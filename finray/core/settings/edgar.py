"""Settings of the access to EDGAR."""

from __future__ import annotations

from pydantic import Field

from finray.core.method_settings import Section


class EdgarSettings(Section):
    """Access of ``finray sync`` to EDGAR. edgartools' EDGAR_BASE_URL and EDGAR_DATA_URL select another server."""

    contact: str = ""
    """Company and e-mail address, sent as User-Agent; SEC refuses requests without it, so there is no default."""
    requests_per_second: float = Field(8.0, gt=0)
    """For the whole cluster together; SEC's limit is 10."""
    connections: int = Field(4, ge=1, le=64)
    """Simultaneous downloads, which share the rate limit."""
    timeout_s: float = Field(60.0, gt=0)
    """Time limit of one request."""
    attempts: int = Field(6, ge=1)
    """Attempts at one request in one run."""
    retry_wait_s: float = Field(1.0, ge=0)
    """Wait before the second attempt; doubled for each further one, up to 60 s, with jitter."""
    blocked_pause_s: float = Field(610.0, gt=0)
    """Pause of all requests after EDGAR reports an exceeded rate: SEC's own period, and a little."""
    give_up_after: int = Field(10, ge=1)
    """Failed runs after which a missing filing no longer keeps its day incomplete."""
    recheck_days: float = Field(7.0, ge=0)
    """Interval between comparisons with the quarterly index, which SEC rebuilds weekly without deleted filings."""
    max_bytes: int = Field(512 * 1024 * 1024, ge=1)
    """A larger submission is skipped."""
    max_index_bytes: int = Field(256 * 1024 * 1024, ge=1)
    """Largest decompressed size of an index or a list of companies; EDGAR's are under 60 MB."""
    scratch: str = ""
    """Folder for partial downloads; empty for one beside a local raw store, or in the system's temporary folder."""
