"""Filings and their pages, from one version of an index."""

from __future__ import annotations

import base64
from dataclasses import fields, replace
from pathlib import PurePath
from typing import Any

from finray.api.errors import ApiError, invalid, not_found
from finray.api.open_index import OpenIndex
from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.replies import FilingCover, FilingDetail, FilingList, FilingPage, PagePlace

_COVER = tuple(field.name for field in fields(Filing) if field.name != "source_uri")
"""Not ``source_uri``: clients must not learn where filings are stored."""


def filings_record(index: OpenIndex, narrowed: FilingFilter, after: str, limit: int) -> FilingList:
    """One page of the list, by filing id. ``after`` is the ``next_cursor`` of the previous page, or empty."""
    shown, more = index.catalog.page(narrowed, _read_cursor(after) if after else "", limit)
    return FilingList(
        index_version=index.version,
        data=tuple(FilingCover(**_cover(index, filing)) for filing in shown),
        has_more=more,
        next_cursor=_cursor(shown[-1].filing_id) if more else None,
    )


def filing_record(index: OpenIndex, filing_id: str) -> FilingDetail:
    """Cover facts and summary, and each page's number, Item, statement and place. Raises ApiError 404."""
    filing = find(index, filing_id)
    rows = index.reader.pages([filing_id], [field.name for field in fields(PagePlace)]).to_pylist()
    return FilingDetail(
        index_version=index.version,
        summary=index.reader.cover_summary(filing_id),
        pages=tuple(PagePlace(**row) for row in rows),
        **_cover(index, filing),
    )


def filing_page(index: OpenIndex, filing_id: str, page: int) -> FilingPage:
    """Text, place and line items of one page. Raises ApiError 404."""
    filing = find(index, filing_id)
    row = index.reader.page(filing_id, page)
    if row is None:
        raise no_page(index, filing_id, page)
    return FilingPage(
        index_version=index.version,
        filing_id=filing_id,
        doc_name=filing.doc_name,
        company=filing.company,
        form=filing.form,
        page=page,
        n_pages=index.catalog.n_pages(filing_id),
        text=row["text"],
        item=row["item"],
        statement=row["statement"],
        place=row["place"],
        headings=tuple(row["headings"].splitlines()),
        facts=tuple(index.reader.line_items_of_page(filing_id, page)),
        has_image=filing.source_uri.lower().endswith(".pdf"),
    )


def named_filings(index: OpenIndex, filing_ids: frozenset[str]) -> dict[str, Filing]:
    """The filings with these ids that are in the index. Their ``source_uri`` keeps only the kind of file."""
    found = (index.filings[filing_id] for filing_id in filing_ids if filing_id in index.filings)
    return {
        filing.filing_id: replace(filing, source_uri=f"{filing.doc_name}{PurePath(filing.source_uri).suffix}")
        for filing in found
    }


def find(index: OpenIndex, filing_id: str) -> Filing:
    """The filing with this id, looked up in memory: ids never become paths. Raises ApiError 404."""
    filing = index.filings.get(filing_id)
    if filing is None:
        raise not_found(f"there is no filing {filing_id[:64]!r} in the index", "filing_id")
    return filing


def no_page(index: OpenIndex, filing_id: str, page: int) -> ApiError:
    last = index.catalog.n_pages(filing_id) - 1
    return not_found(f"filing {filing_id!r} has no page {page}; its pages are 0 to {last}", "page")


def _cover(index: OpenIndex, filing: Filing) -> dict[str, Any]:
    cover = {name: getattr(filing, name) for name in _COVER}
    return {**cover, "n_pages": index.catalog.n_pages(filing.filing_id)}


def _cursor(filing_id: str) -> str:
    return base64.urlsafe_b64encode(filing_id.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        raise invalid("invalid_cursor", "'cursor' is not a 'next_cursor' of this service", "cursor") from None
