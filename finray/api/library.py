"""Filings and their pages, from one version of an index."""

from __future__ import annotations

import base64
import binascii
from dataclasses import fields
from typing import Any

from finray.api.engines import OpenIndex
from finray.api.errors import ApiError, not_found
from finray.core.filing_filter import FilingFilter
from finray.core.replies import FilingCover, FilingDetail, FilingList, FilingPage, PagePlace
from finray.core.types import Filing

_COVER = tuple(field.name for field in fields(Filing) if field.name != "source_uri")
"""Where filings lie is nobody's business outside."""


def filings_record(index: OpenIndex, narrowed: FilingFilter, after: str, limit: int) -> FilingList:
    """One page of the list, by filing id. ``after`` is the ``next_cursor`` of the page before, or empty."""
    start = _read_cursor(after) if after else ""
    counts = index.reader.row_counts("pages")
    ids = [i for i in sorted(index.filings) if i > start and narrowed.passes(index.filings[i])]
    shown = ids[:limit]
    return FilingList(
        index_version=index.version,
        data=tuple(FilingCover(**_cover(index.filings[i], counts[i])) for i in shown),
        has_more=len(ids) > limit,
        next_cursor=_cursor(shown[-1]) if len(ids) > limit else None,
    )


def pages_of(index: OpenIndex, filing_id: str) -> tuple[PagePlace, ...]:
    """Number, Item, statement and place of each page. Raises ApiError 404."""
    find(index, filing_id)
    columns = [field.name for field in fields(PagePlace)]
    return tuple(PagePlace(**row) for row in index.reader.pages([filing_id], columns).to_pylist())


def filing_record(index: OpenIndex, filing_id: str, pages: tuple[PagePlace, ...]) -> FilingDetail:
    filing = find(index, filing_id)
    summary = index.reader.cover_summaries()[filing_id]
    return FilingDetail(index_version=index.version, summary=summary, pages=pages, **_cover(filing, len(pages)))


def filing_page(index: OpenIndex, filing_id: str, page: int) -> FilingPage:
    """Text, place and line items of one page. Raises ApiError 404."""
    filing = find(index, filing_id)
    rows = index.reader.pages([filing_id])
    numbers = rows["page"].to_pylist()
    if page not in numbers:
        raise not_found(f"filing {filing_id!r} has no page {page}; its pages are 0 to {len(numbers) - 1}", "page")
    row = rows.slice(numbers.index(page), 1).to_pylist()[0]
    items = index.reader.line_items([filing_id]).get(filing_id, ())
    return FilingPage(
        index_version=index.version,
        filing_id=filing_id,
        doc_name=filing.doc_name,
        company=filing.company,
        form=filing.form,
        page=page,
        n_pages=len(numbers),
        text=row["text"],
        item=row["item"],
        statement=row["statement"],
        place=row["place"],
        headings=tuple(row["headings"].splitlines()),
        facts=tuple(item for item in items if item.page == page),
        has_image=filing.source_uri.lower().endswith(".pdf"),
    )


def find(index: OpenIndex, filing_id: str) -> Filing:
    """Raises ApiError 404. Ids are only ever looked up here, never made into paths."""
    filing = index.filings.get(filing_id)
    if filing is None:
        raise not_found(f"there is no filing {filing_id[:64]!r} in the index", "filing_id")
    return filing


def _cover(filing: Filing, pages: int) -> dict[str, Any]:
    return {name: getattr(filing, name) for name in _COVER} | {"n_pages": pages}


def _cursor(filing_id: str) -> str:
    return base64.urlsafe_b64encode(filing_id.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ApiError(
            422, "invalid_cursor", "'cursor' is not one that this service gave out", param="cursor"
        ) from None
